/** Every 64-bit time in every unit: written, flushed, merged, expired and deleted, one by one and in ranges. */
import { expect, test } from "bun:test";
import { refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { MovingClock } from "../../../test/support/moving-clock.ts";
import { INT64, STRING, type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import { groupLength } from "../../storage/sst/time-window.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import { ALL_TIME } from "../../table/scan.ts";
import type { ColumnDefinition } from "../../table/schema.ts";

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** Ends of 64 bits, of groups and of days, and the times beside them. */
function edgesOf(unit: TimeUnit): bigint[] {
  const group = BigInt(groupLength(unit));
  const first = MIN - (MIN % group); // The first border within 64 bits.
  const last = MAX - (MAX % group);
  const borders = [first, last, 0n, group, -group, 86_400n * BigInt(UNITS_PER_SECOND[unit])];
  const times = [MIN, MIN + 1n, MAX - 1n, MAX, ...borders.flatMap((border) => [border - 1n, border, border + 1n])];
  return [...new Set(times)].filter((time) => time >= MIN && time <= MAX).sort((a, b) => (a < b ? -1 : 1));
}

function columnsOf(unit: TimeUnit): ColumnDefinition[] {
  return [
    { name: "host", type: STRING, semantic: "tag", nullable: true },
    { name: "ts", type: { kind: "timestamp", unit }, semantic: "timestamp", nullable: false },
    { name: "v", type: INT64, semantic: "field", nullable: true },
  ];
}

async function started(unit: TimeUnit, clock: MovingClock): Promise<Machine> {
  const machine = await Machine.start({ clock });
  const options = { merge_mode: "last_row" };
  const definition = { database: "public", name: "t", columns: columnsOf(unit), primaryKey: ["host"], engine: "mito", options };
  await machine.engine.createTable(definition, false);
  return machine;
}

async function write(machine: Machine, unit: TimeUnit, times: readonly bigint[]): Promise<void> {
  const builder = new RowBatchBuilder("t", columnsOf(unit));
  for (const time of times) builder.add(["a", time, 1]);
  await machine.engine.write("public", builder.batch(), { autoCreate: false, tableOptions: {} });
}

async function times(machine: Machine): Promise<bigint[]> {
  const found: bigint[] = [];
  const request = { projection: ["ts"], timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "series-time" as const };
  for await (const { rowCount, vectors } of machine.engine.table("public", "t")!.scan(request)) {
    const [vector] = vectors;
    if (vector?.kind !== "time") throw new Error("times are a time vector");
    for (let row = 0; row < rowCount; row++) found.push(vector.base + BigInt(vector.offsets[row]!));
  }
  return found;
}

const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];

test.each(UNITS)("in %ss they are kept through memory, files and merges, and deleted exactly", async (unit) => {
  const edges = edgesOf(unit);
  const machine = await started(unit, new MovingClock(0n));
  await write(machine, unit, edges.toReversed());
  expect(await times(machine)).toEqual(edges);
  await machine.engine.flushTable("public", "t");
  await write(machine, unit, edges);
  await machine.engine.flushTable("public", "t");
  expect(await times(machine)).toEqual(edges);
  const table = machine.engine.table("public", "t")!;
  expect(table.timeBounds()).toEqual({ start: MIN, end: MAX + 1n });
  // Every other edge by its key, then a range from each end to the middle that is left.
  const keys = new RowBatchBuilder("t", columnsOf(unit).slice(0, 2));
  for (const [i, time] of edges.entries()) if (i % 2 === 0) keys.add(["a", time]);
  await machine.engine.delete("public", keys.batch());
  const left = edges.filter((_, i) => i % 2 === 1);
  expect(await times(machine)).toEqual(left);
  await machine.crash();
  expect(await times(machine)).toEqual(left);
  const third = Math.floor(left.length / 3);
  const again = machine.engine.table("public", "t")!;
  expect(await again.deleteRange({ timeRange: { start: MIN, end: left[third]! }, tagPredicates: [] })).toBe(third);
  expect(await again.deleteRange({ timeRange: { start: left[2 * third]!, end: MAX + 1n }, tagPredicates: [] })).toBe(
    left.length - 2 * third,
  );
  const middle = left.slice(third, 2 * third);
  for (const step of [
    () => machine.engine.flushTable("public", "t"),
    () => machine.engine.compactTable("public", "t"),
    () => machine.restart(),
  ]) {
    expect(await times(machine)).toEqual(middle);
    await step();
  }
  expect(await times(machine)).toEqual(middle);
});

test.each(UNITS)("in %ss they expire by the clock, and those of the future never do", async (unit) => {
  const edges = edgesOf(unit);
  const second = BigInt(UNITS_PER_SECOND[unit]);
  const clock = new MovingClock(0n);
  const machine = await started(unit, clock);
  await write(machine, unit, edges);
  await machine.engine.flushTable("public", "t");
  await machine.engine.alterTable("public", "t", { kind: "set-options", options: { ttl: "1s" } });
  const living = edges.filter((time) => time >= -second);
  expect(await times(machine)).toEqual(living);
  await machine.engine.compactTable("public", "t");
  expect(await times(machine)).toEqual(living);
  await machine.engine.alterTable("public", "t", { kind: "set-options", options: { ttl: "forever" } });
  expect(await times(machine)).toEqual(living);
  await machine.engine.alterTable("public", "t", { kind: "set-options", options: { ttl: "500000000000years" } });
  await write(machine, unit, [MIN]);
  expect(await times(machine)).toEqual([MIN, ...living]);
});

test("a time that does not fit the table's unit is refused, when it is written and when it is deleted", async () => {
  const machine = await started("nanosecond", new MovingClock(0n));
  const far = new RowBatchBuilder("t", columnsOf("second").slice(0, 2));
  far.add(["a", MAX]);
  expect(await refusal(machine.engine.delete("public", far.batch()))).toMatchObject({ code: "InvalidArguments" });
});
