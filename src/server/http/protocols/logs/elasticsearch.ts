/**
 * The part of Elasticsearch's interface that shippers of logs use (contract ingest.md 7.1): `_bulk`, and what they ask before they send.
 */
import { type DbError, publicMessageOf, invalidArguments } from "../../../../base/error.ts";
import { httpStatusOf, StatusCode } from "../../../../base/status-code.ts";
import { decodeBulk } from "../../../../ingest/elasticsearch/decode.ts";
import { textOf } from "../../../../ingest/ndjson/decode.ts";
import { codingOf } from "../../body/decompress.ts";
import type { Exchange } from "../../exchange.ts";
import { counted, type LogEndpoint } from "./log-endpoint.ts";
import { needsNoStore, queriedPipelineName } from "./log-parameters.ts";
import { pipelineFlagsOf, readyPipeline, valueOf } from "../../../common/logs/pipeline-flags.ts";
import { writeLogs } from "../../../common/logs/log-write.ts";
import { emptyReply, JSON_TYPE, type Reply } from "../../reply.ts";
import type { Handler, Route } from "../../router.ts";
import { writeBody, acceptWrite } from "../accepted-write.ts";
import { IDENTITY_NAME } from "../../../../ingest/pipeline/types.ts";

const BASE = "/v1/elasticsearch";
/** Clients refuse to talk to a server that does not say this. */
const HEADERS: Readonly<Record<string, string>> = { "content-type": JSON_TYPE, "x-elastic-product": "Elasticsearch" };
const SEMANTICS = { "greptime.semantic.signal_type": "log", "greptime.semantic.source": "elasticsearch" } as const;
const LICENSE = {
  uid: "cbff45e7-c553-41f7-ae4f-9205eabd80xx",
  type: "oss",
  status: "active",
  expiry_date_in_millis: 4_891_198_687_000,
};
/** Trees of settings: Logstash and Filebeat set up what is not there and needs no setting up. `{}` stands for one segment. */
const STUBS: readonly string[] = ["_ilm/policy", "_index_template", "_ingest", "_nodes", "logstash", "_logstash"];
const STUB_DEPTH_MAX = 4;

/** The routes of this file. */
export function elasticsearchRoutes(endpoint: LogEndpoint): readonly Route[] {
  const version = json({ version: { number: "8.16.0" } });
  const bulk = counted("elasticsearch", endpoint, writeBulk);
  const shared = { methods: { POST: bulk }, errors: bulkErrorReply, ingest: "elasticsearch", isServedHere: needsNoStore } as const;
  return [
    { path: BASE, methods: { GET: () => version }, errors: "plain" },
    { path: `${BASE}/`, methods: { GET: () => version }, errors: "plain" },
    { path: `${BASE}/_license`, methods: { GET: () => json({ license: LICENSE }) }, errors: "plain" },
    { path: `${BASE}/_bulk`, ...shared },
    { path: `${BASE}/{index}/_bulk`, ...shared },
    ...STUBS.flatMap(stubRoutes),
  ];
}

function stubRoutes(tree: string): readonly Route[] {
  const nothing: Handler = () => json({});
  const methods = { GET: nothing, POST: nothing, PUT: nothing, DELETE: nothing };
  const paths = Array.from(
    { length: STUB_DEPTH_MAX },
    (_, depth) =>
      `${BASE}/${tree}${Array(depth + 1)
        .fill("/{}")
        .join("")}`,
  );
  return [`${BASE}/${tree}`, ...paths].map((path) => ({ path, methods, errors: "plain" }));
}

async function writeBulk(exchange: Exchange, endpoint: LogEndpoint): Promise<Reply> {
  const { options, store } = endpoint;
  const { rawQuery, request, path } = exchange;
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && codingOf(coding) === undefined) return emptyReply(415, HEADERS);
  if (request.headers.get("content-type") === null) {
    return {
      status: 400,
      headers: { ...HEADERS, "content-type": "text/plain; charset=utf-8" },
      body: "Header of type `content-type` was missing",
    };
  }
  const accepted = acceptWrite(exchange, options.db);
  const name = queriedPipelineName(rawQuery, request.headers) ?? IDENTITY_NAME;
  const pipeline = await readyPipeline(name, valueOf(rawQuery, "version"), store);
  const body = await writeBody(exchange, options, true, (why) => bulkErrorReply(invalidArguments(why), 0));
  if (!(body instanceof Uint8Array)) return { ...body, headers: { ...HEADERS, ...body.headers } };
  const bulkOptions = { index: indexOf(path), messageField: valueOf(rawQuery, "msg_field") };
  let documentCount = 0;
  const { failure } = await writeLogs(exchange, endpoint, {
    protocol: "elasticsearch",
    accepted,
    pipeline,
    ...pipelineFlagsOf(exchange.request.headers, exchange.rawQuery),
    nowNanos: options.clock.nowNanos(),
    semantics: SEMANTICS,
    items: () => {
      const bulk = decodeBulk(textOf(body), bulkOptions);
      documentCount = bulk.documentCount;
      return bulk.tables;
    },
  });
  const took = Math.floor(options.clock.monotonicMillis() - exchange.startedMs);
  if (failure !== undefined) return bulkErrorReply(failure, took);
  const items = Array.from({ length: documentCount }, () => '{"create":{"status":201}}').join(",");
  return { status: 200, headers: HEADERS, body: `{"took":${took},"errors":false,"items":[${items}]}` };
}

/** The index of `/v1/elasticsearch/{index}/_bulk`. */
function indexOf(path: string): string | undefined {
  const segment = path.slice(BASE.length + 1, -"/_bulk".length);
  if (segment === "") return undefined;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return segment;
  }
}

/** An error as the answer of one item. Senders tell by its status whether to send again. */
function bulkErrorReply(error: DbError, took: number): Reply {
  const status = httpStatusOf(error.code);
  const retry = error.retryAfterSeconds === undefined ? {} : { "retry-after": String(Math.ceil(error.retryAfterSeconds)) };
  const isParse = error.code === StatusCode.InvalidArguments;
  const reason = { type: isParse ? "illegal_argument_exception" : "exception", reason: publicMessageOf(error) };
  const body = { took, errors: true, items: [{ create: { status, error: reason } }] };
  return { status, headers: { ...HEADERS, ...retry }, body: JSON.stringify(body) };
}

function json(value: unknown): Reply {
  return { status: 200, headers: HEADERS, body: JSON.stringify(value) };
}
