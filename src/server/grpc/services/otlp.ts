/**
 * OTLP over gRPC: metrics, traces, logs, into the decoders of OTLP/HTTP, with the same headers, hints and accounts (contract README 4).
 * What was refused is told as a partial success, as the standard says.
 */
import { LogsService } from "../../../../proto/gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { MetricsService } from "../../../../proto/gen/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js";
import { TraceService } from "../../../../proto/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { DbError } from "../../../base/error.ts";
import type { MetricRegistry } from "../../../base/metrics.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Db } from "../../../db/db.ts";
import { PipelineStore } from "../../../db/pipelines/pipeline-store.ts";
import type { IngestCounts } from "../../../db/ingest-counts.ts";
import { acceptedWrite } from "../../common/accepted-write.ts";
import { LogCounters } from "../../common/logs/log-counters.ts";
import { otlpLogs } from "../../common/otlp/logs.ts";
import { otlpMetrics } from "../../common/otlp/metrics.ts";
import { type ReceivedOtlp, receiveOtlp } from "../../common/otlp/receive.ts";
import type { OtlpAsk, OtlpOptions, OtlpSignal } from "../../common/otlp/signal.ts";
import { otlpTraces } from "../../common/otlp/traces.ts";
import { otlpRows } from "../../common/shared-counters.ts";
import type { Call } from "../call.ts";
import { type GrpcService, grpcService, raw } from "../service.ts";

/** What the services work with. */
export interface OtlpParts extends OtlpOptions {
  readonly db: Db;
  readonly influx: OtlpOptions["influx"] & { readonly timeColumn: string };
  readonly metrics: MetricRegistry;
  readonly scheduler: Scheduler;
}

/** The three services. */
export function otlpServices(parts: OtlpParts): readonly GrpcService[] {
  const metrics = exporter(otlpMetrics(parts), parts);
  const traces = exporter(otlpTraces(parts), parts);
  const store = new PipelineStore(parts.db, parts.clock);
  const logs = exporter(otlpLogs(parts, { options: parts, counters: new LogCounters(parts.metrics), store }), parts);
  return [
    grpcService(MetricsService, {
      export: raw(async (bytes, call) => {
        const { rejectedCount, message } = await metrics(bytes, call);
        return partial(rejectedCount, { rejectedDataPoints: BigInt(rejectedCount), errorMessage: message });
      }),
    }),
    grpcService(TraceService, {
      export: raw(async (bytes, call) => {
        const { rejectedCount, message } = await traces(bytes, call);
        return partial(rejectedCount, { rejectedSpans: BigInt(rejectedCount), errorMessage: message });
      }),
    }),
    grpcService(LogsService, {
      export: raw(async (bytes, call) => {
        const { rejectedCount, message } = await logs(bytes, call);
        return partial(rejectedCount, { rejectedLogRecords: BigInt(rejectedCount), errorMessage: message });
      }),
    }),
  ];
}

/** An answer says nothing where everything was kept. */
function partial<T>(rejectedCount: number, partialSuccess: T): { partialSuccess?: T } {
  return rejectedCount === 0 ? {} : { partialSuccess };
}

function exporter(signal: OtlpSignal, parts: OtlpParts): (bytes: Uint8Array, call: Call) => Promise<ReceivedOtlp> {
  const target = { db: parts.db, scheduler: parts.scheduler, rows: otlpRows(parts.metrics, signal.name) };
  const take = async (bytes: Uint8Array, call: Call, ingest: IngestCounts): Promise<ReceivedOtlp> => {
    const session = { ...call.session(await call.user()), ingest };
    const accepted = acceptedWrite(session, call.headers, parts.db);
    const ask: OtlpAsk = { headers: call.headers, database: session.database, query: "", signal: call.signal };
    const path = await signal.open(ask, accepted);
    await parts.scheduler.decode(bytes.length);
    const received = await receiveOtlp({ ask, path, accepted, target }, bytes, signal.form);
    if (received.isAllRefused) throw new DbError(StatusCode.InvalidArguments, received.message);
    if (received.rejectedCount > 0) ingest.failed();
    return received;
  };
  return async (bytes, call) => {
    const ingest = call.metrics.ingest.of(`otlp_${signal.name}`);
    ingest.took(bytes.length);
    try {
      return await take(bytes, call, ingest);
    } catch (thrown) {
      ingest.failed();
      throw thrown;
    }
  };
}
