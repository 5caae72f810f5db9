/**
 * The push endpoint of Loki (contract ingest.md 5): protobuf in a snappy block, or JSON. It asks nothing of the database but to take
 * writes, so that every ingest thread serves it.
 *
 * Malformed entries are left out with a warning in the log, as the protocol has it; entries that are too long or out of range are answered
 * with 400 once the others are durable.
 */
import type { Counter, Histogram } from "prom-client";
import { DbError } from "../../../base/error.ts";
import { httpStatusOf, StatusCode } from "../../../base/status-code.ts";
import { decodeSnappy, SnappyError, snappyLength } from "../../../format/snappy/decode.ts";
import { nameFlaw, shownName } from "../../../table/names.ts";
import { LokiBodyError, LokiDecoder, type LokiForm, type LokiResult } from "../../../ingest/loki/decode.ts";
import { databaseExists } from "../../common/database-name.ts";
import type { LogEndpoint } from "./logs/log-endpoint.ts";
import { type TableItems, writeLogs } from "../../common/logs/log-write.ts";
import { headersNeedNoStore, type PipelineStep, pipelineStepOf } from "./logs/pipeline-step.ts";
import { lokiPipelineRows } from "../../../ingest/loki/pipeline-rows.ts";
import { decodedAndWritten } from "../../../table/decoded-and-written.ts";
import { plainErrorReply } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { UNKNOWN_DATABASE } from "../http-metrics.ts";
import { OVER_IN_FLIGHT } from "../body/in-flight.ts";
import { headerTextOf } from "../../common/header-text.ts";
import { KeptDecoders } from "../../common/kept-decoders.ts";
import type { IngestServerOptions } from "../options.ts";
import { jsonReply, type Reply, textReply } from "../reply.ts";
import type { Route } from "../router.ts";
import type { AcceptedWrite } from "../../common/accepted-write.ts";
import { writeBody, acceptWrite } from "./accepted-write.ts";
import { writeOptionsOf } from "../../common/write-options.ts";

const SEMANTICS = { "greptime.semantic.signal_type": "log", "greptime.semantic.source": "loki" } as const;
const DEFAULT_TABLE = "loki_logs";
/** Most bytes that a block may decode to when the body limit is off: what one buffer can hold. */
const UNLIMITED_BYTES = 2 ** 32 - 16;

const FORMS: Readonly<Record<string, LokiForm>> = { "application/json": "json", "application/x-protobuf": "protobuf" };

/** What the endpoint works with. */
interface LokiEndpoint {
  readonly options: IngestServerOptions;
  readonly logs: LogEndpoint;
  readonly decoders: KeptDecoders<LokiDecoder>;
  readonly rows: Counter<"db">;
  readonly seconds: Histogram<"db" | "result">;
}

/** The routes of this file, which any thread serves. */
export function lokiRoutes(logs: LogEndpoint): readonly Route[] {
  const { options } = logs;
  const decoders = new KeptDecoders(() => new LokiDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  const endpoint: LokiEndpoint = {
    options,
    logs,
    decoders,
    rows: options.metrics.counter("greptime_servers_loki_logs_ingestion_counter", "log lines pushed", "db"),
    seconds: options.metrics.seconds("greptime_servers_loki_logs_ingestion_elapsed", "seconds a push takes", "db", "result"),
  };
  const methods = { POST: async (exchange: Exchange) => timedPush(exchange, endpoint) };
  return [{ path: "/v1/loki/api/v1/push", methods, errors: "coded", ingest: "loki", isServedHere: headersNeedNoStore }];
}

async function timedPush(exchange: Exchange, endpoint: LokiEndpoint): Promise<Reply> {
  const db = databaseExists(exchange.database, endpoint.options.db) ? exchange.database : UNKNOWN_DATABASE;
  const stop = endpoint.seconds.startTimer({ db });
  let result = "failure";
  try {
    const reply = await push(exchange, endpoint);
    if (reply.status < 300) result = "success";
    return reply;
  } finally {
    stop({ result });
  }
}

async function push(exchange: Exchange, endpoint: LokiEndpoint): Promise<Reply> {
  const { options } = endpoint;
  const { headers } = exchange.request;
  const opened = acceptWrite(exchange, options.db);
  const type = headers.get("content-type");
  if (type === null) return textReply(400, "Header of type `content-type` was missing");
  const form = Object.hasOwn(FORMS, type) ? FORMS[type] : undefined;
  if (form === undefined) {
    return refused(`Unsupported content type: ${type}; a push is application/json or application/x-protobuf`, StatusCode.InvalidArguments);
  }
  const table = headerTextOf(headers, "x-greptime-log-table-name") || DEFAULT_TABLE;
  const flaw = nameFlaw(table);
  if (flaw !== undefined) return refused(`Invalid table name: ${shownName(table)}: ${flaw}`, StatusCode.InvalidArguments);
  const { timeColumn } = options.influx;
  const step = await orRefused(() => pipelineStepOf(exchange, endpoint.logs, `${timeColumn};epoch;ns`));
  if (step !== undefined && "status" in step) return step;
  const sent = await writeBody(exchange, options, true);
  if (!(sent instanceof Uint8Array)) return sent;
  const body = form === "protobuf" ? await unpacked(exchange, sent, options.bodyBytesMax) : sent;
  if (!(body instanceof Uint8Array)) return body;
  const pushed: Push = { exchange, opened, body, form, table };
  try {
    return step === undefined ? await writePush(endpoint, pushed) : await pipePush(endpoint, pushed, step);
  } catch (error) {
    if (error instanceof LokiBodyError) return bodyRefused(form, error.message);
    throw error;
  }
}

/** A push that may be decoded. */
interface Push {
  readonly exchange: Exchange;
  readonly opened: AcceptedWrite;
  readonly body: Uint8Array;
  readonly form: LokiForm;
  readonly table: string;
}

/** @throws LokiBodyError, DbError */
function writePush(endpoint: LokiEndpoint, { exchange, opened, body, form, table }: Push): Promise<Reply> {
  const { options } = endpoint;
  const writeOptions = writeOptionsOf(opened.hints, options, "log", SEMANTICS);
  return decodedAndWritten(async () => {
    await options.db.admit(exchange.signal);
    const result = endpoint.decoders.of(exchange.database).decode(body, form, table);
    // Read before the write: the result is borrowed, and other requests decode while this one waits for the disk.
    const { rowCount } = result;
    if (rowCount > 0) await options.db.write(result.batch, opened.session, writeOptions);
    endpoint.rows.inc({ db: exchange.database }, rowCount);
    warnOf(result, endpoint, table, exchange);
    return answered(endpoint, exchange, result, rowCount === 0 ? [] : [rowCount]);
  });
}

/** Hands the entries to a pipeline instead of their table. @throws LokiBodyError, DbError */
async function pipePush(endpoint: LokiEndpoint, { exchange, opened, body, form, table }: Push, step: PipelineStep): Promise<Reply> {
  const { options, logs } = endpoint;
  const { isIdentity } = step;
  let result: LokiResult | undefined;
  const items = (): readonly TableItems[] => {
    result = endpoint.decoders.of(`${exchange.database}\npipeline`, pipelineDecoder).decode(body, form, table);
    return [{ table, rows: lokiPipelineRows(result.batch, { timeColumn: options.influx.timeColumn, isTimeNumber: isIdentity }) }];
  };
  const write = { protocol: "loki", accepted: opened, ...step, nowNanos: options.clock.nowNanos(), semantics: SEMANTICS, items } as const;
  const written = await orRefused(() => writeLogs(exchange, logs, write));
  if ("status" in written) return written;
  if (written.failure !== undefined) throw written.failure;
  const rowCount = written.affected.reduce((sum, count) => sum + count, 0);
  endpoint.rows.inc({ db: exchange.database }, rowCount);
  if (result !== undefined) warnOf(result, endpoint, table, exchange);
  return answered(endpoint, exchange, result, written.affected);
}

function pipelineDecoder(): LokiDecoder {
  return new LokiDecoder(undefined, true);
}

function answered({ options }: LokiEndpoint, exchange: Exchange, result: LokiResult | undefined, affected: readonly number[]): Reply {
  const left = result?.refused;
  if (result !== undefined && left !== undefined) {
    const { rowCount } = result;
    const count = rowCount + left.count;
    return refused(`cannot keep ${left.count} of ${count} entries (${rowCount} are kept): ${left.reason}`, StatusCode.InvalidArguments);
  }
  const millis = Math.floor(options.clock.monotonicMillis() - exchange.startedMs);
  const output = affected.map((affectedrows) => ({ affectedrows }));
  return jsonReply(200, JSON.stringify({ output, execution_time_ms: millis }));
}

/** What `work` gives, or the answer to an error of it: those of pipelines have no code. @throws DbError when the server cannot write */
async function orRefused<T>(work: () => Promise<T>): Promise<T | Reply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DbError && httpStatusOf(error.code) === 400) return plainErrorReply(error);
    throw error;
  }
}

/** Times its length that a snappy block can unfold to. */
const SNAPPY_TIMES_MAX = 64;

/** The message inside its snappy block, once there is room for it; or the answer that refuses it. */
async function unpacked(exchange: Exchange, sent: Uint8Array, bodyBytesMax: number): Promise<Uint8Array | Reply> {
  const bytesMax = bodyBytesMax === 0 ? UNLIMITED_BYTES : bodyBytesMax;
  if (sent.length === 0) return bodyRefused("protobuf", "the body is empty");
  try {
    const { length } = snappyLength(sent);
    if (length > bytesMax) return textReply(413, "Failed to buffer the request body: length limit exceeded");
    // As the decoder does: no memory is waited for because of a lie.
    if (length > sent.length * SNAPPY_TIMES_MAX) throw new SnappyError(`${sent.length} bytes cannot decode to ${length}`);
    if (!(await exchange.share.resize(sent.length + length, exchange.signal))) return OVER_IN_FLIGHT;
    return decodeSnappy(sent, bytesMax);
  } catch (error) {
    if (error instanceof SnappyError) return bodyRefused("protobuf", `it is no snappy block: ${error.message}`);
    throw error;
  }
}

function warnOf({ skipped, unlabelled }: LokiResult, { options }: LokiEndpoint, table: string, exchange: Exchange): void {
  if (skipped !== undefined) {
    exchange.ingest?.failed();
    options.logger.warn({ table, entries: skipped.count, reason: skipped.reason }, "entries of a push were left out");
  }
  if (unlabelled !== undefined) {
    options.logger.warn({ table, streams: unlabelled.count, reason: unlabelled.reason }, "streams of a push are kept without labels");
  }
}

function bodyRefused(form: LokiForm, why: string): Reply {
  return refused(form === "json" ? `Invalid Loki JSON request: ${why}` : `Failed to decode Loki push: ${why}`, StatusCode.InvalidArguments);
}

function refused(text: string, code: StatusCode): Reply {
  return plainErrorReply(new DbError(code, text));
}
