/**
 * `/v1/sql/analyze/stream` (contract http.md 2.8): an EXPLAIN ANALYZE VERBOSE whose figures are told while it runs, as server-sent events.
 *
 *   metrics* ─► final | canceled | error        `: keep-alive` every 15 s
 *
 * What fails before the query begins is an answer of its own; a client that leaves ends the query.
 */
import { invalidArguments, publicMessageOf } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { scalarAt } from "../../../../column/scalar.ts";
import { displayName } from "../../../../column/data-type.ts";
import type { Session } from "../../../../db/session.ts";
import type { StatementResult } from "../../../../query/statement-result.ts";
import { databaseOf } from "../../../common/database-name.ts";
import type { FailureLog } from "../../../common/failure-log.ts";
import { answerHooks, eventBody } from "../../answer-stream.ts";
import { sessionOf } from "../../context.ts";
import type { Exchange } from "../../exchange.ts";
import type { HttpMetrics } from "../../http-metrics.ts";
import type { HttpServerOptions } from "../../options.ts";
import { type Reply, textReply } from "../../reply.ts";
import type { Route } from "../../router.ts";
import { readSqlParameters } from "./sql-parameters.ts";

const PATH = "/v1/sql/analyze/stream";
const HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache" };
const INTERVAL_MS_DEFAULT = 5000;
const INTERVAL_MS_MIN = 1000;
const INTERVAL_MS_MAX = 60_000;
const KEEP_ALIVE_MS = 15_000;
/** Where figures are so long, they are sent no more often. */
const LONG: readonly { readonly bytes: number; readonly ms: number }[] = [
  { bytes: 10 * 1024 * 1024, ms: 30_000 },
  { bytes: 1024 * 1024, ms: 10_000 },
];

/** How a query ended. */
type Ending = { readonly kind: "done"; readonly output: object } | { readonly kind: "failed"; readonly thrown: unknown };

/** A query that runs. */
interface Running {
  /** Undefined until it runs. */
  figures: (() => object) | undefined;
  readonly begun: Promise<undefined>;
  readonly ending: Promise<Ending>;
  leave(): void;
}

/** What events are made with. */
interface Telling {
  readonly exchange: Exchange;
  readonly options: HttpServerOptions;
  readonly failures: FailureLog;
  readonly intervalMs: number;
}

/** The route of this file; none when it is off. */
export function analyzeRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  if (!options.analyzeStream) return [];
  const stream = (exchange: Exchange): Promise<Reply> => answer(exchange, options, metrics, failures);
  return [{ path: PATH, methods: { POST: stream }, errors: "coded" }];
}

async function answer(exchange: Exchange, options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): Promise<Reply> {
  const parameters = await readSqlParameters(exchange, options, "a form or nothing");
  if ("status" in parameters) return parameters;
  const { sql, db, snapshotIntervalMs } = parameters;
  const intervalMs = intervalOf(snapshotIntervalMs);
  if (intervalMs === undefined) {
    return textReply(400, "Failed to deserialize query string: snapshot_interval_ms: invalid digit found in string");
  }
  if (sql === undefined) throw invalidArguments("sql parameter is required.");
  const session = sessionOf(exchange, db === undefined ? exchange.database : databaseOf(db, options.db));
  exchange.setIdleTimeout(0);
  const { queries } = options.scheduler;
  await queries.take();
  try {
    const events = eventsOf(sql, { ...session, client: exchange.client() }, { exchange, options, failures, intervalMs });
    return { status: 200, headers: HEADERS, body: await eventBody(events, answerHooks(exchange, failures, metrics), exchange.pace) };
  } finally {
    queries.done();
  }
}

/** Milliseconds between two events of figures; undefined for what is no number. */
function intervalOf(text: string | undefined): number | undefined {
  if (text === undefined) return INTERVAL_MS_DEFAULT;
  if (!/^\d{1,20}$/.test(text)) return undefined;
  return Math.min(INTERVAL_MS_MAX, Math.max(INTERVAL_MS_MIN, Number(text)));
}

/** The events. @throws what the query throws before it runs */
async function* eventsOf(sql: string, session: Session, telling: Telling): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const running = begin(sql, session, telling);
  const { clock } = telling.options;
  const startedMs = clock.monotonicMillis();
  let seq = 0;
  let intervalMs = telling.intervalMs;
  const event = (state: string, partial: boolean, members: object): Uint8Array<ArrayBuffer> => {
    const elapsed_ms = Math.floor(clock.monotonicMillis() - startedMs);
    const metrics = running.figures === undefined ? {} : { metrics: [running.figures()] };
    const data = JSON.stringify({ seq: seq++, state, partial, elapsed_ms, ...metrics, ...members });
    for (const { bytes, ms } of LONG) if (data.length >= bytes) intervalMs = Math.max(intervalMs, ms);
    return bytesOf(`event: ${state}\ndata: ${data}\n\n`);
  };
  try {
    let ending = await Promise.race([running.begun, running.ending]);
    if (ending?.kind === "failed" && running.figures === undefined) throw ending.thrown;
    yield event("metrics", true, {});
    for (let waitedMs = 0; ending === undefined; ) {
      const waitMs = Math.min(KEEP_ALIVE_MS, intervalMs - waitedMs);
      ending = await endingWithin(running.ending, waitMs);
      if (ending !== undefined) break;
      waitedMs += waitMs;
      if (waitedMs < intervalMs) yield bytesOf(": keep-alive\n\n");
      else {
        yield event("metrics", true, {});
        waitedMs = 0;
      }
    }
    yield lastEvent(ending, event, telling);
  } finally {
    running.leave();
  }
}

/** Begins a query that ends when `leave` is called. */
function begin(sql: string, session: Session, { exchange, options }: Telling): Running {
  const leaving = new AbortController();
  const signal = AbortSignal.any([exchange.signal, leaving.signal]);
  const { promise: begun, resolve } = Promise.withResolvers<undefined>();
  const read = async (): Promise<Ending> => {
    try {
      const results = options.db.analyze(sql, { ...session, signal }, (figures) => {
        running.figures = figures;
        resolve(undefined);
      });
      for await (const result of results) return { kind: "done", output: await outputOf(result) };
      return { kind: "done", output: {} };
    } catch (thrown) {
      return { kind: "failed", thrown };
    }
  };
  const running: Running = { figures: undefined, begun, ending: Promise.resolve().then(read), leave: () => leaving.abort() };
  return running;
}

/** How it ended, when it does so in time. */
async function endingWithin(ending: Promise<Ending>, millis: number): Promise<Ending | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), millis);
  try {
    return await Promise.race([ending, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function lastEvent(
  ending: Ending,
  event: (state: string, partial: boolean, members: object) => Uint8Array<ArrayBuffer>,
  { exchange, failures }: Telling,
): Uint8Array<ArrayBuffer> {
  if (ending.kind === "done") return event("final", false, { output: ending.output });
  const { error } = failures.report(ending.thrown, { method: exchange.method, path: exchange.path }, () => exchange.client());
  const state = error.code === StatusCode.Cancelled ? "canceled" : "error";
  return event(state, true, { reason: publicMessageOf(error), code: error.code });
}

/** The few rows of EXPLAIN as `/v1/sql` shows them. */
async function outputOf(result: StatementResult): Promise<object> {
  if (result.kind === "affected") return { affectedrows: result.rowCount };
  const { headers, batches } = result;
  const rows: unknown[][] = [];
  for await (const { rowCount, vectors } of batches) {
    for (let row = 0; row < rowCount; row++) {
      rows.push(headers.map(({ type }, column) => (vectors[column] === undefined ? null : (scalarAt(vectors[column], type, row) ?? null))));
    }
  }
  const column_schemas = headers.map(({ name, type }) => ({ name, data_type: displayName(type) }));
  return { records: { schema: { column_schemas }, rows, total_rows: rows.length } };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
