/** Series of slots without gaps as the oracle makes them: a map of slots a series, one value at a time. */
import { FLOAT64 } from "../../../column/data-type.ts";
import { castValue } from "../../../value/cast.ts";
import { type Value, valueKey } from "../../function/value/value.ts";
import type { FilledColumn } from "./node.ts";
import type { PlanNode } from "../contract/node.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { HeldRows } from "../rows/held-rows.ts";
import { slotOrder } from "./slot-pieces.ts";
import { heldOrSorted } from "../sort/held-or-sorted.ts";
import { holding } from "../spill/spill-context.ts";
import { valueAt, valuesVector } from "../../expression/vector-values.ts";

type FillSlots = Extract<PlanNode, { kind: "fill-slots" }>;
type Row = readonly Value[];

/** Bytes of a row of the oracle, about. */
const ROW_BYTES = 64;

/** The series of `input`, one after the other, slots ascending. Groups that do not fit in memory come sorted, a series at a time. */
export function fillSlotsInterpreted(node: FillSlots, input: AsyncIterable<ExecBatch>, shared: ExecContext): AsyncIterable<ExecBatch> {
  return holding("FILL", node, shared, (context, spill) => {
    const held = new HeldRows(node.input.columns, context.budget, ROW_BYTES);
    return heldOrSorted({ items: slotOrder(node), columns: node.input.columns }, held, input, context, spill, {
      held: async function* () {
        const all: Series = new Map();
        for (const [key, row] of rowsOf(node, held.joined())) addTo(all, key, row, node);
        yield* filledSeries(node, all, context);
      },
      sorted: async function* (batches) {
        let series: Series = new Map();
        for await (const batch of batches) {
          for (const [key, row] of rowsOf(node, batch)) {
            if (!series.has(key)) {
              yield* filledSeries(node, series, context);
              series = new Map();
            }
            addTo(series, key, row, node);
          }
        }
        yield* filledSeries(node, series, context);
      },
    });
  });
}

/** Slots and rows by series. */
type Series = Map<string, Map<bigint, Row>>;

function addTo(series: Series, key: string, row: Row, node: FillSlots): void {
  const slots = series.get(key) ?? new Map<bigint, Row>();
  series.set(key, slots.set(row[node.keyCount] as bigint, row));
}

/** The rows of a batch, and a text that tells their series apart. */
function* rowsOf(node: FillSlots, batch: ExecBatch): Iterable<readonly [string, Row]> {
  for (let i = 0; i < batch.rowCount; i++) {
    const row = node.input.columns.map(({ type }, c): Value => {
      const vector = batch.vectors[c];
      const value = vector === undefined ? undefined : valueAt(vector, type, i);
      return value instanceof Uint8Array ? value.slice() : value;
    });
    yield [row.slice(0, node.keyCount).map(valueKey).join("|"), row];
  }
}

async function* filledSeries(node: FillSlots, all: Series, context: ExecContext): AsyncGenerator<ExecBatch> {
  for (const slots of all.values()) {
    const before = context.budget.used;
    const rows = filledRows(node, slots, context);
    const vectors = node.columns.map(({ type }, c) =>
      valuesVector(
        type,
        rows.map((row) => row[c]),
      ),
    );
    yield { rowCount: rows.length, vectors };
    context.budget.release(context.budget.used - before);
    await context.pace.turn();
  }
}

/** All slots of one series. */
function filledRows(node: FillSlots, found: ReadonlyMap<bigint, Row>, context: ExecContext): readonly Row[] {
  const times = [...found.keys()];
  const first = times.reduce((a, b) => (a < b ? a : b));
  const last = times.reduce((a, b) => (a > b ? a : b));
  const keys = found.get(first)?.slice(0, node.keyCount) ?? [];
  const slots: bigint[] = [];
  for (let slot = first; slot <= last; slot += node.width) {
    context.budget.reserve(ROW_BYTES * node.columns.length);
    if (slots.push(slot) % 4096 === 0) checkCancelled(context);
  }
  const columns = node.items.map((item) => {
    const type = node.input.columns[item.column]?.type ?? { kind: "null" };
    const values = slots.map((slot): Value => (found.has(slot) ? found.get(slot)?.[item.column] : item.empty));
    if (item.rule.kind !== "linear") return values.map((_, i) => chosen(item, values, i));
    return onLines(
      slots,
      values.map((value) => (value === undefined ? undefined : Number(castValue(value, type, FLOAT64, context.environment)))),
    );
  });
  return slots.map((slot, i) => [...keys, slot, ...columns.map((column) => column[i])]);
}

function chosen({ rule }: FilledColumn, values: readonly Value[], i: number): Value {
  if (values[i] !== undefined) return values[i];
  if (rule.kind === "constant") return rule.value;
  if (rule.kind !== "prev") return undefined;
  let before = i - 1;
  while (before >= 0 && values[before] === undefined) before--;
  return values[before];
}

/** NULLs replaced by what lies on the line through the known points on both sides, or through the two nearest. */
function onLines(slots: readonly bigint[], values: readonly (number | undefined)[]): readonly Value[] {
  const known = values.flatMap((value, i) => (value === undefined ? [] : [{ at: slots[i] ?? 0n, value }]));
  return values.map((value, i) => {
    const at = slots[i] ?? 0n;
    const before = known.filter((point) => point.at < at);
    const behind = known.filter((point) => point.at > at);
    const [a, b] = before.length === 0 ? behind : behind.length === 0 ? before.slice(-2) : [before.at(-1), behind[0]];
    if (value !== undefined || a === undefined || b === undefined) return value;
    return a.value + ((b.value - a.value) * Number(at - a.at)) / Number(b.at - a.at);
  });
}
