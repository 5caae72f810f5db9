/** Which pipeline the headers and the query of a request of logs name (contract ingest.md 8.1). */
import { IDENTITY_NAME } from "../../../../ingest/pipeline/types.ts";
import { valueOf } from "../../../common/logs/pipeline-flags.ts";
import { decodedValueOf } from "../../query-string.ts";

/** The pipeline that a request names: header, older header, query; empty ones are none. */
export function pipelineNameOf(rawQuery: string, headers: Headers): string | undefined {
  const candidates = [
    headers.get("x-greptime-pipeline-name"),
    headers.get("x-greptime-log-pipeline-name"),
    decodedValueOf(rawQuery, "pipeline_name"),
  ];
  return candidates.map((name) => name?.trim()).find((name) => name !== undefined && name !== "");
}

/** As `pipelineNameOf`, but the query wins. */
export function queriedPipelineName(rawQuery: string, headers: Headers): string | undefined {
  return valueOf(rawQuery, "pipeline_name") ?? pipelineNameOf(rawQuery, headers);
}

/** Whether a request needs no stored pipeline, so that a thread without the store can serve it. */
export function needsNoStore(rawQuery: string, headers: Headers): boolean {
  const queried = queriedPipelineName(rawQuery, headers) ?? IDENTITY_NAME;
  return queried === IDENTITY_NAME && (pipelineNameOf(rawQuery, headers) ?? IDENTITY_NAME) === IDENTITY_NAME;
}
