/** Logs of OTLP through a pipeline (contract ingest.md 4.4): each record is a row of the pipeline. */
import { invalidArguments } from "../../../../base/error.ts";
import { pipelineItems } from "../../../../ingest/otlp/logs/pipeline-items.ts";
import type { Exchange } from "../../exchange.ts";
import type { LogEndpoint } from "../logs/log-endpoint.ts";
import { pipelineFlagsOf, readyPipeline } from "../logs/log-parameters.ts";
import { writeLogs } from "../logs/log-write.ts";
import type { AcceptedWrite } from "../../../common/accepted-write.ts";
import { eitherLogHeader, LOG_SEMANTICS, otlpPipelineOf } from "../../../common/otlp/log-headers.ts";
import type { OtlpPath } from "../../../common/otlp/signal.ts";
import { IDENTITY_NAME } from "../../../../ingest/pipeline/types.ts";

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
  const pipeline = await readyPipeline(name, eitherLogHeader(exchange.request.headers, "pipeline-version"), store);
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
