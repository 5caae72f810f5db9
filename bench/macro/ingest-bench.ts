/** Measures ingest: the same bodies into the sink, Varve and each peer, one after the other, several times. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./child.ts";
import { diskUsage } from "./disk-usage.ts";
import type { Generated } from "./generator.ts";
import { type FilePart, type LoadReport, loaderArguments } from "./loader.ts";
import { readProcess, waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import type { RunningTarget, Target } from "./target.ts";

/** Batch size and number of connections. */
export interface Shape {
  readonly rowsPerBatch: number;
  readonly connections: number;
}

/** One target to measure, with a shape, in the first `runs` runs. */
export interface IngestCase {
  readonly target: Target;
  readonly shape: Shape;
  readonly runs: number;
}

/** What one run of one case measured. */
export interface IngestResult {
  readonly name: string;
  readonly durability: string;
  readonly shape: Shape;
  readonly run: number;
  readonly load: LoadReport;
  /** Seconds from the first request until a query counted every row. */
  readonly queryableSeconds: number;
  /** Processor time of the server until the last acknowledgement, and until it rested after its flush. */
  readonly cpuSecondsAtAck: number;
  readonly cpuSecondsAtRest: number;
  readonly rssBytesPeak: number;
  /** Size of the data directory at rest, and of the log in it: files below a directory named `wal`. */
  readonly diskBytes: number;
  readonly logBytes: number;
  /** What the server caused to be written, all told. */
  readonly diskBytesWritten: number;
}

/** What to measure, and with what. */
export interface IngestPlan {
  readonly cases: readonly IngestCase[];
  readonly input: Generated;
  readonly workDirectory: string;
  readonly runs: number;
  readonly progress: Progress;
  /** True to leave every store on the disk, for a look afterwards. */
  readonly keepsDirectories: boolean;
  /** True for the target whose store of the last run is wanted afterwards; the first such case is kept. */
  readonly keep: (target: Target) => boolean;
}

/** All results, and where the kept store is. */
export interface IngestOutcome {
  readonly results: readonly IngestResult[];
  readonly keptDirectory: string | undefined;
}

const VISIBLE_SECONDS_MAX = 180;
const VISIBLE_POLL_MS = 100;
const GOOD_STATUS = 204;

/** Measures every case in every run. @throws Error when a server refuses a request or loses a row */
export async function runIngest(plan: IngestPlan): Promise<IngestOutcome> {
  const results: IngestResult[] = [];
  let keptDirectory: string | undefined;
  for (let run = 1; run <= plan.runs; run++) {
    for (const [index, { target, shape, runs }] of plan.cases.entries()) {
      if (run > runs) continue;
      plan.progress(`run ${run}/${plan.runs}: ${target.name}, ${shape.rowsPerBatch} rows x ${shape.connections} connections`);
      const directory = join(plan.workDirectory, `run-${run}-${index}`);
      await mkdir(directory, { recursive: true });
      const running = await target.start(directory);
      results.push(await measure(running, target, shape, run, plan.input));
      await running.server.stop();
      if (run === plan.runs && keptDirectory === undefined && plan.keep(target)) keptDirectory = directory;
      else if (!plan.keepsDirectories) await rm(directory, { recursive: true });
    }
  }
  return { results, keptDirectory };
}

async function measure(running: RunningTarget, target: Target, shape: Shape, run: number, input: Generated): Promise<IngestResult> {
  const { server } = running;
  const before = readProcess(server.pid);
  const load = await loadFile(running, shape, input);
  const atAck = readProcess(server.pid);
  const visibleSeconds = await waitUntilVisible(running, target.name, input.rows);
  await running.flush();
  await waitUntilIdle(server.pid);
  const atRest = readProcess(server.pid);
  const rows = await running.countRows();
  if (rows !== input.rows) throw new Error(`${target.name} lost rows: ${rows} of ${input.rows} after the flush`);
  const disk = await diskUsage(running.dataDirectory);
  return {
    name: target.name,
    durability: target.durability,
    shape,
    run,
    load,
    queryableSeconds: load.seconds + visibleSeconds,
    cpuSecondsAtAck: atAck.cpuSeconds - before.cpuSeconds,
    cpuSecondsAtRest: atRest.cpuSeconds - before.cpuSeconds,
    rssBytesPeak: atRest.rssBytesPeak,
    diskBytes: disk.bytes,
    logBytes: disk.logBytes,
    diskBytesWritten: atRest.diskBytesWritten - before.diskBytesWritten,
  };
}

/** Sends the whole input, or a part of it, from a process of its own. @throws Error when a request is refused */
export async function loadFile(running: RunningTarget, shape: Shape, input: Generated, part?: FilePart): Promise<LoadReport> {
  const loader = new URL("./loader.ts", import.meta.url);
  const load = await runProgram<LoadReport>(
    loader,
    loaderArguments({ url: running.writeUrl, file: input.path, ...shape, status: GOOD_STATUS, part }),
  );
  if (load.bad > 0) throw new Error(`${running.server.name} refused ${load.bad} of ${load.requests} requests; the first: ${load.firstBad}`);
  if (part === undefined && load.rows !== input.rows) throw new Error(`the load generator sent ${load.rows} of ${input.rows} rows`);
  return load;
}

/** Waits until a query counts all rows; servers that acknowledge early apply later. Returns seconds. @throws Error after three minutes */
export async function waitUntilVisible(running: RunningTarget, name: string, want: number): Promise<number> {
  const started = performance.now();
  for (;;) {
    const rows = await running.countRows();
    const seconds = (performance.now() - started) / 1000;
    if (rows === want) return seconds;
    if (rows > want || seconds > VISIBLE_SECONDS_MAX)
      throw new Error(`${name} shows ${rows} of ${want} rows after ${seconds.toFixed(1)} s`);
    await Bun.sleep(VISIBLE_POLL_MS);
  }
}
