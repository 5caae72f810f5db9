/** How the OTLP endpoint takes logs (contract ingest.md 4.4). */
import { LogDecoder } from "../../ingest/otlp/decode.ts";
import { extractKeysOf } from "../../ingest/otlp/logs/extract-keys.ts";
import { headerTextOf } from "./header-text.ts";
import { LineDecoders } from "./line-decoders.ts";
import type { LogDoor } from "./log-door.ts";
import { needsNoPipelineStore, openPipeline, otlpPipelineOf } from "./otlp-log-pipeline.ts";
import type { OtlpSignal, OtlpWrite } from "./otlp-signal.ts";
import { checkTable, writeOptionsOf } from "./write-door.ts";

const SEMANTICS = { "greptime.semantic.signal_type": "log", "greptime.semantic.source": "opentelemetry" } as const;
const DEFAULT_TABLE = "opentelemetry_logs";

/** The logs of one thread. */
export function otlpLogs(logDoor: LogDoor): OtlpSignal {
  const { options } = logDoor;
  const decoders = new LineDecoders(() => new LogDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  return {
    name: "logs",
    request: "LogsRequest",
    rejectedName: "rejectedLogRecords",
    isServedHere: needsNoPipelineStore,
    open: (exchange, door) => {
      const { request, database } = exchange;
      const { headers } = request;
      const table = headerTextOf(headers, "x-greptime-log-table-name") || DEFAULT_TABLE;
      checkTable(table);
      const pipeline = otlpPipelineOf(headers);
      if (pipeline !== undefined) return openPipeline(pipeline, table, exchange, door, logDoor);
      const extractKeys = extractKeysOf(headerTextOf(headers, "x-greptime-log-extract-keys"));
      const writeOptions = writeOptionsOf(door.hints, options, "log", SEMANTICS);
      const decode = (body: Uint8Array): OtlpWrite => ({
        result: decoders.of(database).decode(body, { database, table, extractKeys, schemas: options.db.schemas }),
        options: writeOptions,
      });
      return { kind: "decoded", decode };
    },
  };
}
