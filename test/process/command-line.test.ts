/** What a user sees who starts the server with good and with bad arguments. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { runVarve, TestServer, temporaryFolder } from "../support/server-process.ts";
import { send } from "../support/http-client.ts";

let folder = "";
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function writeConfig(text: string): Promise<string> {
  const path = join(folder, `${Bun.hash(text).toString(36)}.toml`);
  await Bun.write(path, text);
  return path;
}

describe("commands that print and end", () => {
  async function check(args: readonly string[], want: RegExp, stdin?: string): Promise<void> {
    const { status, stdout, stderr } = await runVarve(args, {}, stdin);
    expect(stdout).toMatch(want);
    expect({ status, stderr, isOneEnd: /[^\n]\n$/.test(stdout) }).toEqual({ status: 0, stderr: "", isOneEnd: true });
  }

  test("help names the flags with their defaults", async () => {
    await check(["--help"], /--http-addr <ip:port> .*127\.0\.0\.1:4000[^]*--data-home <dir> [^]*--user-provider/);
  });

  test("the version, short and long", async () => {
    await check(["-V"], /^varve \d+\.\d+\.\d+\n$/);
    await check(["--version"], /^varve\nbranch: .*\ncommit: .*\nversion: \d+\.\d+\.\d+\n$/);
  });

  test("hashes a password from standard input", async () => {
    const vector = "pbkdf2_sha256:4096:73616c74:c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a\n";
    const flags = ["--password-stdin", "--iterations", "4096", "--salt-hex", "73616c74"];
    await check(["user", "hash-password", ...flags], new RegExp(`^${vector}$`), "password\r\nsecond line\n");
  });
});

describe("a server that cannot start says why in one line", () => {
  async function check(args: readonly string[], status: number, want: string | RegExp): Promise<void> {
    const ending = await runVarve(args);
    expect(ending.stderr).toMatch(want);
    expect(ending.stderr).toMatch(/^varve: [^\n]+\n$/);
    expect({ status: ending.status, stdout: ending.stdout }).toEqual({ status, stdout: "" });
  }

  test("unknown flags and commands, with the nearest name", async () => {
    await check(["--http-adr", "127.0.0.1:0"], 2, "unknown flag --http-adr: did you mean --http-addr?");
    await check(["--completely-different"], 2, "see --help");
    await check(["standalon", "start"], 2, 'unexpected argument "standalon": did you mean standalone?');
    await check(["frontend", "start"], 1, "cannot start a frontend without `cluster.servers`");
    await check(["metasrv", "start"], 2, "NATS");
  });

  test("values that are missing, of the wrong type or no address", async () => {
    await check(["--data-home"], 2, "--data-home needs a value");
    await check(["--http-addr", "localhost:4000"], 1, "no host names");
    await check(["--http-addr", "127.0.0.1:99999"], 1, "Failed to parse address 127.0.0.1:99999");
    await check(
      ["-c", await writeConfig("[http]\ntimeout = 5\n")],
      1,
      /`http\.timeout` = 5 from .*\.toml: it is a number; want a duration/,
    );
    await check(["-c", await writeConfig('[wal]\nsync = "sometimes"\n')], 1, '`wal.sync` = "sometimes"');
  });

  test("configuration files that are missing or no TOML", async () => {
    await check(["-c", join(folder, "none.toml")], 1, /cannot read config file .*none\.toml: no such file/);
    await check(["-c", folder], 1, "it is a folder");
    await check(["-c", await writeConfig('enable_telemetry = false\n[http\naddr = "127.0.0.1:0"\n')], 1, "line 2, column 6");
  });

  test("an address that is taken, or that this machine does not have", async () => {
    using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    const dataHome = join(folder, "no-port");
    await check(["--data-home", dataHome, "--http-addr", `127.0.0.1:${other.port}`], 1, `127.0.0.1:${other.port}: address in use`);
    await check(["--data-home", dataHome, "--http-addr", "192.0.2.1:4000"], 1, "no interface of this machine has that address");
  });

  test("a data directory that cannot be made", async () => {
    const file = join(folder, "file");
    await Bun.write(file, "");
    await check(["--http-addr", "127.0.0.1:0", "--data-home", join(file, "data")], 1, `cannot make data directory ${file}/data`);
  });

  test("a user provider that is wrong, without its passwords", async () => {
    const home = ["--http-addr", "127.0.0.1:0", "--data-home", join(folder, "accounts")];
    await check([...home, "--user-provider", `static_user_provider:file:${folder}/none`], 1, "UserProvider file must exist");
    const { status, stderr } = await runVarve([...home, "--user-provider", "static_user_provider:cmd:alice=hunter2,bob"]);
    expect({ status, isShown: stderr.includes("hunter2") }).toEqual({ status: 1, isShown: false });
  });
});

describe("settings", () => {
  standalone("settings of its log and files").test(
    "a flag wins over the file, the file over the environment, each named in /config",
    async () => {
      const server = await TestServer.start({
        config: '[logging]\nlevel = "info,wal=warn"\n[http]\ntimeout = "8s"\n[storage]\ndata_home = "/nonexistent/data"\n',
        env: {
          GREPTIMEDB_STANDALONE__HTTP__TIMEOUT: "7s",
          GREPTIMEDB_STANDALONE__WAL__SEGMENT_SIZE: "1MiB",
          VARVE__STORAGE__MEMTABLE_SIZE: "3MiB",
          GREPTIMEDB_STANDALONE__STORAGE__MEMTABLE_SIZE: "2MiB",
        },
        flags: ["--log-level", "info,wal=debug"],
      });
      try {
        const { status, text } = await send(`${server.url}/config`);
        expect(status).toBe(200);
        const config = Bun.TOML.parse(text) as Record<string, Record<string, unknown>>;
        expect(config["logging"]?.["level"]).toBe("wal=debug,info");
        expect(config["http"]?.["timeout"]).toBe("8s");
        expect(config["storage"]).toMatchObject({ data_home: server.dataHome, memtable_size: "3MiB" });
        expect(config["wal"]).toMatchObject({ dir: `${server.dataHome}/wal`, segment_size: "1MiB" });
      } finally {
        await server.end();
      }
    },
  );

  test("an unknown key is warned about with the nearest one, and the server starts", async () => {
    const server = await TestServer.start({
      config: '[storage]\ndata_hom = "x"\n[htttp]\naddr = "127.0.0.1:1"\n',
      flags: ["--log-dir", "logs"],
    });
    try {
      expect(server.log()).toContain("unknown key `storage.data_hom` in");
      expect(server.log()).toContain("did you mean `storage.data_home`?");
      expect(server.log()).toContain("did you mean `http`?");
      expect(server.log()).toContain("--log-dir has no effect");
    } finally {
      await server.end();
    }
  });
});
