/**
 * Full-rate ingest for a long time, with deletes, a time to live and compaction beside it: does anything grow?
 *
 *   load ─► windows of ten seconds ─► each is counted by SQL while nothing has touched it: it must hold every acknowledged row
 *   every 20 s a DELETE of one host's rows older than a minute, which must then be gone
 *   every 10 s a sample: resident memory, files, bytes, the time of a small query
 *   every second a line of resident memory and of what each part holds, to memory.csv, which --keep keeps
 */
import { appendFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { streamProgram } from "./child.ts";
import { diskUsage } from "./disk-usage.ts";
import type { Dataset } from "./dataset.ts";
import type { Generated } from "./generator.ts";
import type { Shape } from "./ingest-bench.ts";
import { lookAtMemory, type MemoryLook, uncountedBytes } from "./memory-parts.ts";
import { readProcess } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { type SoakWindow, WINDOW_SECONDS } from "./soak-loader.ts";
import { SqlError, sqlNumber, sqlTable, TABLE_NOT_FOUND } from "./sql-client.ts";
import type { RunningTarget, Target } from "./target.ts";

/** How long rows live: long enough that several flushes and merges see them, short enough that they expire many times in a run. */
const TTL = "3m";
const DELETE_SECONDS = 20;
/** Deletes take rows older than this; windows are counted when they are younger. */
const DELETE_AGE_SECONDS = 60;
const SAMPLE_SECONDS = 10;
const MEMORY_SECONDS = 1;
const TIME_COLUMN = "greptime_timestamp";

/** One look at the server. */
export interface SoakSample {
  /** Seconds since the load began. */
  readonly second: number;
  readonly rssBytes: number;
  readonly files: number;
  readonly diskBytes: number;
  readonly logBytes: number;
  /** Milliseconds of `max` over ten seconds of one host. */
  readonly queryMs: number;
}

/** What a soak saw. */
export interface SoakResult {
  readonly seconds: number;
  readonly windows: readonly SoakWindow[];
  readonly samples: readonly SoakSample[];
  readonly deletes: number;
  readonly deletedRows: number;
  readonly windowsCounted: number;
  readonly rssBytesPeak: number;
  /** The look, of one a second, that found the most resident memory. */
  readonly memoryAtPeak: MemoryLook | undefined;
  /** Processor time of the server. */
  readonly cpuSeconds: number;
  readonly diskBytesWritten: number;
}

/** What to run. */
export interface SoakPlan {
  readonly target: Target;
  readonly directory: string;
  readonly input: Generated;
  readonly dataset: Dataset;
  readonly shape: Shape;
  readonly seconds: number;
  readonly progress: Progress;
}

/** Runs the soak. @throws Error when an acknowledged row is missing, a deleted one is there, or a request fails but for 429 */
export async function runSoak(plan: SoakPlan): Promise<SoakResult> {
  const running = await plan.target.start(plan.directory);
  const soak = new Soak(plan, running);
  try {
    return await soak.run();
  } finally {
    if (running.server.isRunning()) await running.server.stop();
  }
}

class Soak {
  private readonly plan: SoakPlan;
  private readonly running: RunningTarget;
  private readonly windows: SoakWindow[] = [];
  private readonly samples: SoakSample[] = [];
  private readonly began = Date.now();
  private isLoading = true;
  private deletes = 0;
  private deletedRows = 0;
  private windowsCounted = 0;
  private memoryAtPeak: MemoryLook | undefined;

  constructor(plan: SoakPlan, running: RunningTarget) {
    this.plan = plan;
    this.running = running;
  }

  async run(): Promise<SoakResult> {
    const { pid } = this.running.server;
    const load = this.load().finally(() => {
      this.isLoading = false;
    });
    await Promise.all([
      load,
      this.every(SAMPLE_SECONDS, () => this.sample()),
      this.every(MEMORY_SECONDS, () => this.lookAtMemory()),
      this.every(DELETE_SECONDS, () => this.deleteSome()),
    ]);
    const { rssBytesPeak, diskBytesWritten, cpuSeconds } = readProcess(pid);
    const { windows, samples, deletes, deletedRows, windowsCounted, memoryAtPeak } = this;
    const seconds = this.elapsed();
    const counts = { deletes, deletedRows, windowsCounted };
    return { seconds, windows, samples, ...counts, rssBytesPeak, memoryAtPeak, cpuSeconds, diskBytesWritten };
  }

  private elapsed(): number {
    return (Date.now() - this.began) / 1000;
  }

  private async load(): Promise<void> {
    const { shape, input, seconds } = this.plan;
    const flags = ["--url", this.running.writeUrl, "--file", input.path, "--seconds", String(seconds)];
    flags.push("--batch", String(shape.rowsPerBatch), "--connections", String(shape.connections));
    const loader = new URL("./soak-loader.ts", import.meta.url);
    for await (const window of streamProgram<SoakWindow>(loader, flags)) await this.counted(window);
  }

  /** Counts what the server has of a window, while no delete may touch it. */
  private async counted(window: SoakWindow): Promise<void> {
    this.windows.push(window);
    if (window.bad > 0) throw new Error(`${window.bad} requests failed; the first: ${window.firstBad}`);
    if (this.windows.length === 1) await this.sql(`ALTER TABLE cpu SET 'ttl' = '${TTL}'`);
    if (Date.now() / 1000 - window.start > DELETE_AGE_SECONDS - WINDOW_SECONDS) return; // Too late to know what must be there.
    const [start, end] = [window.start, window.start + WINDOW_SECONDS].map((second) => `${second}000000000::TIMESTAMP_NS`);
    const rows = await sqlNumber(
      this.running.baseUrl,
      `SELECT count(*) FROM cpu WHERE ${TIME_COLUMN} >= ${start} AND ${TIME_COLUMN} < ${end}`,
    );
    if (rows !== window.rows) throw new Error(`of ${window.rows} rows acknowledged in the window at ${window.start}, ${rows} are there`);
    this.windowsCounted++;
  }

  private async sample(): Promise<void> {
    const { rssBytes } = readProcess(this.running.server.pid);
    const { bytes, logBytes } = await diskUsage(this.running.dataDirectory);
    const names = await readdir(join(this.running.dataDirectory), { recursive: true });
    const started = performance.now();
    await this.sql(`SELECT max(usage_user) FROM cpu WHERE hostname = '${this.host()}' AND ${TIME_COLUMN} > now() - INTERVAL '10 seconds'`);
    const queryMs = performance.now() - started;
    const files = names.filter((name) => name.endsWith(".parquet")).length;
    const second = Math.round(this.elapsed());
    this.samples.push({ second, rssBytes, files, diskBytes: bytes, logBytes, queryMs });
    const rows = this.windows.at(-1)?.rows ?? 0;
    this.plan.progress(`${second} s: ${Math.round(rows / WINDOW_SECONDS)} rows/s, ${Math.round(rssBytes / 2 ** 20)} MiB, ${files} files`);
  }

  private async lookAtMemory(): Promise<void> {
    const look = await lookAtMemory(this.running.server.pid, this.running.baseUrl);
    const isFirst = this.memoryAtPeak === undefined;
    if (look.rssBytes > (this.memoryAtPeak?.rssBytes ?? 0)) this.memoryAtPeak = look;
    const names = isFirst ? `second,resident,${[...look.parts.keys()].join(",")},rest\n` : "";
    const figures = [this.elapsed().toFixed(1), look.rssBytes, ...look.parts.values(), uncountedBytes(look)];
    await appendFile(join(this.plan.directory, "memory.csv"), `${names}${figures.join(",")}\n`);
  }

  private async deleteSome(): Promise<void> {
    if (this.elapsed() < DELETE_AGE_SECONDS) return;
    const before = Math.floor(Date.now() / 1000) - DELETE_AGE_SECONDS;
    const where = `hostname = '${this.host()}' AND ${TIME_COLUMN} < ${before}000000000::TIMESTAMP_NS`;
    this.deletedRows += await sqlNumber(this.running.baseUrl, `SELECT count(*) FROM cpu WHERE ${where}`);
    await this.sql(`DELETE FROM cpu WHERE ${where}`);
    this.deletes++;
    const left = await sqlNumber(this.running.baseUrl, `SELECT count(*) FROM cpu WHERE ${where}`);
    if (left > 0) throw new Error(`${left} rows are there after their DELETE: ${where}`);
  }

  private host(): string {
    return `host_${(this.deletes * 7 + this.samples.length) % this.plan.dataset.hosts}`;
  }

  private async sql(statement: string): Promise<void> {
    await sqlTable(this.running.baseUrl, statement).catch((error: unknown) => {
      if (error instanceof SqlError && error.message.includes(TABLE_NOT_FOUND)) return; // Before the first write.
      throw error;
    });
  }

  private async every(seconds: number, work: () => Promise<void>): Promise<void> {
    for (let due = Date.now() + seconds * 1000; this.isLoading; due = Math.max(due, Date.now() - seconds * 1000) + seconds * 1000) {
      while (this.isLoading && Date.now() < due) await Bun.sleep(Math.min(500, Math.max(1, due - Date.now())));
      if (this.isLoading) await work();
    }
  }
}
