/** LIMIT and OFFSET. */
import type { ExecBatch } from "../contract/exec-context.ts";
import { sliceBatch } from "../../../column/slice.ts";
import type { LimitNode } from "./node.ts";

/** Some rows of `input`. */
export async function* limit(node: LimitNode<unknown>, input: AsyncIterable<ExecBatch>): AsyncIterable<ExecBatch> {
  let skip = node.offset;
  let left = node.count ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  for await (const batch of input) {
    if (skip >= batch.rowCount) {
      skip -= batch.rowCount;
      continue;
    }
    const to = Math.min(batch.rowCount, skip + left);
    yield sliceBatch(batch, skip, to);
    left -= to - skip;
    skip = 0;
    if (left === 0) return;
  }
}
