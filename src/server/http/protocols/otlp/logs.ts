/** How the OTLP endpoint takes logs (contract ingest.md 4.4). */
import { LogDecoder } from "../../../../ingest/otlp/decode.ts";
import { extractKeysOf } from "../../../../ingest/otlp/logs/extract-keys.ts";
import { headerTextOf } from "../../../common/header-text.ts";
import { KeptDecoders } from "../../../common/kept-decoders.ts";
import type { LogEndpoint } from "../logs/log-endpoint.ts";
import { LOG_SEMANTICS, needsNoPipelineStore, openPipeline, otlpPipelineOf } from "./log-pipeline.ts";
import type { OtlpSignal, OtlpWrite } from "./signal.ts";
import { writeOptionsOf } from "../../../common/write-options.ts";
import { checkTableName } from "../../../../table/names.ts";

const DEFAULT_TABLE = "opentelemetry_logs";

/** The logs of one thread. */
export function otlpLogs(endpoint: LogEndpoint): OtlpSignal {
  const { options } = endpoint;
  const decoders = new KeptDecoders(() => new LogDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  return {
    name: "logs",
    request: "LogsRequest",
    rejectedName: "rejectedLogRecords",
    isServedHere: needsNoPipelineStore,
    open: (exchange, accepted) => {
      const { request, database } = exchange;
      const { headers } = request;
      const table = headerTextOf(headers, "x-greptime-log-table-name") || DEFAULT_TABLE;
      checkTableName(table);
      const pipeline = otlpPipelineOf(headers);
      if (pipeline !== undefined) return openPipeline(pipeline, table, exchange, accepted, endpoint);
      const extractKeys = extractKeysOf(headerTextOf(headers, "x-greptime-log-extract-keys"));
      const writeOptions = writeOptionsOf(accepted.hints, options, "log", LOG_SEMANTICS);
      const decode = (body: Uint8Array): OtlpWrite => ({
        result: decoders.of(database).decode(body, { database, table, extractKeys, schemas: options.db.schemas }),
        options: writeOptions,
      });
      return { kind: "decoded", decode };
    },
  };
}
