/** The HTTP event collector of Splunk (contract ingest.md 7.2): `/event`, `/raw`, `/health`. */
import type { ReadyPipeline } from "../../../../db/pipelines/pipeline-store.ts";
import { DbError } from "../../../../base/error.ts";
import { textOf } from "../../../../ingest/ndjson/decode.ts";
import { decodeEvents, decodeRaw, tableName } from "../../../../ingest/splunk/decode.ts";
import { promoteTags } from "../../../../ingest/splunk/promote.ts";
import { INVALID_FORMAT, INVALID_INDEX, invalidFormat } from "../../../../ingest/splunk/refusals.ts";
import type { EventOptions, Events, Refusal } from "../../../../ingest/splunk/types.ts";
import { codingOf } from "../../body/decompress.ts";
import type { Exchange } from "../../exchange.ts";
import { counted, type LogEndpoint } from "./log-endpoint.ts";
import { needsNoStore, queriedPipelineName } from "./log-parameters.ts";
import { pipelineFlagsOf, readyPipeline, valueOf } from "../../../common/logs/pipeline-flags.ts";
import { writeLogs } from "../../../common/logs/log-write.ts";
import type { Reply } from "../../reply.ts";
import type { Handler, Route } from "../../router.ts";
import { splunkAuthReply, splunkErrorReply, splunkRefusal, splunkReply } from "./splunk-reply.ts";
import { isName } from "../../../../table/names.ts";
import { writeBody, acceptWrite } from "../accepted-write.ts";
import { IDENTITY_NAME } from "../../../../ingest/pipeline/types.ts";

const BASE = "/v1/splunk/services/collector";
const DEFAULT_TABLE = "splunk_logs";
const SUCCESS: Reply = splunkReply(200, "Success", 0);
const HEALTHY: Reply = splunkReply(200, "HEC is healthy", 17);

/** Reads the text of a body. */
type Decode = (text: string, options: EventOptions, rawQuery: string) => Events | Refusal;

/** How both kinds of refusal look. */
const ERRORS: Pick<Route, "errors" | "unauthorized"> = { errors: splunkErrorReply, unauthorized: splunkAuthReply };

/** The routes of this file. */
export function splunkRoutes(endpoint: LogEndpoint): readonly Route[] {
  const taking = (decode: Decode): Handler => counted("splunk", endpoint, (exchange) => take(exchange, endpoint, decode));
  const route = (path: string, handler: Handler): Route => {
    return { path: BASE + path, methods: { POST: handler }, ...ERRORS, ingest: "splunk", isServedHere: needsNoStore };
  };
  const events = taking(decodeEvents);
  const raw = taking(rawEvents);
  return [
    ...["", "/event", "/event/1.0"].map((path) => route(path, events)),
    ...["/raw", "/raw/1.0"].map((path) => route(path, raw)),
    ...["/health", "/health/1.0"].map((path): Route => {
      return { path: BASE + path, methods: { GET: () => HEALTHY }, ...ERRORS };
    }),
  ];
}

function rawEvents(text: string, options: EventOptions, rawQuery: string): Events | Refusal {
  const index = valueOf(rawQuery, "index");
  return decodeRaw(text, {
    ...options,
    table: index === undefined ? options.table : tableName(index),
    host: valueOf(rawQuery, "host"),
    source: valueOf(rawQuery, "source"),
    sourcetype: valueOf(rawQuery, "sourcetype"),
    time: valueOf(rawQuery, "time"),
    lineBreaker: valueOf(rawQuery, "linebreaker"),
  });
}

async function take(exchange: Exchange, endpoint: LogEndpoint, decode: Decode): Promise<Reply> {
  const { options, store } = endpoint;
  const { rawQuery, request } = exchange;
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && codingOf(coding) === undefined) return splunkRefusal(INVALID_FORMAT);
  const accepted = acceptWrite(exchange, options.db);
  const table = valueOf(rawQuery, "table") ?? DEFAULT_TABLE;
  if (!isName(table)) return splunkRefusal(INVALID_INDEX);
  const name = queriedPipelineName(rawQuery, request.headers) ?? IDENTITY_NAME;
  const isIdentity = name === IDENTITY_NAME;
  const { timeColumn } = options.influx;
  const pipeline: ReadyPipeline = await readyPipeline(name, valueOf(rawQuery, "version"), store, `${timeColumn};epoch;ns`);
  const body = await writeBody(exchange, options, true, (why) => splunkRefusal(invalidFormat(why)));
  if (!(body instanceof Uint8Array)) return body;
  const text = utf8TextOf(body);
  if (text === undefined) return splunkRefusal(INVALID_FORMAT);
  const nowNanos = options.clock.nowNanos();
  const eventOptions: EventOptions = { table, timeColumn, nowNanos, isTimeNumber: isIdentity };
  let decoded: Events | Refusal | undefined = decode(text, eventOptions, rawQuery);
  if (decoded.kind === "refused") return splunkRefusal(decoded);
  const { tags } = decoded;
  const { failure } = await writeLogs(exchange, endpoint, {
    protocol: "splunk",
    accepted,
    pipeline,
    ...pipelineFlagsOf(exchange.request.headers, exchange.rawQuery),
    nowNanos,
    semantics: {},
    items: () => {
      // The first rows are those decoded above; a pipeline changes them, so that another round needs new ones.
      const events = decoded ?? decode(text, eventOptions, rawQuery);
      decoded = undefined;
      return events.kind === "events" ? events.tables : [];
    },
    ...(isIdentity ? { changed: (batch) => promoteTags(batch, tags, exchange.database, options.db.schemas) } : {}),
  });
  return failure === undefined ? SUCCESS : splunkErrorReply(failure);
}

/** Undefined when a body is no text. */
function utf8TextOf(body: Uint8Array): string | undefined {
  try {
    return textOf(body);
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return undefined;
  }
}
