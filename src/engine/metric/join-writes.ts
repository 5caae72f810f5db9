/** Several writes to physical tables as few: one a table, time unit and range of 2^52 units. */
import { assert } from "../../base/assert.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";
import type { NumberVector, TimeVector } from "../../column/vector.ts";
import { holdsHistograms } from "../../table/native-histogram.ts";
import type { FieldWrite, TableWrite } from "../../table/write-batch.ts";

/** Writes of one table and unit that follow each other become one, in their order, where their one field is a DOUBLE; others stay. */
export function joinWrites(writes: readonly TableWrite[]): readonly TableWrite[] {
  const groups = new Map<string, TableWrite[]>();
  const histograms: TableWrite[] = [];
  for (const write of writes) {
    if (write.fields.some(holdsHistograms)) {
      histograms.push(write);
      continue;
    }
    const key = `${write.timeUnit} ${write.table}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [write]);
    else group.push(write);
  }
  return [...[...groups.values()].flatMap(joinGroup), ...histograms];
}

function joinGroup(writes: readonly TableWrite[]): readonly TableWrite[] {
  const joined: TableWrite[] = [];
  let pending: TableWrite[] = [];
  for (const write of writes) {
    const [first] = pending;
    if (first !== undefined && !isNear(write, first.times.base)) {
      joined.push(joinNear(pending));
      pending = [];
    }
    pending.push(write);
  }
  if (pending.length > 0) joined.push(joinNear(pending));
  return joined;
}

/** Whether the write's times, counted from `base`, are within what one write may span. */
function isNear({ times, rowCount }: TableWrite, base: bigint): boolean {
  const shift = Number(times.base - base);
  if (Math.abs(shift) > CHUNK_TIME_SPAN_MAX) return false;
  for (let i = 0; i < rowCount; i++) {
    if (Math.abs((times.offsets[i] as number) + shift) > CHUNK_TIME_SPAN_MAX) return false;
  }
  return true;
}

function joinNear(writes: readonly TableWrite[]): TableWrite {
  const [first] = writes;
  assert(first !== undefined, "something to join");
  if (writes.length === 1) return first;
  const rowCount = writes.reduce((sum, write) => sum + write.rowCount, 0);
  const keys = new Uint32Array(rowCount);
  const offsets = new Float64Array(rowCount);
  const values = new Float64Array(rowCount);
  const hasNulls = writes.some((write) => valuesOf(write).validity !== undefined);
  const validity = hasNulls ? new Uint8Array(rowCount).fill(1) : undefined;
  let at = 0;
  for (const write of writes) {
    const vector = valuesOf(write);
    const shift = Number(write.times.base - first.times.base);
    keys.set(write.keys.subarray(0, write.rowCount), at);
    for (let i = 0; i < write.rowCount; i++) offsets[at + i] = (write.times.offsets[i] as number) + shift;
    values.set(vector.values.subarray(0, write.rowCount), at);
    if (vector.validity !== undefined) validity?.set(vector.validity.subarray(0, write.rowCount), at);
    at += write.rowCount;
  }
  const times: TimeVector = { kind: "time", base: first.times.base, offsets, validity: undefined };
  const field: FieldWrite = { ...(first.fields[0] as FieldWrite), vector: { kind: "number", values, validity } };
  return { ...first, rowCount, keys, times, fields: [field] };
}

function valuesOf({ fields }: TableWrite): NumberVector {
  const vector = fields[0]?.vector;
  assert(vector?.kind === "number", `a DOUBLE comes as numbers; got ${vector?.kind}`);
  return vector;
}
