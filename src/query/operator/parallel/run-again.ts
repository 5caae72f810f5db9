/** Parts that fail, and the same query on one thread, which need not meet their errors. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { SharedScan } from "../../../table/shared-scan.ts";
import type { ExecBatch } from "../contract/exec-context.ts";

/**
 * Errors that the same query on one thread may not have, or tells better: a partial sum is beyond 64 bits and the whole is not; a part has
 * no room for its groups, where here they go to disk; a file is damaged; the plan is too large to be sent.
 */
export function mayDifferHere(error: unknown): boolean {
  return error instanceof DbError && DIFFERENT_HERE.includes(error.code);
}

const DIFFERENT_HERE: readonly StatusCode[] = [
  StatusCode.EngineExecuteQuery,
  StatusCode.RuntimeResourcesExhausted,
  StatusCode.StorageUnavailable,
  StatusCode.Unsupported,
];

/** What the parts come to, whose rows are released then; the same from this thread where they fail at first, and need not fail here. */
export async function* orHere(
  batches: AsyncIterable<ExecBatch>,
  shared: SharedScan,
  otherwise: () => AsyncIterable<ExecBatch>,
): AsyncIterable<ExecBatch> {
  let isBegun = false;
  try {
    for await (const batch of batches) {
      isBegun = true;
      yield batch;
    }
    return;
  } catch (error) {
    if (isBegun || !mayDifferHere(error)) throw error;
  } finally {
    await shared.release(); // No thread reads it: whoever reads parts waits for that.
  }
  yield* otherwise();
}
