/** Rows that an operator needs in some order: all of them in memory as they came, or once they do not fit there, sorted over the disk. */
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { HeldRows } from "../rows/held-rows.ts";
import { sortedRows } from "./sort.ts";
import type { SortOrder } from "./sort-order.ts";
import type { SpillContext } from "../spill/spill-context.ts";

/** What an operator does with its rows in either case. Only one of the two is called. */
export interface HeldOrSorted<T> {
  /** All rows lie in the `HeldRows` given, unsorted. */
  held(): Iterable<T> | AsyncIterable<T>;
  /** Rows come in order; those that were held are given back to the budget. */
  sorted(rows: AsyncGenerator<ExecBatch>): AsyncIterable<T>;
}

/** Reads `input` to its end, or until `rows` are full, and goes on with `then`. @throws DbError Cancelled, RuntimeResourcesExhausted */
export async function* heldOrSorted<T>(
  order: Pick<SortOrder, "items" | "columns">,
  rows: HeldRows,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
  then: HeldOrSorted<T>,
): AsyncGenerator<T> {
  const batches = input[Symbol.asyncIterator]();
  try {
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      checkCancelled(context);
      if (!spill.fits(rows.costOf(next.value), context.budget)) {
        yield* then.sorted(sortedRows({ ...order, keep: undefined }, chained(rows, next.value, batches), context, spill));
        return;
      }
      if (next.value.rowCount > 0) rows.add(next.value);
      await context.pace.turn();
    }
  } finally {
    await batches.return?.();
  }
  const held = then.held();
  if (Symbol.iterator in held) for (const each of held) yield each;
  else yield* held;
}

/** What is held, the batch at hand, and what follows. */
async function* chained(held: HeldRows, batch: ExecBatch, rest: AsyncIterator<ExecBatch>): AsyncGenerator<ExecBatch> {
  // The batch is valid until the next is asked for, which is behind it.
  yield* held.drain();
  yield batch;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
