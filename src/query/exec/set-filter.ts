/** INTERSECT and EXCEPT: the right side is counted row by row, the left side streams past. NULLs are equal here. */
import type { PlanNode } from "../plan/node.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { gatherBatch } from "./held-rows.ts";
import { NO_ROW, RowCodes } from "./row-codes.ts";

/** The rows of `left` that stay. */
export async function* setFilter(
  node: Extract<PlanNode, { kind: "set-filter" }>,
  left: AsyncIterable<ExecBatch>,
  right: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const codes = new RowCodes(
    node.columns.map(({ type }) => type),
    true,
    context.budget.reserve,
  );
  let counts = new Uint32Array(1024);
  for await (const batch of right) {
    checkCancelled(context);
    const ids = codes.add(batch.vectors, batch.rowCount);
    if (codes.size > counts.length) {
      const grown = new Uint32Array(codes.size * 2);
      grown.set(counts);
      counts = grown;
    }
    for (const id of ids) counts[id] = (counts[id] ?? 0) + 1;
    await context.pace.turn();
  }
  const intersect = node.operator === "intersect";
  for await (const batch of left) {
    checkCancelled(context);
    const ids = codes.find(batch.vectors, batch.rowCount);
    const selection = new Uint32Array(batch.rowCount);
    let kept = 0;
    for (let row = 0; row < batch.rowCount; row++) {
      const id = ids[row] ?? 0;
      const found = id !== NO_ROW && (counts[id] ?? 0) > 0;
      // With ALL each row of the right side counts against one of the left.
      if (found && node.all) counts[id] = (counts[id] ?? 0) - 1;
      if (found === intersect) selection[kept++] = row;
    }
    if (kept > 0) yield gatherBatch(batch, selection, kept);
    await context.pace.turn();
  }
}
