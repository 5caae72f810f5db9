/**
 * The push endpoint of Loki (contract ingest.md 5): protobuf in a snappy block, or JSON. It asks nothing of the database but to take
 * writes, so that every ingest thread serves it.
 *
 * Malformed entries are left out with a warning in the log, as the protocol has it; entries that are too long or out of range are answered
 * with 400 once the others are durable.
 */
import { Counter, Histogram } from "prom-client";
import { DbError } from "../../base/error.ts";
import { REQUEST_SECONDS_BUCKETS } from "../../base/metrics.ts";
import { StatusCode } from "../../base/status-code.ts";
import { decodeSnappy, SnappyError, snappyLength } from "../../format/snappy/decode.ts";
import { LokiBodyError, LokiDecoder, type LokiForm, type LokiResult } from "../../ingest/loki/decode.ts";
import { databaseExists } from "./context.ts";
import { decodedAndWritten } from "./decoded-and-written.ts";
import { plainErrorReply } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { UNKNOWN_DATABASE } from "./http-metrics.ts";
import { OVER_IN_FLIGHT } from "./in-flight.ts";
import { LineDecoders } from "./line-decoders.ts";
import type { IngestServerOptions } from "./options.ts";
import { jsonReply, type Reply, textReply } from "./reply.ts";
import type { Route } from "./router.ts";
import { doorBody, isTableName, openDoor, writeOptionsOf } from "./write-door.ts";

const SEMANTICS = { "greptime.semantic.signal_type": "log", "greptime.semantic.source": "loki" } as const;
const DEFAULT_TABLE = "loki_logs";
/** Most bytes that a block may decode to when the body limit is off: what one buffer can hold. */
const UNLIMITED_BYTES = 2 ** 32 - 16;

const FORMS: Readonly<Record<string, LokiForm>> = { "application/json": "json", "application/x-protobuf": "protobuf" };
/** Headers that choose a pipeline, the older ones first. */
const PIPELINE_HEADERS = ["x-greptime-log-pipeline-name", "x-greptime-pipeline-name"] as const;

/** What the endpoint works with. */
interface LokiDoor {
  readonly options: IngestServerOptions;
  readonly decoders: LineDecoders<LokiDecoder>;
  readonly rows: Counter<"db">;
  readonly seconds: Histogram<"db" | "result">;
}

/** The routes of this file, which any thread serves. */
export function lokiRoutes(options: IngestServerOptions): readonly Route[] {
  const decoders = new LineDecoders(() => new LokiDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  const registers = [options.metrics.registry];
  const door: LokiDoor = {
    options,
    decoders,
    rows: new Counter({ name: "greptime_servers_loki_logs_ingestion_counter", help: "log lines pushed", labelNames: ["db"], registers }),
    seconds: new Histogram({
      name: "greptime_servers_loki_logs_ingestion_elapsed",
      help: "seconds a push takes",
      labelNames: ["db", "result"],
      buckets: [...REQUEST_SECONDS_BUCKETS],
      registers,
    }),
  };
  return [{ path: "/v1/loki/api/v1/push", methods: { POST: async (exchange) => timedPush(exchange, door) }, errors: "coded" }];
}

async function timedPush(exchange: Exchange, door: LokiDoor): Promise<Reply> {
  const db = databaseExists(exchange.database, door.options.db) ? exchange.database : UNKNOWN_DATABASE;
  const stop = door.seconds.startTimer({ db });
  let result = "failure";
  try {
    const reply = await push(exchange, door);
    if (reply.status < 300) result = "success";
    return reply;
  } finally {
    stop({ result });
  }
}

async function push(exchange: Exchange, door: LokiDoor): Promise<Reply> {
  const { options } = door;
  const { headers } = exchange.request;
  const { session, hints } = openDoor(exchange, options.db);
  const writeOptions = writeOptionsOf(hints, options, "log", SEMANTICS);
  const type = headers.get("content-type");
  if (type === null) return textReply(400, "Header of type `content-type` was missing");
  const form = Object.hasOwn(FORMS, type) ? FORMS[type] : undefined;
  if (form === undefined) {
    return refused(`Unsupported content type: ${type}; a push is application/json or application/x-protobuf`, StatusCode.InvalidArguments);
  }
  const table = headers.get("x-greptime-log-table-name") || DEFAULT_TABLE;
  if (!isTableName(table)) return refused(`Invalid table name: ${table}`, StatusCode.InvalidArguments);
  const pipeline = PIPELINE_HEADERS.map((name) => headers.get(name)).find((name) => name !== null);
  if (pipeline !== undefined) return refused(`cannot use pipeline ${pipeline}: this endpoint has no pipelines yet`, StatusCode.Unsupported);
  const sent = await doorBody(exchange, options, true);
  if (!(sent instanceof Uint8Array)) return sent;
  const body = form === "protobuf" ? await unpacked(exchange, sent, options.bodyBytesMax) : sent;
  if (!(body instanceof Uint8Array)) return body;
  const decode = (): LokiResult | Reply => {
    try {
      return door.decoders.of(exchange.database).decode(body, form, table);
    } catch (error) {
      if (error instanceof LokiBodyError) return bodyRefused(form, error.message);
      throw error;
    }
  };
  return decodedAndWritten(async () => {
    await options.db.admit(exchange.signal);
    const result = decode();
    if ("status" in result) return result;
    // Read before the write: the result is borrowed, and other requests decode while this one waits for the disk.
    const { rowCount, refused: left } = result;
    if (rowCount > 0) await options.db.write(result.batch, session, writeOptions);
    door.rows.inc({ db: exchange.database }, rowCount);
    warnOf(result, door, table);
    if (left !== undefined) {
      const count = rowCount + left.count;
      return refused(`cannot keep ${left.count} of ${count} entries (${rowCount} are kept): ${left.reason}`, StatusCode.InvalidArguments);
    }
    const millis = Math.floor(options.clock.monotonicMillis() - exchange.startedMs);
    const output = rowCount === 0 ? [] : [{ affectedrows: rowCount }];
    return jsonReply(200, JSON.stringify({ output, execution_time_ms: millis }));
  });
}

/** The message inside its snappy block, once there is room for it; or the answer that refuses it. */
async function unpacked(exchange: Exchange, sent: Uint8Array, bodyBytesMax: number): Promise<Uint8Array | Reply> {
  const bytesMax = bodyBytesMax === 0 ? UNLIMITED_BYTES : bodyBytesMax;
  if (sent.length === 0) return bodyRefused("protobuf", "the body is empty");
  try {
    const { length } = snappyLength(sent);
    if (length > bytesMax) return textReply(413, "Failed to buffer the request body: length limit exceeded");
    if (!(await exchange.share.resize(sent.length + length, exchange.signal))) return OVER_IN_FLIGHT;
    return decodeSnappy(sent, bytesMax);
  } catch (error) {
    if (error instanceof SnappyError) return bodyRefused("protobuf", `it is no snappy block: ${error.message}`);
    throw error;
  }
}

function warnOf({ skipped, unlabelled }: LokiResult, { options }: LokiDoor, table: string): void {
  if (skipped !== undefined) {
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
