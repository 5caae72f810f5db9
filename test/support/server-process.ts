/**
 * The server as a process of its own, as its users run it: started from the source tree on a free port, with a folder of its own under
 * the system's temporary one. Nothing is left behind: `end` kills the process and removes the folder, and a guard process kills the
 * server when the one that runs the tests dies first.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { diskFolder } from "./disk-folder.ts";
import { IN_CLUSTER } from "./cluster/standalone.ts";
import { type Launch, TestCluster } from "./cluster/test-cluster.ts";
import { guard } from "./guard.ts";
import { TEST_SHARDS } from "./shard-count.ts";

const ROOT = resolve(import.meta.dir, "../..");
/** Longest wait for a line of the log or for the end of a process. A server that takes longer hangs. */
const WAIT_MS_MAX = 30_000;
/** Characters of the log that a failure shows. */
const TAIL_CHARACTERS = 2000;
/** Settings of whoever runs the tests must not reach the server. */
const SETTING_PREFIX = /^(?:VARVE|GREPTIMEDB_STANDALONE)__/;

/** Servers of other tests run beside this one: each takes free ports and rehearses nothing where no test says otherwise. */
export const BESIDE_OTHERS: Readonly<Record<string, string>> = {
  VARVE__GRPC__BIND_ADDR: "127.0.0.1:0",
  VARVE__MYSQL__ADDR: "127.0.0.1:0",
  VARVE__POSTGRES__ADDR: "127.0.0.1:0",
  VARVE__QUERY__REHEARSAL: "false",
};

/** How a process ended. */
export interface Ending {
  /** Null when a signal ended it. */
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A line of the server's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** A process that was started and may have ended since. */
export interface VarveProcess {
  readonly pid: number;
  /** All of stderr so far. */
  stderr(): string;
  /** The first log line with this message, waited for. @throws Error when the process ends without it, or takes too long */
  logged(message: string): Promise<LogLine>;
  signal(name: "SIGINT" | "SIGTERM" | "SIGKILL" | "SIGHUP" | "SIGSTOP" | "SIGCONT"): void;
  /** Waits for the end. @throws Error when it takes too long; the process is killed then */
  ended(): Promise<Ending>;
}

/** The server as its source tree has it. */
const SOURCE_PROGRAM: readonly string[] = [
  process.execPath,
  "run",
  join(ROOT, Number(process.env["VARVE_REMOTE"] ?? "0") > 0 ? "test/support/cluster/remote-program.ts" : "src/main.ts"),
];

/** Of a server of several shards, where `TEST_SHARDS` says so; for who starts one in another way. */
export const SHARDS: Readonly<Record<string, string>> = TEST_SHARDS === 1 ? {} : { VARVE__STORAGE__SHARDS: String(TEST_SHARDS) };

/**
 * Runs the server with these arguments; `wrapper` is a command that starts the command that follows it, e.g. `nsenter`, `program` what is
 * run instead of the source tree.
 */
export function launchVarve(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin = "",
  wrapper: readonly string[] = [],
  program: readonly string[] = SOURCE_PROGRAM,
): VarveProcess {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTING_PREFIX.test(name)));
  const child = Bun.spawn([...wrapper, ...program, ...args], {
    cwd: tmpdir(), // a default such as ./varve_data must not land in the repository
    env: { ...inherited, ...BESIDE_OTHERS, ...SHARDS, ...env },
    stdin: new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const guarded = guard(child);
  const lines = new LogLines();
  const stdout = child.stdout.text();
  const reading = lines.read(child.stderr);
  const ended = (async (): Promise<Ending> => {
    await guarded;
    await reading;
    return {
      status: child.exitCode,
      signal: child.signalCode === null ? null : String(child.signalCode),
      stdout: await stdout,
      stderr: lines.text,
    };
  })();
  return {
    pid: child.pid,
    stderr: () => lines.text,
    logged: (message) => within(lines.find(message), `the log line "${message}"`, lines),
    signal: (name) => child.kill(name),
    ended: async () => {
      try {
        return await within(ended, "the end of the process", lines);
      } catch (error) {
        child.kill("SIGKILL");
        throw error;
      }
    },
  };
}

/** Runs a command that ends by itself. */
export async function runVarve(args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = ""): Promise<Ending> {
  return await launchVarve(args, env, stdin).ended();
}

/** Makes a folder on the disk, under a temporary one. Whoever asks removes it. */
export async function temporaryFolder(): Promise<string> {
  return await mkdtemp(join(diskFolder(), "varve-test-"));
}

/** What a test server is started with. */
export interface ServerOptions {
  /** Besides the address, the data directory and the configuration file. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Text of the configuration file. */
  readonly config?: string;
  /** A command that starts the command that follows it; data nodes of a cluster start without it, as no client meets them. */
  readonly wrapper?: readonly string[];
  /** What is run instead of the source tree. */
  readonly program?: readonly string[];
}

/**
 * A data directory and the server that runs on it, which can be stopped, killed and started again.
 *
 * Where `IN_CLUSTER` says so it is a cluster of its own: requests go to its two frontends in turn, signals to the first. All its processes
 * have the same configuration file, and end and start again together; only what agrees for them, NATS, goes on.
 */
export class TestServer {
  /** Holds `data/` and `varve.toml`; tests may put files there. */
  readonly folder: string;
  private process: VarveProcess | undefined;
  private address = "";
  private grpc = "";
  private mysql = "";
  private postgres = "";
  private options: ServerOptions;
  private earlierLogs = "";
  private cluster: TestCluster | undefined;
  private otherFrontend: VarveProcess | undefined;
  private otherAddress = "";
  private turns = 0;

  private constructor(folder: string, options: ServerOptions) {
    this.folder = folder;
    this.options = options;
  }

  /** Starts a server on a fresh folder, or on `folder`, and waits until it is ready. @throws Error with its log when it does not start */
  static async start(options: ServerOptions = {}, folder?: string): Promise<TestServer> {
    const server = new TestServer(folder ?? (await temporaryFolder()), options);
    try {
      await server.launch();
    } catch (error) {
      await server.end();
      throw error;
    }
    return server;
  }

  /** `http://127.0.0.1:port`; another one after each restart. Of a cluster the frontends take turns. */
  get url(): string {
    if (this.otherAddress === "") return this.address;
    return this.turns++ % 2 === 0 ? this.address : this.otherAddress;
  }

  /** The address of `running`, for what a process tells of itself: figures, its log, how it ends. */
  get processUrl(): string {
    return this.address;
  }

  /** `host:port` of the gRPC server of `running`; empty when it is switched off. */
  get grpcAddress(): string {
    return this.grpc;
  }

  /** Where the MySQL server of `running` listens, `host:port`; another one after each restart. */
  get mysqlAddress(): string {
    return this.mysql;
  }

  /** Where the PostgreSQL server of `running` listens, `host:port`; another one after each restart. */
  get postgresAddress(): string {
    return this.postgres;
  }

  /** The port of the OpenTSDB server of `running`, whose address its configuration has to say. */
  async telnetPort(): Promise<number> {
    const { address } = await this.running.logged("OpenTSDB listens: lines carry no credentials");
    return Number(String(address).split(":")[1]);
  }

  get dataHome(): string {
    return join(this.folder, "data");
  }

  /** Where its data files are, in folders of it. */
  get dataFiles(): string {
    return this.cluster?.store ?? join(this.dataHome, "data");
  }

  /** The process that runs now; of a cluster the first frontend. */
  get running(): VarveProcess {
    if (this.process === undefined) throw new Error("the server was ended");
    return this.process;
  }

  /** Everything that the servers on this folder logged; of a cluster what both frontends did. */
  log(): string {
    return this.earlierLogs + (this.process?.stderr() ?? "") + (this.otherFrontend?.stderr() ?? "");
  }

  /** Asks the server to end and waits for it. */
  async stop(name: "SIGINT" | "SIGTERM" = "SIGTERM"): Promise<Ending> {
    this.otherFrontend?.signal(name);
    this.running.signal(name);
    const [ending] = await Promise.all([this.running.ended(), this.otherFrontend?.ended()]);
    await this.cluster?.endNodes("SIGTERM");
    return ending;
  }

  /** Ends the server without warning. */
  async kill(): Promise<void> {
    const killed = this.cluster?.endNodes("SIGKILL");
    this.otherFrontend?.signal("SIGKILL");
    this.running.signal("SIGKILL");
    await Promise.all([this.running.ended(), this.otherFrontend?.ended(), killed]);
  }

  /** Starts a server on the same folder; the last one has to have ended. */
  async restart(options: ServerOptions = this.options): Promise<void> {
    this.options = options;
    this.earlierLogs = this.log();
    await this.launch();
  }

  /** Kills what runs and removes the folder. */
  async end(): Promise<void> {
    this.process?.signal("SIGKILL"); // no effect on one that ended
    await this.process?.ended();
    this.process = undefined;
    await this.endOther();
    await this.cluster?.end();
    this.cluster = undefined;
    await rm(this.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** The flags of a server on this folder. */
  async flags(): Promise<readonly string[]> {
    await writeFile(this.configPath, this.options.config ?? "");
    return this.flagsOn(this.dataHome);
  }

  private get configPath(): string {
    return join(this.folder, "varve.toml");
  }

  private flagsOn(dataHome: string): readonly string[] {
    return ["--http-addr", "127.0.0.1:0", "--data-home", dataHome, "--config-file", this.configPath, ...(this.options.flags ?? [])];
  }

  private async launch(): Promise<void> {
    const { env, wrapper, program } = this.options;
    const flags = await this.flags();
    if (IN_CLUSTER) await this.launchBeside();
    const role = this.cluster === undefined ? [] : ["frontend", "start"];
    this.process = launchVarve([...role, ...flags], { ...this.cluster?.env, ...env }, "", wrapper, program);
    const { address, grpc, mysql, postgres } = await this.process.logged("ready");
    this.address = String(address);
    if (this.otherFrontend !== undefined) this.otherAddress = String((await this.otherFrontend.logged("ready"))["address"]);
    this.grpc = typeof grpc === "string" ? grpc : "";
    this.mysql = typeof mysql === "string" ? mysql : "";
    this.postgres = typeof postgres === "string" ? postgres : "";
    const ready = await fetch(`${this.address}/ready`);
    if (!ready.ok) throw new Error(`/ready of a ready server answered ${ready.status}: ${await ready.text()}`);
  }

  /** Starts what a cluster has beside its first frontend, and does not run yet. */
  private async launchBeside(): Promise<void> {
    const { env, wrapper, program } = this.options;
    const launchNode: Launch = (args, own) => launchVarve(args, own, "", [], program);
    if (this.cluster === undefined) this.cluster = await TestCluster.start(this.folder, launchNode, { configPath: this.configPath });
    else if (this.cluster.nodes.length === 0) await this.cluster.startNodes(launchNode, this.configPath);
    await this.endOther();
    const own = {
      VARVE__STORAGE__COPY_ROOT: join(this.dataHome, "copy"), // Both read and write files there.
      VARVE__CLUSTER__NODE_ID: "other",
    };
    const flags = ["frontend", "start", ...this.flagsOn(join(this.folder, "other"))];
    this.otherFrontend = launchVarve(flags, { ...this.cluster.env, ...own, ...env }, "", wrapper, program);
  }

  private async endOther(): Promise<void> {
    this.otherFrontend?.signal("SIGKILL");
    await this.otherFrontend?.ended();
    this.otherFrontend = undefined;
  }
}

/** The lines of a stream as they come in. */
class LogLines {
  text = "";
  private isOver = false;
  private scanned = 0;
  private readonly lines: LogLine[] = [];
  private readonly waiting: Set<() => void> = new Set();

  async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      this.text += decoder.decode(chunk, { stream: true });
      this.scan();
      this.wake();
    }
    this.isOver = true;
    this.wake();
  }

  async find(message: string): Promise<LogLine> {
    for (;;) {
      const line = this.lines.find(({ msg }) => msg === message);
      if (line !== undefined) return line;
      if (this.isOver) throw new Error(`the process ended without the log line "${message}":\n${this.tail()}`);
      await new Promise<void>((wake) => this.waiting.add(wake));
    }
  }

  tail(): string {
    return this.text.slice(-TAIL_CHARACTERS);
  }

  /** Takes whole lines; those that are no JSON are the last words of a process that does not start. */
  private scan(): void {
    for (;;) {
      const feed = this.text.indexOf("\n", this.scanned);
      if (feed < 0) return;
      const line = this.text.slice(this.scanned, feed);
      this.scanned = feed + 1;
      if (line.startsWith('{"level"')) this.lines.push(JSON.parse(line) as LogLine);
    }
  }

  private wake(): void {
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }
}

async function within<T>(promise: Promise<T>, what: string, lines: LogLines): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no sign of ${what} after ${WAIT_MS_MAX} ms:\n${lines.tail()}`)), WAIT_MS_MAX);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
