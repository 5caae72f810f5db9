/** Series of slots without gaps as the oracle makes them: a map of slots a series, one value at a time. */
import { FLOAT64 } from "../../column/data-type.ts";
import { castValue } from "../function/cast.ts";
import { type Value, valueKey } from "../function/value.ts";
import type { FilledColumn, PlanNode } from "../plan/node.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { valueAt, valuesVector } from "./vector-values.ts";

type FillSlots = Extract<PlanNode, { kind: "fill-slots" }>;
type Row = readonly Value[];

/** Bytes of a row of the oracle, about. */
const ROW_BYTES = 64;

/** The series of `input`, one after the other, slots ascending. */
export async function* fillSlotsInterpreted(
  node: FillSlots,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const all = new Map<string, Map<bigint, Row>>();
  for await (const batch of input) {
    checkCancelled(context);
    for (let i = 0; i < batch.rowCount; i++) {
      const row = node.input.columns.map(({ type }, c): Value => {
        const vector = batch.vectors[c];
        const value = vector === undefined ? undefined : valueAt(vector, type, i);
        return value instanceof Uint8Array ? value.slice() : value;
      });
      const key = row.slice(0, node.keyCount).map(valueKey).join("|");
      const slots = all.get(key) ?? new Map<bigint, Row>();
      all.set(key, slots.set(row[node.keyCount] as bigint, row));
    }
  }
  for (const slots of all.values()) {
    const rows = filledRows(node, slots, context);
    const vectors = node.columns.map(({ type }, c) =>
      valuesVector(
        type,
        rows.map((row) => row[c]),
      ),
    );
    yield { rowCount: rows.length, vectors };
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
