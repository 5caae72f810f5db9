/**
 * Jaeger's query API over the tables that OTLP traces write (contract http.md 8.2): services, operations, traces, as Jaeger's own page and
 * Grafana's data source ask for them. Errors have the shape of the API; a table that is not there is an answer without data.
 */
import type { Histogram } from "prom-client";
import { type DbError, invalidArguments, publicMessageOf } from "../../../base/error.ts";
import { httpStatusOf } from "../../../base/status-code.ts";
import { type Operation, operationsOf, servicesOf } from "../../../db/jaeger/names.ts";
import { type Parameters, searchOf, SEARCH_PARAMETERS, textOf } from "../../../db/jaeger/parameters.ts";
import { searchTraces, type TraceReader, type Traces, tracesById, tracesJson } from "../../../db/jaeger/traces.ts";
import { traceTableOf } from "../../../db/jaeger/trace-table.ts";
import type { FailureLog } from "../../common/failure-log.ts";
import { headerTextOf } from "../../common/header-text.ts";
import { databaseExists } from "../../common/database-name.ts";
import { answerBody, answerHooks } from "../answer-stream.ts";
import { sessionOf } from "../context.ts";
import type { Exchange } from "../exchange.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "../http-metrics.ts";
import type { HttpServerOptions } from "../options.ts";
import { repeatedPairs } from "../query-string.ts";
import { JSON_TYPE, jsonReply, type Reply } from "../reply.ts";
import type { Route } from "../router.ts";

const API = "/v1/jaeger/api";
const DEFAULT_TABLE = "opentelemetry_traces";
/** Ids are 16 bytes in hexadecimal; clients may leave zeros at the front out. */
const TRACE_ID = /^[0-9a-fA-F]{1,32}$/;
const TRACE_ID_DIGITS = 32;
/** Most traces that a request may name. */
const IDS_MAX = 100;
/** Characters of an answer that are encoded at once. */
const PIECE_CHARACTERS = 64 * 1024;
const NAMES: ReadonlySet<string> = new Set([...SEARCH_PARAMETERS, "spanKind"]);

/** What each endpoint has of a request. */
interface Ask extends TraceReader {
  readonly exchange: Exchange;
  /** Name of the table of spans. */
  readonly table: string;
  readonly parameters: Parameters;
  /** Answers with traces; ends the read when all of it is sent. */
  send(traces: Traces, errors: readonly JaegerError[]): Promise<Reply>;
}

interface JaegerError {
  readonly code: number;
  readonly msg: string;
  readonly traceID?: string;
}

/** The routes of this file; none when the protocol is off. */
export function jaegerRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  if (!options.jaeger.enabled) return [];
  const seconds = options.metrics.seconds("greptime_servers_jaeger_query_elapsed", "seconds a query of traces takes", "db", "path");
  const route = (path: string, answer: (ask: Ask) => Promise<Reply>): Route => ({
    path: `${API}${path}`,
    methods: { GET: (exchange) => timed(exchange, path, answer, { options, metrics, failures, seconds }) },
    errors: jaegerErrorReply,
  });
  return [
    route("/services", services),
    route("/services/{service}/operations", operationNames),
    route("/operations", operations),
    route("/traces", traces),
    route("/traces/{trace_id}", oneTrace),
  ];
}

interface Endpoint {
  readonly options: HttpServerOptions;
  readonly metrics: HttpMetrics;
  readonly failures: FailureLog;
  readonly seconds: Histogram<"db" | "path">;
}

async function timed(exchange: Exchange, path: string, answer: (ask: Ask) => Promise<Reply>, endpoint: Endpoint): Promise<Reply> {
  const { db, scheduler } = endpoint.options;
  const known = databaseExists(exchange.database, db);
  const stop = endpoint.seconds.startTimer({ db: known ? exchange.database : UNKNOWN_DATABASE, path: `${API}${path}` });
  const parameters = repeatedPairs(exchange.rawQuery, NAMES);
  if ("tooMany" in parameters) throw invalidArguments(`a request has ${parameters.tooMany} parameters at most`);
  const session = { ...sessionOf(exchange), client: exchange.client() };
  db.authorize(session, "read");
  exchange.setIdleTimeout(0);
  const permit = db.beginRead(session);
  let isHandedOn = false;
  const table = headerTextOf(exchange.request.headers, "x-greptime-trace-table-name") || DEFAULT_TABLE;
  const send = async (found: Traces, errors: readonly JaegerError[]): Promise<Reply> => {
    isHandedOn = true;
    const body = await answerBody(
      answerPieces(found, errors, () => permit.done()),
      answerHooks(exchange, endpoint.failures, endpoint.metrics),
      exchange.pace,
    );
    return { status: 200, headers: { "content-type": JSON_TYPE }, body };
  };
  try {
    return await answer({ exchange, db, session, permit, scheduler, parameters, table, send });
  } finally {
    if (!isHandedOn) permit.done();
    stop();
  }
}

async function services(ask: Ask): Promise<Reply> {
  return listed(await servicesOf(ask.table, ask));
}

async function operationNames(ask: Ask): Promise<Reply> {
  const service = segmentOf(ask.exchange, 5, "service");
  const found = await operationsOf(ask.table, service, undefined, ask);
  return listed(found === undefined ? undefined : [...new Set(found.map(({ name }) => name))]);
}

async function operations(ask: Ask): Promise<Reply> {
  const service = textOf(ask.parameters, "service");
  if (service === undefined) throw invalidArguments("parameter 'service' is required");
  const found: readonly Operation[] | undefined = await operationsOf(ask.table, service, textOf(ask.parameters, "spanKind"), ask);
  return listed(found);
}

async function traces(ask: Ask): Promise<Reply> {
  const ids = ask.parameters.get("traceID");
  if (ids !== undefined) return byIds(ask, ids);
  const search = searchOf(ask.parameters, ask.scheduler.clock);
  const table = traceTableOf(ask.db, ask.session, ask.table);
  if (table === undefined) return listed(undefined);
  return ask.send(await searchTraces(table, search, ask), []);
}

function oneTrace(ask: Ask): Promise<Reply> {
  return byIds(ask, [segmentOf(ask.exchange, 5, "trace id")]);
}

/** Those that are there, and an error for each that is not; 404 when there is none. */
async function byIds(ask: Ask, given: readonly string[]): Promise<Reply> {
  const bad = given.find((id) => !TRACE_ID.test(id));
  if (bad !== undefined) throw invalidArguments(`malformed trace id ${JSON.stringify(bad.slice(0, 64))}: it is 1 to 32 hexadecimal digits`);
  if (given.length > IDS_MAX) throw invalidArguments(`a request may name ${IDS_MAX} traces at most, not ${given.length}`);
  const ids = [...new Set(given.map((id) => id.toLowerCase().padStart(TRACE_ID_DIGITS, "0")))];
  const table = traceTableOf(ask.db, ask.session, ask.table);
  if (table === undefined) return listed(undefined);
  const found = await tracesById(table, ids, ask);
  const there = new Set(found.traces.map(({ id }) => id));
  const errors = ids.filter((id) => !there.has(id)).map((traceID) => ({ code: 404, msg: "trace not found", traceID }));
  if (there.size === 0) return jsonReply(404, envelope("null", 0, errors));
  return ask.send(found, errors);
}

/** A segment of the path, decoded. @throws DbError InvalidArguments */
function segmentOf({ path }: Exchange, index: number, what: string): string {
  try {
    return decodeURIComponent(path.split("/")[index] ?? "");
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw invalidArguments(`the ${what} is not percent-encoded UTF-8`);
  }
}

/** @param data undefined: the table is not there */
function listed(data: readonly unknown[] | undefined): Reply {
  return jsonReply(200, envelope(data === undefined ? "null" : JSON.stringify(data), data?.length ?? 0, []));
}

function envelope(data: string, total: number, errors: readonly JaegerError[]): string {
  return `{"data":${data}${envelopeEnd(total, errors)}`;
}

function envelopeEnd(total: number, errors: readonly JaegerError[]): string {
  return `,"total":${total},"limit":0,"offset":0,"errors":${JSON.stringify(errors)}}`;
}

/** Errors as clients of Jaeger know them. */
function jaegerErrorReply(error: DbError): Reply {
  const status = httpStatusOf(error.code);
  const reply = jsonReply(status, envelope("null", 0, [{ code: status, msg: publicMessageOf(error) }]));
  if (error.retryAfterSeconds === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, "retry-after": String(Math.ceil(error.retryAfterSeconds)) } };
}

/** The answer in pieces; calls `done` once when they end, fail or are no longer wanted. */
async function* answerPieces(found: Traces, errors: readonly JaegerError[], done: () => void): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  try {
    let held = '{"data":';
    for (const piece of tracesJson(found)) {
      held += piece;
      if (held.length < PIECE_CHARACTERS) continue;
      yield encoder.encode(held);
      held = "";
    }
    yield encoder.encode(held + envelopeEnd(found.traces.length, errors));
  } finally {
    done();
  }
}
