/** Logs of OTLP through a pipeline (contract ingest.md 4.4): each record is a row of the pipeline. */
import { invalidArguments } from "../../../../base/error.ts";
import { pipelineItems } from "../../../../ingest/otlp/logs/pipeline-items.ts";
import type { Exchange } from "../../exchange.ts";
import type { LogEndpoint } from "../logs/log-endpoint.ts";
import { pipelineFlagsOf, readyPipeline } from "../logs/log-parameters.ts";
import { writeLogs } from "../logs/log-write.ts";
import type { OtlpPath } from "./signal.ts";
import type { AcceptedWrite } from "../accepted-write.ts";
import { IDENTITY_NAME } from "../../../../ingest/pipeline/types.ts";

/** What tables of logs say of themselves. */
export const LOG_SEMANTICS = { "greptime.semantic.signal_type": "log", "greptime.semantic.source": "opentelemetry" } as const;

/** The first of two headers that is there and not empty; the older one is looked at first. */
function eitherHeader(headers: Headers, name: string): string | undefined {
  return headers.get(`x-greptime-log-${name}`)?.trim() || headers.get(`x-greptime-${name}`)?.trim() || undefined;
}

/** The pipeline that a request of logs names. */
export function otlpPipelineOf(headers: Headers): string | undefined {
  return eitherHeader(headers, "pipeline-name");
}

/** Whether a thread without stored pipelines can serve a request. */
export function needsNoPipelineStore(_rawQuery: string, headers: Headers): boolean {
  const name = otlpPipelineOf(headers);
  return name === undefined || name === IDENTITY_NAME || isOfTraces(name);
}

function isOfTraces(name: string): boolean {
  return name.startsWith("greptime_trace_v");
}

/** How a request that names a pipeline is taken. @throws DbError InvalidArguments */
export async function openPipeline(
  name: string,
  table: string,
  exchange: Exchange,
  accepted: AcceptedWrite,
  endpoint: LogEndpoint,
): Promise<OtlpPath> {
  if (isOfTraces(name)) throw invalidArguments("Unsupported pipeline for logs.");
  const { options, store } = endpoint;
  const pipeline = await readyPipeline(name, eitherHeader(exchange.request.headers, "pipeline-version"), store);
  const flags = pipelineFlagsOf(exchange);
  return {
    kind: "whole",
    write: async (read) => {
      const { affected, failure, failedCount } = await writeLogs(exchange, endpoint, {
        protocol: "otlp",
        accepted,
        pipeline,
        ...flags,
        nowNanos: options.clock.nowNanos(),
        semantics: LOG_SEMANTICS,
        items: () => [{ table, rows: read(pipelineItems) }],
      });
      if (failure !== undefined) throw failure;
      const rowCount = affected.reduce((sum, count) => sum + count, 0);
      return { rowCount, rejectedCount: failedCount, message: failedCount === 0 ? "" : `${failedCount} records failed in the pipeline` };
    },
  };
}
