/** What stands beside every figure: the machine, the versions, the commit, and how fast the disk syncs. */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { percentile } from "./statistics.ts";

/** Facts for the head of a result file. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly bun: string;
  readonly version: string;
  /** Short hash, with `+` when files differ from it; "unknown" outside a checkout. */
  readonly commit: string;
  /** Median milliseconds of a 4 KiB append with `fdatasync` in the work directory. */
  readonly syncMs: number;
  readonly date: string;
}

const SYNC_PROBES = 100;
const SYNC_PROBE_BYTES = 4096;

/** Looks at this machine; the disk is probed in `workDirectory`. */
export async function describeMachine(workDirectory: string): Promise<Machine> {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? "unknown",
    memoryBytes: totalmem(),
    kernel: release(),
    bun: Bun.version,
    version: manifest.version,
    commit: await commitOf(import.meta.dir),
    syncMs: await probeSync(join(workDirectory, "sync-probe")),
    date: new Date().toISOString().slice(0, 16).replace("T", " "),
  };
}

async function commitOf(directory: string): Promise<string> {
  const git = async (...args: string[]): Promise<string | undefined> => {
    const child = Bun.spawn(["git", "-C", directory, ...args], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
    const text = await new Response(child.stdout).text();
    return (await child.exited) === 0 ? text.trim() : undefined;
  };
  if (Bun.which("git") === null) return "unknown";
  const hash = await git("rev-parse", "--short", "HEAD");
  if (hash === undefined) return "unknown";
  return (await git("status", "--porcelain", "--untracked-files=no")) === "" ? hash : `${hash}+`;
}

async function probeSync(path: string): Promise<number> {
  const block = new Uint8Array(SYNC_PROBE_BYTES).fill(1);
  const file = openSync(path, "w");
  const milliseconds: number[] = [];
  for (let i = 0; i < SYNC_PROBES; i++) {
    const started = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    milliseconds.push(performance.now() - started);
  }
  closeSync(file);
  await rm(path);
  return percentile(milliseconds, 0.5);
}
