/** A server of the tool's own, on free ports of this machine alone, in a folder that goes with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { OWN_PROGRAM } from "../common/own-program.ts";

/** Longest wait for it to be ready, and for its end. */
const WAIT_MILLIS = 30_000;
/** What its log says once it listens. */
const READY = "ready";

/** See the file header. */
export class OwnServer {
  readonly url: string;
  readonly folder: string;
  private readonly child: Bun.Subprocess;

  private constructor(url: string, folder: string, child: Bun.Subprocess) {
    this.url = url;
    this.folder = folder;
    this.child = child;
  }

  /** Starts it with the settings that anyone has who sets none. @param parent where its folder is made @throws Error with its last words */
  static async start(parent: string): Promise<OwnServer> {
    const folder = await mkdtemp(join(parent, "varve-bench-"));
    const free = "127.0.0.1:0";
    const addresses = ["--http-addr", free, "--grpc-bind-addr", free, "--mysql-addr", free, "--postgres-addr", free];
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("VARVE") && !name.startsWith("GREPTIMEDB_"));
    const child = Bun.spawn([...OWN_PROGRAM, ...addresses, "--data-home", join(folder, "data")], {
      cwd: folder,
      env: Object.fromEntries(inherited),
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      detached: true, // Ctrl-C is for the tool, which then ends the server.
    });
    const address = Promise.withResolvers<string>();
    void follow(child.stderr, address.resolve, address.reject); // It never rejects: it tells by these two.
    const timer = setTimeout(() => address.reject(new Error("the server was not ready in time")), WAIT_MILLIS);
    try {
      return new OwnServer(await address.promise, folder, child);
    } catch (thrown) {
      child.kill("SIGKILL");
      await child.exited;
      await rm(folder, { recursive: true, force: true });
      throw thrown;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether its process runs. */
  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends it and removes its folder. */
  async end(): Promise<void> {
    this.child.kill("SIGTERM");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), WAIT_MILLIS);
    await this.child.exited;
    clearTimeout(timer);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Reads a log to its end: the pipe must not fill. */
async function follow(stream: ReadableStream<Uint8Array>, found: (address: string) => void, failed: (why: Error) => void): Promise<void> {
  const decoder = new TextDecoder();
  let tail = "";
  let isFound = false;
  for await (const bytes of stream) {
    tail += decoder.decode(bytes, { stream: true });
    const lines = tail.split("\n");
    tail = (lines.pop() ?? "").slice(-65_536);
    if (isFound) continue;
    const address = lines.map(addressIn).find((one) => one !== undefined);
    if (address === undefined) {
      tail = `${lines.at(-1) ?? ""}\n${tail}`.trimStart();
      continue;
    }
    isFound = true;
    found(address);
  }
  if (!isFound) failed(new Error(`the server did not start: ${tail.trim().slice(-500)}`));
}

function addressIn(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  const entry = JSON.parse(line) as { readonly msg?: unknown; readonly address?: unknown };
  return entry.msg === READY && typeof entry.address === "string" ? entry.address : undefined;
}
