/**
 * The pipeline that a protocol's headers name (contract ingest.md 4.4): for endpoints that decode by themselves and hand rows to it. The
 * older names of the headers win here; on `/v1/ingest` the newer ones do.
 */
import type { ReadyPipeline } from "../../../../db/pipelines/pipeline-store.ts";
import type { Exchange } from "../../exchange.ts";
import type { LogEndpoint } from "./log-endpoint.ts";
import { type PipelineFlags, pipelineFlagsOf, readyPipeline } from "../../../common/logs/pipeline-flags.ts";
import { IDENTITY_NAME } from "../../../../ingest/pipeline/types.ts";

const NAME_HEADERS = ["x-greptime-log-pipeline-name", "x-greptime-pipeline-name"] as const;
const VERSION_HEADERS = ["x-greptime-log-pipeline-version", "x-greptime-pipeline-version"] as const;

/** A pipeline, ready to run, and how to run it. */
export interface PipelineStep extends PipelineFlags {
  readonly name: string;
  readonly isIdentity: boolean;
  readonly pipeline: ReadyPipeline;
}

/** Name of the pipeline that headers ask for; undefined when they ask for none. */
function headerPipelineName(headers: Headers): string | undefined {
  return firstOf(headers, NAME_HEADERS);
}

/** Whether a request needs no stored pipeline, so that a thread without the store serves it. For `Route.isServedHere`. */
export function headersNeedNoStore(_rawQuery: string, headers: Headers): boolean {
  return (headerPipelineName(headers) ?? IDENTITY_NAME) === IDENTITY_NAME;
}

/**
 * The pipeline that a request's headers ask for; undefined when they ask for none.
 *
 * @param customTimeIndex where `greptime_identity` finds the time of a row, e.g. `greptime_timestamp;epoch;ns`
 * @throws DbError InvalidArguments
 */
export async function pipelineStepOf(
  exchange: Exchange,
  { store }: Pick<LogEndpoint, "store">,
  customTimeIndex: string,
): Promise<PipelineStep | undefined> {
  const { headers } = exchange.request;
  const name = headerPipelineName(headers);
  if (name === undefined) return undefined;
  const pipeline = await readyPipeline(name, firstOf(headers, VERSION_HEADERS), store, customTimeIndex);
  return { name, isIdentity: name === IDENTITY_NAME, pipeline, ...pipelineFlagsOf(exchange.request.headers, exchange.rawQuery) };
}

function firstOf(headers: Headers, names: readonly string[]): string | undefined {
  return names.map((name) => headers.get(name)?.trim()).find((text) => text !== undefined && text !== "");
}
