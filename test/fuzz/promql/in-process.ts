/** Fuzzed queries to the database of this process: as one moment, as a range, as rows, and printed. */
import { MemoryPool, ServerMemory } from "../../../src/base/memory/server-memory.ts";
import { DbError } from "../../../src/base/error.ts";
import { atOnce } from "../../../src/base/scheduler/pace.ts";
import { Scheduler } from "../../../src/base/scheduler/scheduler.ts";
import { StatusCode, statusNameOf } from "../../../src/base/status-code.ts";
import { LocalDb } from "../../../src/db/local-db.ts";
import type { QueryAsk } from "../../../src/db/promql/promql-db.ts";
import { formattedQuery, queryTreeJson } from "../../../src/db/promql/query-text.ts";
import type { Session } from "../../../src/db/session.ts";
import { Machine } from "../../engine/machine.ts";
import { engineSql } from "../../support/engine-sql.ts";
import { dataStatements, FIRST_SECOND, histogramBatch, LAST_SECOND } from "./data.ts";
import { fuzzedQueries, type PromqlFuzzOptions, PromqlFuzzReport } from "./report.ts";
import { eachOf } from "../../support/each-of.ts";

/** Longest that a query runs: half of what counts as a hang. */
const TIMEOUT_MILLIS = 1000;
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;
/** Points of a query of a range. */
const STEPS = 7;
const MIDDLE = 300_000;
const TOLERANCE = 1e-6;
/** What differs between one moment and a range, or comes in any order. */
const OF_RANGE = /step|range|start|end|limit|sort|info|smoothed|anchored/;
/** Numbers so large, or so small, that what is left of a difference is rounding alone. */
const EXTREME = /e-?\d|0x|9007/;

const session: Session = {
  database: "public",
  timeZone: "UTC",
  user: { name: "fuzz", mode: "rw" },
  signal: new AbortController().signal,
};

/** Series of an answer at one moment by their labels, with their values. */
type Points = ReadonlyMap<string, number>;

/** Asks all queries. Nothing but an error of the query itself may come, in time, and no memory may stay. */
export async function fuzzInProcess(options: PromqlFuzzOptions): Promise<PromqlFuzzReport> {
  const { engine } = await Machine.start();
  for (const text of dataStatements()) await engineSql(engine, text);
  await engine.write("public", histogramBatch(), { autoCreate: true, tableOptions: {}, physicalTable: "histograms_physical" });
  const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", Number.POSITIVE_INFINITY);
  const promql = { samplesMax: 1_000_000, seriesMax: 0, pointsMax: 11_000, timeoutMillis: TIMEOUT_MILLIS, lookbackMillis: 300_000 };
  const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: MEMORY_BYTES_MAX, pool, promql });
  const report = new PromqlFuzzReport(options);
  const decoder = new TextDecoder();
  let asked = 0;
  for (const bytes of fuzzedQueries(options)) {
    const text = decoder.decode(bytes);
    const door = async <T>(name: string, ask: () => Promise<T>): Promise<T | undefined> => {
      const began = performance.now();
      const [outcome, value] = await outcomeOf(ask);
      report.answered(name, outcome, performance.now() - began, text);
      if (!KNOWN.has(outcome)) report.fail(`${name} failed with ${outcome}`, text);
      if (pool.used !== 0) report.fail(`${name} left ${pool.used} bytes of memory`, text);
      return value;
    };
    const times = { startMillis: FIRST_SECOND * 1000, endMillis: LAST_SECOND * 1000, stepMillis: MIDDLE / ((STEPS - 1) / 2) };
    const ask: QueryAsk = { ...times, query: text, isInstant: false, lookbackMillis: undefined, timeoutMillis: undefined };
    const moment = { startMillis: MIDDLE, endMillis: MIDDLE, stepMillis: 1 };
    const one = await door("moment", () => pointsOf(db, { ...ask, ...moment, isInstant: true }));
    const range = await door("range", () => pointsOf(db, ask));
    if (one !== undefined && range !== undefined && !OF_RANGE.test(text) && !EXTREME.test(text) && !areAlike(one, range))
      report.fail(`moment and range differ: ${shownPoints(one)} and ${shownPoints(range)}`, text);
    await door("rows", async () => {
      const request = { ...times, promql: text, span: { line: 1, column: 1 }, lookbackMillis: undefined, alias: undefined };
      for await (const result of db.promql.rows(request, session)) if (result.kind === "rows") for await (const _ of result.batches);
    });
    const [tree, printed] = [
      await door("tree", async () => atOnce(queryTreeJson(text))),
      await door("print", async () => atOnce(formattedQuery(text))),
    ];
    if (printed !== undefined && (await outcomeOf(async () => atOnce(queryTreeJson(printed))))[0] !== "Success")
      report.fail(`its print is no query: ${printed}`, text);
    if ((tree === undefined) !== (printed === undefined)) report.fail("it has a tree or a print, and not both", text);
    if (++asked % 2000 === 0) options.say(`${asked} queries in process`);
  }
  return report;
}

/** What a query may fail with. */
const KNOWN: ReadonlySet<string> = new Set([
  "Success",
  "InvalidSyntax",
  "InvalidArguments",
  "PlanQuery",
  "EngineExecuteQuery",
  "Unsupported",
  "RuntimeResourcesExhausted",
  "DeadlineExceeded",
]);

async function outcomeOf<T>(ask: () => Promise<T>): Promise<readonly [outcome: string, value: T | undefined]> {
  try {
    return [statusNameOf(StatusCode.Success), await ask()];
  } catch (error) {
    if (error instanceof DbError) return [statusNameOf(error.code), undefined];
    return [error instanceof Error ? (error.stack ?? error.message) : String(error), undefined];
  }
}

/** What an answer says of `MIDDLE`; of a range of samples all of them. */
async function pointsOf(db: LocalDb, ask: QueryAsk): Promise<Points> {
  const answer = await db.promql.query(ask, session);
  const step = (MIDDLE - ask.startMillis) / ask.stepMillis;
  const points = new Map<string, number>();
  try {
    const { result } = answer;
    switch (result.kind) {
      case "scalar":
        points.set("scalar", result.values[step] ?? Number.NaN);
        break;
      case "string":
        points.set(result.value, 0);
        break;
      case "vector":
        for await (const { labels, values, present } of eachOf(result.series))
          if (present?.[step] !== 0) points.set(JSON.stringify(labels), values[step] ?? Number.NaN);
        break;
      case "matrix":
        for await (const { labels, count } of result.series) points.set(JSON.stringify(labels), count);
    }
    return points;
  } finally {
    answer.done();
  }
}

function shownPoints(points: Points): string {
  return [...points].map(([labels, value]) => `${labels} ${value}`).join(" ");
}

/** Whether two answers have the same series, and values that differ by rounding alone. */
function areAlike(a: Points, b: Points): boolean {
  if (a.size !== b.size) return false;
  for (const [labels, x] of a) {
    const y = b.get(labels);
    if (y === undefined) return false;
    const isNear = Object.is(x, y) || x === y || Math.abs(x - y) <= TOLERANCE * Math.max(1, Math.abs(x), Math.abs(y));
    if (!isNear) return false;
  }
  return true;
}
