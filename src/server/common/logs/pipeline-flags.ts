/** What headers and query say of how a pipeline runs, and the pipeline ready to do so (contract ingest.md 8.1). */
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { wholeNumberOf } from "../../../base/text/whole-number.ts";
import type { PipelineStore, ReadyPipeline } from "../../../db/pipelines/pipeline-store.ts";
import { identityPipeline } from "../../../ingest/pipeline/decode.ts";
import { IDENTITY_NAME } from "../../../ingest/pipeline/types.ts";

const TRUTHY: ReadonlySet<string> = new Set(["true", "t", "yes", "y", "on", "1"]);

/** The last value of that name in a query that is not empty. */
export function valueOf(rawQuery: string, name: string): string | undefined {
  if (!rawQuery.includes(name)) return undefined;
  const value = new URLSearchParams(rawQuery).getAll(name).at(-1);
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
export function pipelineFlagsOf(headers: Headers, rawQuery: string): PipelineFlags {
  const header = headers.get("x-greptime-pipeline-params") ?? "";
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
