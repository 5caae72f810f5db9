/** Servers that run as processes of their own: start, wait until ready, stop, kill. Varve and its peers alike. */
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

/** How a server is started. */
export interface ServerCommand {
  readonly name: string;
  readonly command: readonly string[];
  /** Answers 2xx once the server takes requests; of `tcp:`, takes a connection. */
  readonly readyUrl: string;
  /** Both outputs of the server are appended here. */
  readonly logPath: string;
  readonly cwd?: string;
  /** Besides what this process has in its environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly readySecondsMax?: number;
}

/** A server process that took its first request. */
export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to the first good answer. */
  readonly readyMs: number;
  /** True until the process has ended. */
  isRunning(): boolean;
  /** SIGTERM, then waits for the end. Returns milliseconds. @throws Error when it does not end well within a minute. */
  stop(): Promise<number>;
  /** SIGKILL, then waits for the end. */
  kill(): Promise<void>;
}

const READY_SECONDS_MAX = 60;
const READY_POLL_MS = 2;
const STOP_SECONDS_MAX = 60;
const LOG_TAIL_CHARACTERS = 2000;

/** Processes to end when this one is interrupted. */
const running = new Set<Bun.Subprocess>();

/** A process that was started and may not be ready yet. */
export interface LaunchedServer {
  readonly pid: number;
  /** Waits for the first good answer. @throws Error with the end of the log when the process ends before, or is too slow */
  ready(): Promise<ServerProcess>;
  /** SIGKILL, then waits for the end. */
  kill(): Promise<void>;
  /** Waits for the end, whoever causes it: the exit status, or the signal. */
  ended(): Promise<number | string>;
}

/** Starts a process and does not wait. */
function launchServer(options: ServerCommand): LaunchedServer {
  const log = openSync(options.logPath, "a");
  const started = performance.now();
  const child = Bun.spawn([...options.command], {
    stdin: "ignore",
    stdout: log,
    stderr: log,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: { ...process.env, ...options.env } }),
  });
  closeSync(log);
  running.add(child);
  void child.exited.then(() => running.delete(child)); // Never rejects.
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const secondsMax = options.readySecondsMax ?? READY_SECONDS_MAX;
  const ready = async (): Promise<ServerProcess> => {
    while (!(await answers(options.readyUrl))) {
      const isLate = performance.now() - started > secondsMax * 1000;
      if (child.exitCode === null && child.signalCode === null && !isLate) {
        await Bun.sleep(READY_POLL_MS);
        continue;
      }
      await kill();
      const why = isLate
        ? `no good answer from ${options.readyUrl} within ${secondsMax} s`
        : `it ended: ${child.exitCode ?? child.signalCode}`;
      throw new Error(`cannot start ${options.name}: ${why}\n${await tail(options.logPath)}`);
    }
    return serverProcess(options, child, performance.now() - started);
  };
  const ended = async (): Promise<number | string> => {
    await child.exited;
    return child.signalCode ?? child.exitCode ?? 0;
  };
  return { pid: child.pid, ready, kill, ended };
}

/** Starts a server and waits until it is ready. @throws Error with the end of its log when it dies or does not answer in time */
export async function startServer(options: ServerCommand): Promise<ServerProcess> {
  return await launchServer(options).ready();
}

function serverProcess(options: ServerCommand, child: Bun.Subprocess, readyMs: number): ServerProcess {
  return {
    name: options.name,
    pid: child.pid,
    readyMs,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      const asked = performance.now();
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_SECONDS_MAX * 1000);
      await child.exited;
      clearTimeout(late);
      if (child.signalCode !== "SIGKILL") return performance.now() - asked;
      throw new Error(`cannot stop ${options.name}: it was still there after ${STOP_SECONDS_MAX} s\n${await tail(options.logPath)}`);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Ends every server that still runs, at once. For the way out after a failure or an interrupt. */
export function killAllServers(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** What is needed to start Varve. */
export interface VarveOptions {
  /** Holds `data/`, the configuration file and the log. */
  readonly directory: string;
  readonly port: number;
  /** Settings by section and key, as they stand in the configuration file; values are TOML text, e.g. `"64MiB"` with its quotes. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Besides what this process has in its environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly readySecondsMax?: number;
}

/** The data directory of a Varve started in `directory`. */
export function varveDataHome(directory: string): string {
  return join(directory, "data");
}

/** Starts Varve from this source tree, on `127.0.0.1:port`, and does not wait. */
export async function launchVarve(options: VarveOptions): Promise<LaunchedServer> {
  const configPath = join(options.directory, "varve.toml");
  const sections = Object.entries(options.settings ?? {}).map(
    ([section, keys]) =>
      `[${section}]\n${Object.entries(keys)
        .map(([key, value]) => `${key} = ${value}\n`)
        .join("")}`,
  );
  await Bun.write(configPath, sections.join("\n"));
  const main = Bun.fileURLToPath(new URL("../../src/main.ts", import.meta.url));
  const address = `127.0.0.1:${options.port}`;
  const flags = ["--http-addr", address, "--data-home", varveDataHome(options.directory), "--config-file", configPath];
  return launchServer({
    name: "Varve",
    command: [process.execPath, main, ...flags],
    readyUrl: `http://${address}/ready`,
    logPath: join(options.directory, "server.log"),
    env: { VARVE__GRPC__BIND_ADDR: "127.0.0.1:0", VARVE__MYSQL__ADDR: "127.0.0.1:0", VARVE__POSTGRES__ADDR: "127.0.0.1:0", ...options.env },
    ...(options.readySecondsMax === undefined ? {} : { readySecondsMax: options.readySecondsMax }),
  });
}

/** Starts Varve and waits until it is ready. @throws Error when it does not get ready */
export async function startVarve(options: VarveOptions): Promise<ServerProcess> {
  return await (await launchVarve(options)).ready();
}

/** True for a 2xx answer, or a connection of `tcp:`; false for any other, and while nobody listens. */
async function answers(url: string): Promise<boolean> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === "tcp:") return await takesConnections(hostname, Number(port));
  return await fetch(url, { signal: AbortSignal.timeout(5000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}

async function takesConnections(hostname: string, port: number): Promise<boolean> {
  return await Bun.connect({ hostname, port, socket: { data: () => undefined } }).then(
    (socket) => {
      socket.end();
      return true;
    },
    () => false,
  );
}

async function tail(path: string): Promise<string> {
  return (await Bun.file(path).text()).slice(-LOG_TAIL_CHARACTERS);
}
