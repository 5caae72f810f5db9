/** What headers and query say about a request of logs: pipeline, version, flags (contract ingest.md 8.1). */
import { wholeNumberOf } from "../../../../base/text/whole-number.ts";
import { DbError, invalidArguments } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import type { PipelineStore, ReadyPipeline } from "../../../../db/pipelines/pipeline-store.ts";
import { identityPipeline } from "../../../../ingest/pipeline/decode.ts";
import type { Exchange } from "../../exchange.ts";
import { decodedValueOf } from "../../query-string.ts";
import { IDENTITY_NAME } from "../../../../ingest/pipeline/types.ts";

const TRUTHY: ReadonlySet<string> = new Set(["true", "t", "yes", "y", "on", "1"]);

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

/** A value of the query that is not empty. */
export function valueOf(rawQuery: string, name: string): string | undefined {
  const value = decodedValueOf(rawQuery, name);
  return value === "" ? undefined : value;
}

/** `Invalid request parameter: …`. */
export function invalidParameter(why: string): DbError {
  return invalidArguments(`Invalid request parameter: ${why}`);
}

/** A flag of the query; absent is false. @throws DbError InvalidArguments */
export function flagOf(rawQuery: string, name: string): boolean {
  const value = valueOf(rawQuery, name);
  if (value === undefined || value === "false") return false;
  if (value !== "true") throw invalidParameter(`${name} must be true or false, but is ${value.slice(0, 40)}`);
  return true;
}

/** `x-greptime-pipeline-params` with the flags of the query. */
export interface PipelineFlags {
  readonly skipError: boolean;
  readonly ignoreErrors: boolean;
  readonly maxNestedLevels: number | undefined;
}

/** Reads the flags; the header beats the query. @throws DbError InvalidArguments */
export function pipelineFlagsOf({ request, rawQuery }: Pick<Exchange, "request" | "rawQuery">): PipelineFlags {
  const header = request.headers.get("x-greptime-pipeline-params") ?? "";
  const skip = valueOf(header, "skip_error");
  const levels = valueOf(header, "max_nested_levels");
  const maxNestedLevels = levels === undefined ? undefined : wholeNumberOf(levels.trim());
  if (levels !== undefined && (maxNestedLevels === undefined || maxNestedLevels < 1)) {
    throw invalidParameter(`max_nested_levels must be a whole number from 1, but is ${levels.slice(0, 40)}`);
  }
  return {
    skipError: skip === undefined ? flagOf(rawQuery, "skip_error") : TRUTHY.has(skip.toLowerCase()),
    ignoreErrors: flagOf(rawQuery, "ignore_errors"),
    maxNestedLevels,
  };
}

/**
 * The pipeline of a request, ready to run.
 *
 * @param store absent on threads that serve the built-in pipeline only
 * @throws DbError InvalidArguments
 */
export async function readyPipeline(
  name: string,
  version: string | undefined,
  store: PipelineStore | undefined,
  customTimeIndex?: string,
): Promise<ReadyPipeline> {
  if (name === IDENTITY_NAME) {
    const compiled = identityPipeline(customTimeIndex === undefined ? {} : { customTimeIndex });
    return { compiled, pipelineOf: () => undefined };
  }
  if (store === undefined) throw new DbError(StatusCode.IllegalState, `the pipeline ${name} was asked of a thread that has none`);
  return store.ready(name, version);
}
