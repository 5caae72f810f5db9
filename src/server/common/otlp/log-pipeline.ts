/** Logs of OTLP through a pipeline (contract ingest.md 4.4): each record is a row of the pipeline. */
import type { Clock } from "../../../base/clock.ts";
import { invalidArguments } from "../../../base/error.ts";
import type { PipelineStore } from "../../../db/pipelines/pipeline-store.ts";
import { pipelineItems } from "../../../ingest/otlp/logs/pipeline-items.ts";
import { IDENTITY_NAME } from "../../../ingest/pipeline/types.ts";
import type { AcceptedWrite } from "../accepted-write.ts";
import { type LogWriteParts, writeLogs } from "../logs/log-write.ts";
import { pipelineFlagsOf, readyPipeline } from "../logs/pipeline-flags.ts";
import { eitherLogHeader, LOG_SEMANTICS, otlpPipelineOf } from "./log-headers.ts";
import type { OtlpAsk, OtlpPath } from "./signal.ts";

/** What pipelines of logs need. */
export interface LogPipelineParts extends LogWriteParts {
  readonly options: LogWriteParts["options"] & { readonly clock: Clock };
  /** Absent on a thread that serves the built-in pipeline only. */
  readonly store: PipelineStore | undefined;
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
  ask: OtlpAsk,
  accepted: AcceptedWrite,
  parts: LogPipelineParts,
): Promise<OtlpPath> {
  if (isOfTraces(name)) throw invalidArguments("Unsupported pipeline for logs.");
  const pipeline = await readyPipeline(name, eitherLogHeader(ask.headers, "pipeline-version"), parts.store);
  const flags = pipelineFlagsOf(ask.headers, ask.query);
  return {
    kind: "whole",
    write: async (read) => {
      const { affected, failure, failedCount } = await writeLogs(ask, parts, {
        protocol: "otlp",
        accepted,
        pipeline,
        ...flags,
        nowNanos: parts.options.clock.nowNanos(),
        semantics: LOG_SEMANTICS,
        items: () => [{ table, rows: read(pipelineItems) }],
      });
      if (failure !== undefined) throw failure;
      const rowCount = affected.reduce((sum, count) => sum + count, 0);
      return { rowCount, rejectedCount: failedCount, message: failedCount === 0 ? "" : `${failedCount} records failed in the pipeline` };
    },
  };
}
