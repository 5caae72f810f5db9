/** Aggregates that keep many values, which they put together in parts while the rows come. */
import { expect, test } from "bun:test";
import { INT64, STRING } from "../../../column/data-type.ts";
import { decodeNested } from "../../../column/nested.ts";
import { listOf } from "../nested/parts.ts";
import type { Value } from "../value/value.ts";
import type { Accumulator } from "./accumulator.ts";
import { distinct, joined } from "./choices.ts";
import { collected } from "./lists.ts";

const free = (): void => undefined;
const LENGTHS = [0, 1, 4095, 4096, 4097, 8192, 10_000];

test("array_agg has all values in their order, also when it is asked in between", () => {
  const type = { args: [INT64], result: listOf(INT64) };
  for (const length of LENGTHS) {
    const list = collected(type, free);
    for (let i = 0; i < length; i++) {
      list.add([i % 7 === 0 ? undefined : i]);
      if (i === 5000) list.result();
    }
    const bytes = list.result();
    const wanted = Array.from({ length }, (_, i) => (i % 7 === 0 ? undefined : i));
    expect(bytes === undefined ? [] : decodeNested(listOf(INT64), bytes as Uint8Array)).toEqual(wanted);
  }
});

test("string_agg has all texts in their order", () => {
  for (const length of LENGTHS) {
    const text = joined({ args: [STRING, STRING], result: STRING }, free);
    for (let i = 0; i < length; i++) text.add([`${i}`, ","]);
    expect(text.result()).toBe(length === 0 ? undefined : Array.from({ length }, (_, i) => String(i)).join(","));
  }
});

test("DISTINCT hands on each value once, however many there are", () => {
  const seen: Value[] = [];
  const inner: Accumulator = { add: ([value]) => void seen.push(value), result: () => seen.length };
  const once = distinct(inner, free);
  for (let round = 0; round < 3; round++) for (let i = 0; i < 40_000 + round; i++) once.add([i]);
  expect(once.result()).toBe(40_002);
  expect(new Set(seen).size).toBe(40_002);
});
