/** How the OTLP endpoint takes logs (contract ingest.md 4.4). */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { LogDecoder } from "../../ingest/otlp/decode.ts";
import { extractKeysOf } from "../../ingest/otlp/logs/extract-keys.ts";
import { LineDecoders } from "./line-decoders.ts";
import type { IngestServerOptions } from "./options.ts";
import type { OtlpSignal } from "./otlp-signal.ts";
import { isTableName, writeOptionsOf } from "./write-door.ts";

const SEMANTICS = { "greptime.semantic.signal_type": "log", "greptime.semantic.source": "opentelemetry" } as const;
const DEFAULT_TABLE = "opentelemetry_logs";
/** Headers that choose a pipeline, the older one first. */
const PIPELINE_HEADERS = ["x-greptime-log-pipeline-name", "x-greptime-pipeline-name"] as const;

/** The logs of one thread. */
export function otlpLogs(options: IngestServerOptions): OtlpSignal {
  const decoders = new LineDecoders(() => new LogDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  return {
    name: "logs",
    request: "LogsRequest",
    rejectedName: "rejectedLogRecords",
    open: ({ request, database }, { hints }) => {
      const { headers } = request;
      const table = headers.get("x-greptime-log-table-name") || DEFAULT_TABLE;
      if (!isTableName(table)) throw new DbError(StatusCode.InvalidArguments, `Invalid table name: ${table}`);
      const pipeline = PIPELINE_HEADERS.map((name) => headers.get(name)).find((name) => name !== null);
      if (pipeline !== undefined) throw pipelineError(pipeline);
      const extractKeys = extractKeysOf(headers.get("x-greptime-log-extract-keys"));
      const writeOptions = writeOptionsOf(hints, options, "log", SEMANTICS);
      return (body) => ({
        result: decoders.of(database).decode(body, { database, table, extractKeys, schemas: options.db.schemas }),
        options: writeOptions,
      });
    },
  };
}

function pipelineError(pipeline: string): DbError {
  if (/^greptime_trace_v\d$/.test(pipeline)) return new DbError(StatusCode.InvalidArguments, "Unsupported pipeline for logs.");
  return new DbError(StatusCode.Unsupported, `cannot use pipeline ${pipeline}: logs of OTLP go to their table without a pipeline`);
}
