/** `/v1/ingest` and its older name `/v1/events/logs` (contract ingest.md 8.1): JSON, NDJSON or text through a pipeline into one table. */
import { documentTypeOf } from "../../../../ingest/ndjson/decode.ts";
import { DOCUMENT_TYPES } from "../../../../ingest/ndjson/types.ts";
import { codedErrorReply } from "../../errors.ts";
import type { Exchange } from "../../exchange.ts";
import { counted, type LogEndpoint } from "./log-endpoint.ts";
import { needsNoStore, pipelineNameOf } from "./log-parameters.ts";
import { invalidParameter, pipelineFlagsOf, readyPipeline, valueOf } from "../../../common/logs/pipeline-flags.ts";
import { writeLogs } from "../../../common/logs/log-write.ts";
import { JSON_TYPE, type Reply, textReply } from "../../reply.ts";
import type { Route } from "../../router.ts";
import { writeBody, acceptWrite } from "../accepted-write.ts";

/** The routes of this file. */
export function ingestLogRoutes(endpoint: LogEndpoint): readonly Route[] {
  const handler = counted("ingest", endpoint, ingest);
  const shared = { methods: { POST: handler }, errors: "plain", ingest: "logs", isServedHere: needsNoStore } as const;
  return [
    { path: "/v1/ingest", ...shared },
    { path: "/v1/events/logs", ...shared },
  ];
}

async function ingest(exchange: Exchange, endpoint: LogEndpoint): Promise<Reply> {
  const { options, store } = endpoint;
  const { rawQuery, request } = exchange;
  const header = request.headers.get("content-type");
  if (header === null) return textReply(400, "Header of type `content-type` was missing");
  const type = documentTypeOf(header);
  if (type === undefined) {
    throw invalidParameter(`invalid content type: ${header.slice(0, 120)}, expected: one of ${DOCUMENT_TYPES.join(", ")}`);
  }
  const table = valueOf(rawQuery, "table");
  if (table === undefined) throw invalidParameter("table is required");
  const name = pipelineNameOf(rawQuery, request.headers);
  if (name === undefined) throw invalidParameter("pipeline_name is required");
  const flags = pipelineFlagsOf(exchange.request.headers, exchange.rawQuery);
  const accepted = acceptWrite(exchange, options.db);
  const pipeline = await readyPipeline(name, valueOf(rawQuery, "version"), store, valueOf(rawQuery, "custom_time_index"));
  const body = await writeBody(exchange, options, true);
  if (!(body instanceof Uint8Array)) return body;
  const { affected, failure } = await writeLogs(exchange, endpoint, {
    protocol: "ingest",
    accepted,
    pipeline,
    ...flags,
    nowNanos: options.clock.nowNanos(),
    semantics: {},
    items: () => [{ table, body, type }],
  });
  const elapsed = Math.floor(options.clock.monotonicMillis() - exchange.startedMs);
  if (failure !== undefined) return codedErrorReply(failure, elapsed);
  const output = affected.map((affectedrows) => ({ affectedrows }));
  return {
    status: 200,
    headers: { "content-type": JSON_TYPE, "x-greptime-format": "greptimedb_v1", "x-greptime-execution-time": String(elapsed) },
    body: JSON.stringify({ output, execution_time_ms: elapsed }),
  };
}
