/** Rows on memory made at once are those that parts of their own hold, whatever comes. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { codedOf } from "../../../../test/support/coded-text.ts";
import { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import type { Batch } from "../../../column/batch.ts";
import { INT64, STRING } from "../../../column/data-type.ts";
import { sliceBatch } from "../../../column/slice.ts";
import type { Vector } from "../../../column/vector.ts";
import { valueAt } from "../../expression/vector-values.ts";
import { HeldRows } from "./held-rows.ts";
import { RowRoom } from "./row-room.ts";

const HEADERS = [
  { name: "n", type: INT64 },
  { name: "s", type: STRING },
];
const ROWS = 12;

const numbers: readonly Vector[] = [
  { kind: "number", values: Float64Array.from({ length: ROWS }, (_, i) => i * 3), validity: undefined },
  { kind: "number", values: Float64Array.from({ length: ROWS }, (_, i) => i * 5), validity: undefined },
  { kind: "number", values: Int32Array.from({ length: ROWS }, (_, i) => i - 4), validity: undefined },
  { kind: "number", values: new Float64Array(ROWS), validity: Uint8Array.from({ length: ROWS }, (_, i) => i % 2) },
  { kind: "wide", values: BigInt64Array.from({ length: ROWS }, (_, i) => 2n ** 60n + BigInt(i)), validity: undefined },
];
const entries = codedOf(Array.from({ length: ROWS }, (_, i) => (i % 5 === 0 ? undefined : `s${i % 3}`)));
const texts: readonly Vector[] = [
  entries,
  { ...entries, codes: entries.codes.toReversed() },
  codedOf(Array.from({ length: ROWS }, (_, i) => `t${i}`)),
  { kind: "dictionary", codes: new Uint32Array(ROWS), dictionary: [undefined] },
  {
    kind: "bytes",
    offsets: Uint32Array.from({ length: ROWS + 1 }, (_, i) => i),
    bytes: new Uint8Array(ROWS).fill(97),
    validity: undefined,
  },
];

const rowsOf = ({ rowCount, vectors }: Batch): readonly (readonly unknown[])[] =>
  Array.from({ length: rowCount }, (_, row) => vectors.map((vector, c) => valueAt(vector, HEADERS[c]?.type ?? INT64, row)));

// Mostly alike, so that some batches go to the room before one does not.
const batches = fc.array(
  fc.record({
    number: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(0, 1) }, { weight: 1, arbitrary: fc.nat(numbers.length - 1) }),
    text: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(0, 1) }, { weight: 1, arbitrary: fc.nat(texts.length - 1) }),
    from: fc.nat(ROWS - 1),
    rowCount: fc.integer({ min: 1, max: ROWS }),
  }),
  { maxLength: 8 },
);

test("held rows are the same with room for them and without", () => {
  fc.assert(
    fc.property(batches, fc.integer({ min: 1, max: 80 }), fc.constantFrom("joined", "batches", "drain", "nulls"), (given, room, way) => {
      const budget = new MemoryBudget(1_000_000);
      const [roomy, without] = [new HeldRows(HEADERS, budget, 8, room), new HeldRows(HEADERS, new MemoryBudget(1_000_000), 8)];
      for (const held of [roomy, without]) {
        for (const { number, text, from, rowCount } of given) {
          const [n, s] = [numbers[number], texts[text]];
          if (n === undefined || s === undefined) continue;
          held.add(sliceBatch({ rowCount: ROWS, vectors: [n, s] }, from, Math.min(ROWS, from + rowCount)));
        }
        if (way === "nulls") held.addNulls();
      }
      expect([roomy.rowCount, roomy.bytesHeld]).toEqual([without.rowCount, without.bytesHeld]);
      if (way === "drain") {
        expect([...roomy.drain()].flatMap(rowsOf)).toEqual([...without.drain()].flatMap(rowsOf));
        expect(budget.used).toBe(0);
      } else if (way === "batches") expect(roomy.batches().flatMap(rowsOf)).toEqual(without.batches().flatMap(rowsOf));
      else if (roomy.rowCount > 0) expect(rowsOf(roomy.joined())).toEqual(rowsOf(without.joined()));
    }),
    { seed: 20261124, numRuns: 500 },
  );
});

test("what has no room stays out", () => {
  const room = new RowRoom(ROWS + 3);
  const batch: Batch = { rowCount: ROWS, vectors: numbers.slice(0, 1) };
  expect(room.add(batch)).toBe(true);
  expect(room.add(batch)).toBe(false);
  expect(room.add({ rowCount: 2, vectors: numbers.slice(2, 3) })).toBe(false);
  expect(room.add({ rowCount: 3, vectors: numbers.slice(1, 2) })).toBe(true);
  expect(room.batch().rowCount).toBe(ROWS + 3);
});
