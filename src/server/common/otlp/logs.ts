/** How servers of OTLP take logs (contract ingest.md 4.4). */
import { LogDecoder } from "../../../ingest/otlp/decode.ts";
import { extractKeysOf } from "../../../ingest/otlp/logs/extract-keys.ts";
import { headerTextOf } from "../header-text.ts";
import { KeptDecoders } from "../kept-decoders.ts";
import { LOG_SEMANTICS, otlpPipelineOf } from "./log-headers.ts";
import { type LogPipelineParts, openPipeline } from "./log-pipeline.ts";
import type { OtlpOptions, OtlpSignal, OtlpWrite } from "./signal.ts";
import { writeOptionsOf } from "../write-options.ts";
import { checkTableName } from "../../../table/names.ts";

const DEFAULT_TABLE = "opentelemetry_logs";

/** The logs of one thread. */
export function otlpLogs(options: OtlpOptions, pipelines: LogPipelineParts): OtlpSignal {
  const decoders = new KeptDecoders(() => new LogDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  return {
    name: "logs",
    form: "records",
    request: "LogsRequest",
    rejectedName: "rejectedLogRecords",
    open: (ask, accepted) => {
      const { headers, database } = ask;
      const table = headerTextOf(headers, "x-greptime-log-table-name") || DEFAULT_TABLE;
      checkTableName(table);
      const pipeline = otlpPipelineOf(headers);
      if (pipeline !== undefined) return openPipeline(pipeline, table, ask, accepted, pipelines);
      const extractKeys = extractKeysOf(headerTextOf(headers, "x-greptime-log-extract-keys"));
      const writeOptions = writeOptionsOf(accepted.hints, options, "log", LOG_SEMANTICS);
      const decode = (body: Uint8Array): OtlpWrite => ({
        result: decoders.of(database).decode(body, { database, table, extractKeys, schemas: options.db.schemas }),
        options: writeOptions,
      });
      return { kind: "decoded", begin: () => ({ look: (body) => void decode(body), decode }) };
    },
  };
}
