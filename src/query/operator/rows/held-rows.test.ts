import { expect, test } from "bun:test";
import { codedOf } from "../../../../test/support/coded-text.ts";
import { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { STRING } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { HeldRows } from "./held-rows.ts";

const HEADERS = [{ name: "s", type: STRING }];

test("entries that batches share are counted once, and given back with the last rows", () => {
  const budget = new MemoryBudget(10_000_000);
  const held = new HeldRows(HEADERS, budget);
  const vector = codedOf(["x".repeat(10_000), "y", "x".repeat(10_000)]);
  for (let i = 0; i < 100; i++) held.add({ rowCount: 3, vectors: [vector] });
  expect(held.bytesHeld).toBeLessThan(50_000);
  expect(held.joined().vectors[0]).toMatchObject({ kind: "coded", entries: vector.entries });
  held.keep(Uint32Array.of(4, 299), 2);
  expect([0, 1].map((row) => String(scalarAt(held.joined().vectors[0] as typeof vector, STRING, row)).length)).toEqual([1, 10_000]);
  expect(held.bytesHeld).toBeLessThan(50_000);
  for (const _ of held.drain());
  expect(held.bytesHeld).toBe(0);
  budget.close();
});
