/**
 * Does the server stay within its memory? Heavy statements over one large table, one after another, under small limits, while rows come in:
 * for each the status, the most resident memory as a part of the limit, and what went over the disk.
 *
 *   load once ─► for each limit: start ─► ingest beside ─► for each statement: the kernel's peak is reset ─► run ─► read the peak
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Dataset, FIELDS, STEP_SECONDS, TABLE } from "./dataset.ts";
import { readProcess } from "./process-meter.ts";
import { type RunningTarget, restarted } from "./target.ts";

const MIB = 1024 * 1024;
const STATEMENT_SECONDS_MAX = 280;
/** Rows a request of the ingest beside, and milliseconds between two. */
const INGEST_ROWS = 2000;
const INGEST_MILLIS = 100;
const IN_VALUES = 100_000;
/** What resident memory may be of the limit. */
const RATIO_MAX = 1.15;

/** A statement that is heavy. */
interface Heavy {
  readonly name: string;
  readonly sql: string;
}

/** The statements over a data set. */
function heavyStatements({ hosts, rows }: Dataset, copyFile: string): readonly Heavy[] {
  const key = "hostname, greptime_timestamp";
  const seconds = Math.max(STEP_SECONDS, Math.round(rows / 1_000_000) * STEP_SECONDS); // About a million groups of 5M rows.
  const bucket = `date_bin('${seconds} seconds', greptime_timestamp)`;
  const hostsIn = Array.from({ length: IN_VALUES }, (_, i) => `'host_${i % 3 === 0 ? i % hosts : i + hosts}'`).join(",");
  return [
    {
      name: "window over one partition",
      sql: `SELECT sum(r) FROM (SELECT row_number() OVER (ORDER BY usage_user, ${key}) AS r FROM ${TABLE})`,
    },
    {
      name: "moving average over one partition",
      sql: `SELECT sum(a) FROM (SELECT avg(usage_user) OVER (ORDER BY greptime_timestamp, hostname ROWS BETWEEN 5 PRECEDING
            AND CURRENT ROW) AS a FROM ${TABLE})`,
    },
    { name: "sort of all columns", sql: `SELECT ${key}, ${FIELDS.join(", ")} FROM ${TABLE} ORDER BY usage_idle, usage_user, ${key}` },
    {
      name: "join with itself",
      sql: `SELECT count(*), sum(a.usage_user + b.usage_idle) FROM ${TABLE} a JOIN ${TABLE} b
            ON a.hostname = b.hostname AND a.greptime_timestamp = b.greptime_timestamp`,
    },
    {
      name: "string_agg by host",
      sql: `SELECT max(length(t)) FROM (SELECT hostname, string_agg(region, ',') AS t FROM ${TABLE} GROUP BY hostname)`,
    },
    {
      name: "string_agg by a million",
      sql: `SELECT max(length(t)) FROM (SELECT hostname, ${bucket} AS s, string_agg(region, ',') AS t FROM ${TABLE} GROUP BY hostname, s)`,
    },
    { name: "count(DISTINCT) of few", sql: `SELECT count(DISTINCT usage_user * 1000 + usage_idle) FROM ${TABLE}` },
    {
      name: "count(DISTINCT) of all",
      sql: `SELECT count(DISTINCT concat(hostname, CAST(greptime_timestamp AS STRING))) FROM ${TABLE}`,
    },
    {
      name: "GROUP BY of a million",
      sql: `SELECT count(*), max(u) FROM (SELECT hostname, ${bucket} AS s, avg(usage_user) AS u FROM ${TABLE} GROUP BY hostname, s)`,
    },
    { name: "DISTINCT", sql: `SELECT count(*) FROM (SELECT DISTINCT ${key} FROM ${TABLE})` },
    { name: "IN of 100,000 values", sql: `SELECT count(*), sum(usage_user) FROM ${TABLE} WHERE hostname IN (${hostsIn})` },
    {
      name: "IN of a sub-query",
      sql: `SELECT count(*) FROM ${TABLE} WHERE greptime_timestamp IN (SELECT greptime_timestamp FROM ${TABLE} WHERE usage_user > 50)`,
    },
    { name: "COPY to Parquet", sql: `COPY ${TABLE} TO '${copyFile}' WITH (FORMAT = 'parquet')` },
    { name: "all rows as JSON", sql: `SELECT * FROM ${TABLE}` },
  ];
}

/** What to run. */
export interface MemoryPlan {
  /** A store that holds the data set, stopped; it is used for all limits. */
  readonly directory: string;
  readonly before: RunningTarget;
  readonly dataset: Dataset;
  /** As `memory.limit` takes them. */
  readonly limits: readonly string[];
  /** Parts of names of statements; empty: all. */
  readonly only: readonly string[];
  readonly settings: ReadonlyMap<string, string>;
  print(line: string): void;
}

/** Runs everything and returns the report. @throws Error when the server dies */
export async function runMemory(plan: MemoryPlan): Promise<string> {
  const rows: string[] = [];
  let worst = 0;
  for (const limit of plan.limits) {
    for (const { line, ratio } of await underLimit(plan, limit)) {
      rows.push(line);
      worst = Math.max(worst, ratio);
    }
  }
  return `## Memory under a limit: ${plan.dataset.rows} rows of ${plan.dataset.hosts} series, rows coming in beside

Most resident memory: ${worst.toFixed(2)} of the limit; ${worst <= RATIO_MAX ? "within" : "BEYOND"} ${RATIO_MAX}.

| memory.limit | statement | status | s | peak, MiB | of the limit | spilled, MiB | counted at the peak, MiB |
|---|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
}

async function underLimit(plan: MemoryPlan, limit: string): Promise<readonly { readonly line: string; readonly ratio: number }[]> {
  const copyFile = "memory-bench.parquet";
  const settings: Record<string, Record<string, string>> = { memory: { limit: `"${limit}"` } };
  for (const [path, value] of plan.settings) {
    const dot = path.lastIndexOf(".");
    settings[path.slice(0, dot)] = { ...settings[path.slice(0, dot)], [path.slice(dot + 1)]: value };
  }
  settings["storage"] = { copy_root: `"${plan.directory}"`, ...settings["storage"] };
  const running = await restarted(plan.directory, plan.before, settings);
  const lines: { line: string; ratio: number }[] = [];
  const ingest = new Ingest(running);
  try {
    const bytesMax = await limitOf(running);
    for (const { name, sql } of heavyStatements(plan.dataset, copyFile)) {
      if (plan.only.length > 0 && !plan.only.some((part) => name.includes(part))) continue;
      const { status, seconds, peakBytes, spilledBytes, counted } = await measured(running, sql);
      const ratio = peakBytes / bytesMax;
      const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
      const figures = [seconds.toFixed(1), mib(peakBytes), ratio.toFixed(2), mib(spilledBytes), counted];
      const line = `| ${[limit, name, status, ...figures].join(" | ")} |`;
      plan.print(line);
      lines.push({ line, ratio });
      await rm(join(plan.directory, copyFile), { force: true });
    }
    await ingest.end();
    if (ingest.bad !== undefined) throw new Error(`ingest beside failed: ${ingest.bad}`);
  } finally {
    await ingest.end();
    if (running.server.isRunning()) await running.server.stop();
  }
  return lines;
}

/** Few rows at a time, of series of their own, into another table. */
class Ingest {
  bad: string | undefined;
  private isOver = false;
  private readonly running: RunningTarget;
  private readonly work: Promise<void>;

  constructor(running: RunningTarget) {
    this.running = running;
    this.work = this.run();
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.work;
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const time = Date.now();
      const lines = Array.from({ length: INGEST_ROWS }, (_, i) => `beside,host=h${i} a=${i}i,b=${i / 7} ${time}000000`).join("\n");
      try {
        const response = await fetch(this.running.writeUrl, { method: "POST", body: lines });
        const text = await response.text();
        if (response.status !== 204 && response.status !== 429) this.bad ??= `${response.status} ${text.slice(0, 200)}`;
      } catch (error) {
        this.bad ??= String(error);
      }
      await Bun.sleep(INGEST_MILLIS);
    }
  }
}

interface Measured {
  readonly status: string;
  readonly seconds: number;
  readonly peakBytes: number;
  readonly spilledBytes: number;
  readonly counted: string;
}

async function measured(running: RunningTarget, sql: string): Promise<Measured> {
  const { pid } = running.server;
  await writeFile(`/proc/${pid}/clear_refs`, "5"); // The peak counts from here: proc(5).
  const before = await figuresOf(running);
  const started = performance.now();
  let isOver = false;
  const asked = ask(running, sql)
    .catch((error: unknown) => `broken off: ${String(error)}`)
    .finally(() => {
      isOver = true;
    });
  let most = 0;
  let counted = "";
  while (!isOver) {
    await Promise.race([asked, Bun.sleep(300)]);
    if (isOver) break;
    const { rssBytes } = readProcess(pid);
    if (rssBytes <= most) continue;
    most = rssBytes;
    counted = (await figuresOf(running)).parts;
  }
  const status = await asked;
  const seconds = (performance.now() - started) / 1000;
  if (!running.server.isRunning()) throw new Error(`the server died of: ${sql.slice(0, 200)}`);
  const { rssBytesPeak } = readProcess(pid);
  return { status, seconds, peakBytes: rssBytesPeak, spilledBytes: (await figuresOf(running)).spilled - before.spilled, counted };
}

/** The status, with the beginning of an error. */
async function ask({ baseUrl }: RunningTarget, sql: string): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/sql`, {
    method: "POST",
    body: new URLSearchParams({ sql }),
    signal: AbortSignal.timeout(STATEMENT_SECONDS_MAX * 1000),
  });
  let head = "";
  const decoder = new TextDecoder();
  try {
    for await (const piece of response.body ?? []) if (head.length < 400) head += decoder.decode(piece as Uint8Array).slice(0, 400);
  } catch (error) {
    return `broken off: ${String(error)}`;
  }
  if (response.status === 200) return "200";
  return `${response.status} ${/"error":"([^"]*)"/.exec(head)?.[1]?.slice(0, 90) ?? head.slice(0, 90)}`;
}

async function figuresOf({ baseUrl }: RunningTarget): Promise<{ readonly parts: string; readonly spilled: number }> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const parts = Array.from(
    text.matchAll(/^varve_memory_bytes\{part="([^"]+)"\} (\S+)$/gm),
    ([, name, bytes]) => [name, Number(bytes) / MIB] as const,
  );
  const rest = Number(/^varve_memory_uncounted_bytes (\S+)$/m.exec(text)?.[1] ?? 0) / MIB;
  const shown = [...parts.filter(([, mib]) => mib >= 1), ["rest", rest] as const].map(([name, mib]) => `${name} ${mib.toFixed(0)}`);
  return { parts: shown.join(", "), spilled: Number(/^varve_query_spilled_bytes_total (\S+)$/m.exec(text)?.[1] ?? 0) };
}

async function limitOf({ baseUrl }: RunningTarget): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^varve_memory_limit_bytes (\S+)$/m.exec(text)?.[1]);
}
