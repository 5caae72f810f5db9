/** OTLP over gRPC: gauges, which are those of remote write in other tables, and log records, which are those of OTLP/HTTP in another. */
import { LogsService } from "../../../proto/gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { MetricsService } from "../../../proto/gen/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js";
import { type Batch, isOf, labelOf, tableOf, timeOf, writerTag } from "../batch.ts";
import { type Door, deleteRequest } from "./door.ts";
import { answerOf, clientsOf, failureOf } from "./grpc-calls.ts";
import { otlpDoor } from "./otlp.ts";
import { millisOf, remoteWriteDoor, valueOf } from "./remote-write.ts";

const METRIC_TABLES = ["crash_gauge_0", "crash_gauge_1", "crash_gauge_2"];
const LOG_TABLE = "crash_otlp_grpc";

const metricsOf = clientsOf(MetricsService);
const logsOf = clientsOf(LogsService);

const text = (key: string, value: string) => ({ key, value: { value: { case: "stringValue" as const, value } } });

/** Points of three gauges, of one scope. */
function gaugesOf(batch: Batch) {
  const { writer, number, origin } = batch;
  const attributes = [text("origin", String(origin)), text("writer", writerTag(writer))];
  const metrics = METRIC_TABLES.map((name) => ({ name, points: [] as { readonly timeUnixNano: bigint; readonly value: number }[] }));
  for (let seat = 0; isOf(batch, seat, METRIC_TABLES.length); seat++) {
    const timeUnixNano = BigInt(millisOf(origin, seat)) * 1_000_000n;
    metrics[tableOf(origin, seat, METRIC_TABLES.length)]!.points.push({ timeUnixNano, value: valueOf(number, seat) });
  }
  return metrics
    .filter(({ points }) => points.length > 0)
    .map(({ name, points }) => {
      const dataPoints = points.map(({ timeUnixNano, value }) => ({
        attributes,
        timeUnixNano,
        value: { case: "asDouble" as const, value },
      }));
      return { name, data: { case: "gauge" as const, value: { dataPoints } } };
    });
}

/** Gauges; overwrites and deletes. */
export const otlpGrpcMetricsDoor: Door = {
  ...remoteWriteDoor,
  name: "otlp-grpc-metrics",
  tables: METRIC_TABLES,
  request(batch) {
    const { kind, writer, origin } = batch;
    if (kind === "delete") return deleteRequest(METRIC_TABLES, batch, `writer = '${writerTag(writer)}' AND origin = '${origin}'`);
    return {
      call: (grpcUrl) =>
        metricsOf(grpcUrl)
          .export({ resourceMetrics: [{ scopeMetrics: [{ metrics: gaugesOf(batch) }] }] })
          .then(({ partialSuccess }) => answerOf(batch.seats - Number(partialSuccess?.rejectedDataPoints ?? 0n), batch.seats), failureOf),
    };
  },
};

/** Log records, which can only be added. */
export const otlpGrpcLogsDoor: Door = {
  ...otlpDoor,
  name: "otlp-grpc-logs",
  tables: [LOG_TABLE],
  request(batch) {
    const { writer, number, origin, seats } = batch;
    const logRecords = Array.from({ length: seats }, (_, seat) => ({
      timeUnixNano: timeOf(origin, seat),
      severityNumber: 9,
      body: text("", labelOf(writer, number, seat)).value,
      attributes: [{ key: "seat", value: { value: { case: "intValue" as const, value: BigInt(seat) } } }],
    }));
    const scope = { name: writerTag(writer), version: String(origin) };
    return {
      call: (grpcUrl) =>
        logsOf(grpcUrl)
          .export(
            { resourceLogs: [{ resource: {}, scopeLogs: [{ scope, logRecords }] }] },
            { headers: { "x-greptime-log-table-name": LOG_TABLE } },
          )
          .then(({ partialSuccess }) => answerOf(seats - Number(partialSuccess?.rejectedLogRecords ?? 0n), seats), failureOf),
    };
  },
};
