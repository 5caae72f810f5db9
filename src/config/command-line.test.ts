import { describe, expect, test } from "bun:test";
import { readCommandLine } from "./command-line.ts";
import { ConfigError, EXIT_USAGE } from "./config-error.ts";
import type { HashPasswordRequest } from "./hash-password-command.ts";
import { versionText } from "./help.ts";
import { START_FLAGS } from "./start-flags.ts";

/** Checks the keys that flags set. */
function check(line: string, want: Readonly<Record<string, string>>): void {
  const command = readCommandLine(line === "" ? [] : line.split(" "));
  if (command.kind !== "start") throw new Error(`not a start: ${command.kind}`);
  expect(Object.fromEntries([...command.values].map(([key, raw]) => [key, raw.value]))).toEqual(want);
}

function checkHash(line: string, want: Partial<HashPasswordRequest>): void {
  expect(readCommandLine(`user hash-password ${line}`.split(" "))).toMatchObject({ kind: "hash-password", request: want });
}

function checkRefused(argv: readonly string[], message: string): void {
  try {
    readCommandLine(argv);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ConfigError);
    expect(thrown).toMatchObject({ message: expect.stringContaining(message), exitCode: EXIT_USAGE });
    expect(String(thrown)).not.toContain("secret");
    return;
  }
  throw new Error(`accepted ${argv.join(" ")}`);
}

describe("start", () => {
  test("needs no words", () => {
    check("", {});
    check("standalone start", {});
    check("--log-level debug standalone start --log-dir /tmp", { "logging.level": "debug" });
  });

  test("takes values behind a blank, a = or a short flag", () => {
    check("--http-addr 127.0.0.1:1", { "http.addr": "127.0.0.1:1" });
    check("standalone start --http-addr=127.0.0.1:1 --data-home=/a=b", { "http.addr": "127.0.0.1:1", "storage.data_home": "/a=b" });
    check("-i", { "influxdb.enable": "true" });
    check("--influxdb-enable", { "influxdb.enable": "true" });
    for (const line of ["-c x.toml", "-cx.toml", "-c=x.toml", "--config-file x.toml", "--config-file=x.toml"]) {
      expect(readCommandLine(line.split(" "))).toMatchObject({ kind: "start", configFile: "x.toml" });
    }
    expect(readCommandLine(["--user-provider=static_user_provider:cmd:a=b"])).toMatchObject({ kind: "start" });
  });

  test("refuses unknown flags and names the nearest", () => {
    checkRefused(["--htp-addr", "x"], "unknown flag --htp-addr: did you mean --http-addr?");
    checkRefused(["--user-provder=static_user_provider:cmd:a=secret"], "unknown flag --user-provder: did you mean --user-provider?");
    checkRefused(["--nothing-alike-at-all"], "unknown flag --nothing-alike-at-all: see --help for all flags");
    checkRefused(["-x"], "unknown flag -x");
  });

  test("refuses missing, unwanted and repeated values", () => {
    checkRefused(["--http-addr"], "--http-addr needs a value: --http-addr <ip:port>");
    checkRefused(["--http-addr", "--data-home", "x"], "--http-addr needs a value");
    checkRefused(["-c"], "-c needs a value: -c <file>");
    checkRefused(["--influxdb-enable=false"], "--influxdb-enable takes no value");
    checkRefused(["--http-addr=a", "--http-addr=b"], "--http-addr is given more than once");
    checkRefused(["--rpc-addr=a", "--grpc-bind-addr=b"], "--grpc-bind-addr is given more than once");
    checkRefused(["--env-prefix", "a-b"], "cannot use --env-prefix");
  });

  test("refuses stray words, and does not quote them behind a password", () => {
    checkRefused(["standlone", "start"], 'unexpected argument "standlone": did you mean standalone?');
    checkRefused(["standalone"], "`standalone` has one command");
    checkRefused(["standalone", "stop"], "`standalone` has one command");
    checkRefused(["standalone", "start", "now"], 'unexpected argument "now" after `standalone start`');
    checkRefused(["frontend"], "`frontend` has one command: varve frontend start");
    checkRefused(["datanode", "start", "now"], 'unexpected argument "now" after `datanode start`');
    checkRefused(["--log-level", "info", "frontend", "start"], "its name comes first, `varve frontend …`");
    checkRefused(["metasrv", "start", "--store-addrs", "x"], "there is no metasrv: the machines of a cluster agree by NATS");
    checkRefused(["flownode", "start"], "`flownode` is not available in this version");
    checkRefused(["--user-provider", "static_user_provider:cmd:a=my", "secret"], "unexpected argument: see --help");
    checkRefused(["standalone", "start", "--user-provider", "x", "secret"], "unexpected argument after");
    checkRefused(["--", "--http-addr"], 'unexpected argument "--http-addr"');
  });
});

describe("tools", () => {
  const tools = [
    { name: "sql", summary: "asks" },
    { name: "import", summary: "reads files" },
  ];

  test("are in the help, and near words are told", () => {
    const command = readCommandLine(["--help"], tools);
    const text = command.kind === "help" ? command.text : "";
    expect(text).toContain("  varve sql     asks\n  varve import  reads files\n");
    expect(() => readCommandLine(["sq"], tools)).toThrow('unexpected argument "sq": did you mean sql?');
  });
});

describe("help and version", () => {
  test("the help shows every flag that works, with its default", () => {
    for (const line of ["--help", "-h", "standalone start --help"])
      expect(readCommandLine(line.split(" "))).toMatchObject({ kind: "help" });
    const command = readCommandLine(["-h"]);
    const text = command.kind === "help" ? command.text : "";
    for (const flag of START_FLAGS) expect(text.includes(`--${flag.name}`)).toBe(flag.hidden !== true);
    expect(text).toContain("(default: 127.0.0.1:4000)");
    expect(text.indexOf("Examples:")).toBeLessThan(text.indexOf("Flags:"));
  });

  test("-V is short, --version is long", () => {
    const build = { version: "1.2.3", commit: "abc", branch: "" };
    expect(readCommandLine(["-V"])).toEqual({ kind: "version", isLong: false });
    expect(readCommandLine(["--version"])).toEqual({ kind: "version", isLong: true });
    expect(versionText(build, false)).toBe("varve 1.2.3\n");
    expect(versionText(build, true)).toBe("varve\nbranch: unknown\ncommit: abc\nversion: 1.2.3\n");
  });
});

describe("user hash-password", () => {
  test("has defaults", () => {
    checkHash("--password x", { password: "x", format: "pbkdf2_sha256", iterations: 4096, salt: { byteLength: 16 } });
    checkHash("--password-stdin", { password: undefined });
    checkHash("--password=-x --format pg_scram_sha256 --iterations 1000000 --salt-hex 73616C74", {
      password: "-x",
      format: "pg_scram_sha256",
      iterations: 1_000_000,
      salt: { hex: "73616c74" },
    });
    checkHash("--password x --salt-len 1024", { salt: { byteLength: 1024 } });
    checkHash("--password x --format mysql_native_password", { format: "mysql_native_password" });
    for (const argv of [
      ["user", "--help"],
      ["user", "hash-password", "-h"],
    ])
      expect(readCommandLine(argv)).toMatchObject({ kind: "help" });
  });

  test("refuses what is missing, contradictory or out of range", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["", "give either --password or --password-stdin"],
      ["--password secret --password-stdin", "give either --password or --password-stdin"],
      ["--password=", "password must not be empty"],
      ["--password my secret", "takes no other arguments"],
      ["--password secret --iterations 0", "cannot use --iterations: it is out of range"],
      ["--password secret --iterations 1000001", "cannot use --iterations: it is out of range"],
      ["--password secret --salt-len 0", "cannot use --salt-len"],
      ["--password secret --salt-hex xy", "cannot use --salt-hex: it is not hex"],
      ["--password secret --salt-hex abc", "cannot use --salt-hex: it is not hex"],
      ["--password secret --salt-hex ab --salt-len 1", "give either --salt-len or --salt-hex"],
      ["--password secret --format md5", "cannot use --format: it is none of these"],
      ["--password secret --format mysql_native_password --iterations 5", "--iterations has no meaning"],
    ];
    for (const [line, message] of cases) checkRefused(["user", "hash-password", ...(line === "" ? [] : line.split(" "))], message);
    checkRefused(["user"], "`varve user` has one command");
    checkRefused(["user", "add", "secret"], "`varve user` has one command");
  });
});
