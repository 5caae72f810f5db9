/**
 * Any aggregate over frames, by the accumulators of plain aggregation: frames that grow at their end add rows to the one before, equal
 * frames share a result, and any other is computed anew. The work of that is bounded.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Vector } from "../../../column/vector.ts";
import { textBytes } from "../../function/aggregate/accumulator.ts";
import type { Value } from "../../function/value/value.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { resultOf, type RowAccumulator, rowAccumulator } from "../rows/row-accumulator.ts";
import { valueAt, valuesVector } from "../../expression/vector-values.ts";
import type { FoldInput } from "./fold.ts";
import type { Frames } from "./frames.ts";

/**
 * Most rows that all frames of one call may hold together where each is computed anew. Reason: about a minute of work, since n rows whose
 * frames hold most of the others take n² steps. Error: RuntimeResourcesExhausted.
 */
const FRAME_ROWS_MAX = 1_000_000_000;

/** Rows between two looks at the clock. */
const TURN_ROWS = 16_384;

/** Bytes of the arguments of one row, about. */
const ROW_BYTES = 32;

/** The aggregate of each frame. @throws DbError RuntimeResourcesExhausted */
export async function accumulated(input: FoldInput, keys: readonly Vector[], frames: Frames, context: ExecContext): Promise<Vector> {
  const { call, rowCount } = input;
  const args = rowsOf(input.args, call.type.args, rowCount, context);
  const orders = rowsOf(
    keys,
    call.orderBy.map((item: SortItem) => item.expression.type),
    rowCount,
    context,
  );
  const results: Value[] = [];
  // An ordered aggregate sorts its rows when it is asked, so it can be asked once.
  const grows = call.orderBy.length === 0;
  let held = 0;
  const fresh = (): RowAccumulator => {
    context.budget.release(held);
    held = 0;
    return rowAccumulator(call, (bytes) => {
      held += bytes;
      context.budget.reserve(bytes);
    });
  };
  let accumulator = fresh();
  let [start, end, steps, turn] = [0, 0, 0, TURN_ROWS];
  let result = accumulator.result();
  for (let i = 0; i < rowCount; i++) {
    const [from = 0, to = 0] = [frames.starts[i], frames.ends[i]];
    const isSame = i > 0 && from === start && to === end;
    if (!isSame) {
      if (i === 0 || from !== start || !grows) {
        accumulator = fresh();
        end = from;
      }
      start = from;
      for (; end < to; end++) {
        if (input.kept?.[end] !== 0) accumulator.add(args[end] ?? [], orders[end] ?? []);
        if (++steps < turn) continue;
        turn += TURN_ROWS;
        if (steps > FRAME_ROWS_MAX) throw tooMuch(call.function.name);
        checkCancelled(context);
        await context.pace.turn();
      }
      const next = resultOf(accumulator, context);
      result = next instanceof Promise ? await next : next;
    }
    results.push(result);
    const bytes = textBytes(result);
    if (bytes > 0) context.budget.reserve(bytes); // given back with the rows
  }
  fresh();
  return valuesVector(call.type.result, results);
}

function rowsOf(
  vectors: readonly Vector[],
  types: FoldInput["call"]["type"]["args"],
  rowCount: number,
  { budget }: ExecContext,
): readonly (readonly Value[])[] {
  if (vectors.length === 0) return [];
  budget.reserve(rowCount * vectors.length * ROW_BYTES);
  return Array.from({ length: rowCount }, (_, row) => vectors.map((vector, i) => valueAt(vector, types[i] ?? { kind: "null" }, row)));
}

function tooMuch(name: string): DbError {
  return new DbError(
    StatusCode.RuntimeResourcesExhausted,
    `cannot run query: the frames of ${name}() OVER hold more than ${FRAME_ROWS_MAX} rows together; ` +
      "make the frames or the partitions smaller",
  );
}
