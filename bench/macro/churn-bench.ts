/**
 * Series churn for a long time: ever-new series with a short time to live, by line protocol and remote write. Does memory stay flat?
 *
 *   every second   new series, and a row of each of the last seconds' series
 *   every 10 s     a look: resident memory, what each part holds, series held, registries renewed
 *   every minute   a line; the rows of half a minute are counted by SQL and must be those acknowledged
 *   at the end     the slope of each figure over the second half
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CHURN_TABLE, churn, type ChurnTotals } from "./churn-load.ts";
import { partsOf } from "./memory-parts.ts";
import { readProcess } from "./process-meter.ts";
import { sqlNumber, sqlTable } from "./sql-client.ts";
import type { RunningTarget, Target } from "./target.ts";

const LOOK_SECONDS = 10;
const MIB = 1024 * 1024;
/** Seconds of rows that are counted, and how old they are: written, and not expired. */
const COUNTED_SECONDS = 20;
const COUNTED_AGE_SECONDS = 5;
/** What a figure may rise over the second half and be flat: a part of its mean, or what collections move anyway. */
const FLAT_PART = 0.05;
const FLAT_BYTES = 16 * MIB;

/** What to run. */
export interface ChurnPlan {
  readonly target: Target;
  readonly workDirectory: string;
  readonly seconds: number;
  readonly seriesPerSecond: number;
  readonly connections: number;
  readonly ttlSeconds: number;
  /** Takes a line a minute. */
  print(line: string): void;
}

interface Look {
  readonly second: number;
  readonly rssBytes: number;
  readonly seriesBytes: number;
  readonly decoderBytes: number;
  readonly memtableBytes: number;
  readonly cacheBytes: number;
  readonly series: number;
  readonly renewals: number;
  readonly begun: number;
}

/** Runs one server through it and returns its part of the report. @throws Error when a request fails but for 429, or a row is missing */
export async function runChurn(plan: ChurnPlan): Promise<string> {
  const directory = join(plan.workDirectory, "churn");
  const running = await plan.target.start(directory);
  const totals: ChurnTotals = { series: 0, refused: 0, bad: 0, firstBad: undefined, rowsOfSecond: new Map(), inFlight: new Set() };
  const looks: Look[] = [];
  try {
    // The tables must be there to be given a time to live.
    await churn(running.baseUrl, { ...plan, seconds: 1 }, { ...totals, rowsOfSecond: new Map() });
    await sqlTable(running.baseUrl, `ALTER TABLE ${CHURN_TABLE} SET 'ttl' = '${plan.ttlSeconds}s'`);
    await sqlTable(running.baseUrl, `ALTER TABLE greptime_physical_table SET 'ttl' = '${plan.ttlSeconds}s'`);
    const cpuBefore = readProcess(running.server.pid).cpuSeconds;
    let isLoading = true;
    const load = churn(running.baseUrl, plan, totals).finally(() => {
      isLoading = false;
    });
    await Promise.all([load, watch(plan, running, totals, looks, () => isLoading)]);
    const cpuSeconds = readProcess(running.server.pid).cpuSeconds - cpuBefore;
    if (totals.bad > 0) throw new Error(`${totals.bad} requests failed; the first: ${totals.firstBad}`);
    return reportOf(plan, looks, totals, cpuSeconds);
  } finally {
    if (running.server.isRunning()) await running.server.stop();
    await rm(directory, { recursive: true });
  }
}

async function watch(plan: ChurnPlan, running: RunningTarget, totals: ChurnTotals, looks: Look[], isLoading: () => boolean): Promise<void> {
  const began = Date.now();
  const every = Math.min(LOOK_SECONDS, plan.seconds / 10);
  plan.print(HEAD);
  for (let look = 1; ; look++) {
    const due = began + look * every * 1000;
    while (isLoading() && Date.now() < due) await Bun.sleep(Math.min(500, Math.max(1, due - Date.now())));
    if (!isLoading()) return;
    const second = (Date.now() - began) / 1000;
    looks.push(await lookAt(running, second, totals));
    if (Math.floor(second / 60) === Math.floor((second - every) / 60)) continue;
    await count(running, totals, plan.ttlSeconds);
    plan.print(lineOf(looks.at(-1) as Look));
  }
}

async function lookAt({ server, baseUrl }: RunningTarget, second: number, totals: ChurnTotals): Promise<Look> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const parts = partsOf(text);
  const figure = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  return {
    second,
    rssBytes: readProcess(server.pid).rssBytes,
    seriesBytes: parts.get("series") ?? Number.NaN,
    decoderBytes: parts.get("decoders") ?? Number.NaN,
    memtableBytes: parts.get("memtables") ?? Number.NaN,
    cacheBytes: parts.get("page_cache") ?? Number.NaN,
    series: figure("varve_series"),
    renewals: figure("varve_series_renewals_total"),
    begun: totals.series,
  };
}

/** Every row of some seconds that was acknowledged is there, once; seconds of which all requests were answered. */
async function count({ baseUrl }: RunningTarget, { rowsOfSecond, inFlight }: ChurnTotals, ttlSeconds: number): Promise<void> {
  const sure = Math.min(Date.now() - COUNTED_AGE_SECONDS * 1000, ...inFlight);
  const end = Math.floor(sure / 1000);
  const start = end - Math.min(COUNTED_SECONDS, Math.floor(ttlSeconds / 2) - COUNTED_AGE_SECONDS);
  let want = 0;
  for (let second = start; second < end; second++) want += rowsOfSecond.get(second) ?? 0;
  for (const second of rowsOfSecond.keys()) if (second < start) rowsOfSecond.delete(second);
  const time = (second: number): string => `${second}000000000::TIMESTAMP_NS`;
  const sql = `SELECT count(*) FROM ${CHURN_TABLE} WHERE greptime_timestamp >= ${time(start)} AND greptime_timestamp < ${time(end)}`;
  const rows = await sqlNumber(baseUrl, sql);
  if (Date.now() / 1000 > start + ttlSeconds - 1) return; // It took so long that some may have expired.
  if (rows !== want) throw new Error(`of ${want} rows acknowledged from second ${start} on, ${rows} are there`);
}

const HEAD = "minute  resident  series  decoders  memtables  pages (MiB)  series held  of  renewed";

function lineOf({ second, ...look }: Look): string {
  const mib = [look.rssBytes, look.seriesBytes, look.decoderBytes, look.memtableBytes, look.cacheBytes].map((bytes) =>
    (bytes / MIB).toFixed(1),
  );
  return `${(second / 60).toFixed(0)}  ${mib.join("  ")}  ${look.series}  ${look.begun}  ${look.renewals}`;
}

/** Rise a second, by least squares. */
function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const count = points.length;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / count;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / count;
  let above = 0;
  let below = 0;
  for (const { x, y } of points) {
    above += (x - meanX) * (y - meanY);
    below += (x - meanX) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

function reportOf(plan: ChurnPlan, looks: readonly Look[], totals: ChurnTotals, cpuSeconds: number): string {
  const half = looks.slice(Math.floor(looks.length / 2));
  const spanSeconds = (half.at(-1)?.second ?? 0) - (half[0]?.second ?? 0);
  const verdict = (name: string, read: (look: Look) => number, allowed: number, unit: string, scale: number): string => {
    const values = half.map((look) => read(look));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const rise = slopeOf(half.map((look) => ({ x: look.second, y: read(look) }))) * spanSeconds;
    const isFlat = rise <= Math.max(mean * FLAT_PART, allowed);
    const [shown, min, max] = [mean, Math.min(...values), Math.max(...values)].map((value) => (value / scale).toFixed(1));
    return `| ${name} | ${shown} | ${min} | ${max} | ${(rise / scale).toFixed(1)} ${unit} | ${isFlat ? "flat" : "GROWS"} |`;
  };
  const minutes = looks.filter((look, i) => Math.floor(look.second / 60) > Math.floor((looks[i - 1]?.second ?? 0) / 60));
  const rate = (cpuSeconds / plan.seconds).toFixed(2);
  return `## Series churn: ${plan.target.name}

${plan.seriesPerSecond} new series a second for ${(plan.seconds / 60).toFixed(1)} minutes, ${totals.series} in all;
ttl ${plan.ttlSeconds} s; ${rate} cores; requests refused with 429: ${totals.refused}. Every row counted was there.

| second half | mean | least | most | rise over it | |
|---|---|---|---|---|---|
${verdict("resident, MiB", (look) => look.rssBytes, FLAT_BYTES, "MiB", MIB)}
${verdict("series, MiB", (look) => look.seriesBytes, FLAT_BYTES / 2, "MiB", MIB)}
${verdict("decoders, MiB", (look) => look.decoderBytes, FLAT_BYTES / 2, "MiB", MIB)}
${verdict("series held", (look) => look.series, plan.seriesPerSecond * 60, "", 1)}

\`\`\`
${[HEAD, ...minutes.map(lineOf)].join("\n")}
\`\`\`
`;
}
