/** How servers of OTLP take traces (contract ingest.md 4.3). */
import { invalidArguments } from "../../../base/error.ts";
import { TraceDecoder, type TraceModel } from "../../../ingest/otlp/decode.ts";
import { headerTextOf } from "../header-text.ts";
import { KeptDecoders } from "../kept-decoders.ts";
import type { OtlpOptions, OtlpSignal, OtlpWrite } from "./signal.ts";
import { writeOptionsOf } from "../write-options.ts";
import { checkTableName } from "../../../table/names.ts";

/** What a Collector that knows nothing of pipelines means (contract README 19). */
const DEFAULT_PIPELINE = "greptime_trace_v1";
const DEFAULT_TABLE = "opentelemetry_traces";
const MODELS: Readonly<Record<string, TraceModel>> = { greptime_trace_v0: "v0", greptime_trace_v1: "v1" };

/** The traces of one thread. */
export function otlpTraces(options: OtlpOptions): OtlpSignal {
  const decoders = new KeptDecoders(() => new TraceDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  return {
    name: "traces",
    form: "records",
    request: "TracesRequest",
    rejectedName: "rejectedSpans",
    open: ({ headers, database }, { hints }) => {
      const pipeline = headers.get("x-greptime-pipeline-name")?.trim() || DEFAULT_PIPELINE;
      const model = Object.hasOwn(MODELS, pipeline) ? MODELS[pipeline] : undefined;
      if (model === undefined) {
        const known = Object.keys(MODELS).join(" or ");
        throw invalidArguments(`Unsupported pipeline for traces: ${pipeline}; it must be ${known}`);
      }
      const table = headerTextOf(headers, "x-greptime-trace-table-name") || DEFAULT_TABLE;
      checkTableName(table);
      const partitions = hints.get("trace_table_partitions");
      if (partitions !== undefined && !/^\d{1,9}$/.test(partitions)) {
        throw invalidArguments(`cannot use the hint trace_table_partitions=${partitions}: it must be a whole number`);
      }
      const semantics = { "greptime.semantic.signal_type": "trace", "greptime.semantic.source": "opentelemetry" };
      writeOptionsOf(hints, options, "trace", semantics); // Refuses hints before the body is read.
      const decode = (body: Uint8Array): OtlpWrite => {
        const result = decoders.of(database).decode(body, { database, table, model, schemas: options.db.schemas });
        const ofModel: Record<string, string> =
          model === "v0"
            ? semantics
            : {
                ...semantics,
                table_data_model: pipeline,
                "greptime.semantic.pipeline": pipeline,
                "greptime.semantic.entity.service.id": "service_name",
                "greptime.semantic.trace.conventions": result.conventions,
              };
        const accepted = result.rowCount;
        const { count } = result.rejected;
        return {
          result,
          options: writeOptionsOf(hints, options, "trace", ofModel),
          message: `Accepted ${accepted} spans, rejected ${count} spans: ${result.rejected.message}`,
          refusesAllRejected: true,
          after: {
            batch: result.auxiliary,
            options: {
              ...writeOptionsOf(hints, options, "trace", semantics),
              tableOptions: { comment: "Created on insertion", ...semantics, append_mode: "false" },
            },
          },
        };
      };
      return { kind: "decoded", begin: () => ({ look: (body) => void decode(body), decode }) };
    },
  };
}
