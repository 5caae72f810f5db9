import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type DataType, FLOAT64, INT64, STRING } from "../../../column/data-type.ts";

import type { Vector } from "../../../column/vector.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";
import { valueAt, valuesVector } from "../../expression/vector-values.ts";
import { compareValues, type Value } from "../../function/value/value.ts";
import { compareRows, type RowKey, rowKeys, type SortDirection } from "./row-keys.ts";
import { orderOfRows } from "./row-order.ts";

/** A column of rows: its values, as one of the vectors that hold them. */
interface Column {
  readonly name: string;
  readonly type: DataType;
  /** Of some numbers that stand for values. */
  readonly vector: (picks: readonly number[]) => Vector;
}

const numbers = (name: string, type: DataType, values: readonly (number | undefined)[]): Column => ({
  name,
  type,
  vector: (picks) => {
    const picked = picks.map((pick) => values[pick % values.length]);
    const validity = picked.includes(undefined) ? Uint8Array.from(picked, (value) => (value === undefined ? 0 : 1)) : undefined;
    return { kind: "number", values: Float64Array.from(picked, (value) => value ?? 7), validity };
  },
});
const values = (name: string, type: DataType, all: readonly Value[]): Column => ({
  name,
  type,
  vector: (picks) =>
    valuesVector(
      type,
      picks.map((pick) => all[pick % all.length]),
    ),
});
const encoder = new TextEncoder();
const texts = (name: string, all: readonly (string | Uint8Array | undefined)[]): Column => ({
  name,
  type: all.some((text) => text instanceof Uint8Array) ? { kind: "binary" } : STRING,
  vector: (picks) => {
    const picked = picks.map((pick) => all[pick % all.length]);
    const pieces = picked.map((text) => (typeof text === "string" ? encoder.encode(text) : (text ?? new Uint8Array(0))));
    const offsets = new Uint32Array(picked.length + 1);
    for (const [i, piece] of pieces.entries()) offsets[i + 1] = (offsets[i] ?? 0) + piece.length;
    const validity = Uint8Array.from(picked, (text) => (text === undefined ? 0 : 1));
    return { kind: "bytes", offsets, bytes: Uint8Array.from(pieces.flatMap((piece) => [...piece])), validity };
  },
});
const dictionary = (name: string, all: readonly (string | undefined)[]): Column => ({
  name,
  type: STRING,
  vector: (picks) => ({ kind: "dictionary", codes: Uint32Array.from(picks, (pick) => pick % all.length), dictionary: all }),
});

const long = "the same beginning of all, ";
const TEXTS = [
  "",
  "\0",
  "\0\0",
  "a",
  "a\0",
  "b",
  "é",
  "\u{1f600}",
  "\uffff",
  long,
  `${long}a`,
  `${long}ab`,
  `${long}${long}`,
  `${long}${long}z`,
];
const COLUMNS: readonly Column[] = [
  numbers("few integers", INT64, [3, 1, 2, 3]),
  numbers("integers and NULL", INT64, [0, -1, 1, 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 32, 2 ** 32 - 1, -(2 ** 32), undefined]),
  numbers(
    "many integers",
    INT64,
    Array.from({ length: 977 }, (_, i) => Math.imul(i, 2_654_435_761)),
  ),
  numbers("unsigned", { kind: "int", bits: 32, signed: false }, [0, 2 ** 32 - 1, 2 ** 31, 1, undefined]),
  numbers("floats", FLOAT64, [0, -0, Number.NaN, Infinity, -Infinity, 5e-324, -5e-324, 1.5, undefined]),
  numbers("booleans", { kind: "boolean" }, [0, 1, undefined]),
  values("wide", INT64, [2n ** 63n - 1n, -(2n ** 63n), 0, 1, 2n ** 53n + 1n, undefined]),
  values("wide unsigned", { kind: "int", bits: 64, signed: false }, [2n ** 64n - 1n, 2n ** 63n, 0, 1, undefined]),
  values("times", { kind: "timestamp", unit: "nanosecond" }, [2n ** 62n, 2n ** 62n + 1n, -(2n ** 62n), 0n, undefined]),
  values("wide decimals", { kind: "decimal", precision: 38, scale: 2 }, [10n ** 37n, -(10n ** 37n), 0, 1, -1, 2n ** 64n, undefined]),
  values("intervals", { kind: "interval" }, [
    { months: 1, days: 0, nanos: 0n },
    { months: 0, days: 30, nanos: 0n },
    { months: 0, days: 0, nanos: -1n },
    { months: 0, days: 0, nanos: 86_400_000_000_001n },
    { months: 0, days: 1, nanos: 0n },
    undefined,
  ]),
  texts("texts", TEXTS),
  texts("texts and NULL", [undefined, ...TEXTS]),
  texts(
    "many texts",
    Array.from({ length: 1999 }, (_, i) => `${long.slice(0, i % 20)}${Math.imul(i, 2_654_435_761)}`),
  ),
  texts("bytes", [Uint8Array.of(), Uint8Array.of(0), Uint8Array.of(255, 128), Uint8Array.of(255), Uint8Array.of(127), undefined]),
  dictionary("dictionary", [undefined, ...TEXTS, "a", "b"]),
];

function compareBy(type: DataType, { descending, nullsFirst }: SortDirection, a: Vector, x: number, y: number): number {
  const [left, right] = [valueAt(a, type, x), valueAt(a, type, y)];
  if (left === undefined || right === undefined) return left === right ? 0 : (left === undefined) === nullsFirst ? -1 : 1;
  const order = compareValues(left, right);
  return descending ? -order : order;
}

const way = fc.record({ descending: fc.boolean(), nullsFirst: fc.boolean() });
const sorted = fc.record({ column: fc.constantFrom(...COLUMNS), way, seed: fc.nat() });

/** Numbers that look drawn. */
function drawn(count: number, seed: number): readonly number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state >>> 8;
  });
}

interface Case {
  readonly column: Column;
  readonly way: SortDirection;
  readonly seed: number;
}

/** Sorts by keys and by comparing values; looks at all places, then at some. */
function check(items: readonly Case[], rowCount: number, window: readonly [number, number]): void {
  const vectors = items.map(({ column, seed }) => column.vector(drawn(rowCount, seed)));
  const keys: RowKey[] = items.flatMap(({ column, way: direction }, i) => rowKeys(vectors[i] as Vector, column.type, rowCount, direction));
  const compare = (a: number, b: number): number => {
    for (const [i, { column, way: direction }] of items.entries()) {
      const order = compareBy(column.type, direction, vectors[i] as Vector, a, b);
      if (order !== 0) return order;
    }
    return 0;
  };
  const want = Array.from({ length: rowCount }, (_, row) => row).sort((a, b) => compare(a, b) || a - b);
  const named = items.map(({ column, way: direction }) => `${column.name} ${JSON.stringify(direction)}`).join(", ");
  expect([...atOnce(orderOfRows(keys, rowCount))], named).toEqual(want);
  const [from, to] = [Math.min(...window), Math.max(...window)];
  expect([...atOnce(orderOfRows(keys, rowCount, from, to))], `${named}, places ${from} to ${to}`).toEqual(want.slice(from, to));
  for (let i = 1; i < Math.min(rowCount, 50); i++) {
    expect(Math.sign(compareRows(keys, i - 1, keys, i)), `${named}, rows ${i - 1} and ${i}`).toBe(Math.sign(compare(i - 1, i)));
  }
}

describe("rows in the order of their keys", () => {
  test("each kind of values alone, up and down, few rows and many", () => {
    for (const column of COLUMNS) {
      for (const descending of [false, true]) {
        for (const nullsFirst of [false, true]) {
          for (const rowCount of [0, 1, 40, 3000]) check([{ column, way: { descending, nullsFirst }, seed: rowCount }], rowCount, [0, 10]);
        }
      }
    }
  });

  test("several keys, all places or some, as values compare", () => {
    const place = fc.nat(6000);
    fc.assert(
      fc.property(
        fc.array(sorted, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(5, 100, 2000, 5000),
        place,
        place,
        (items, rows, a, b) => check(items, rows, [a, b]),
      ),
      { seed: 20240106, numRuns: 120 },
    );
  });

  test("no keys keep the rows as they are", () => {
    expect([...atOnce(orderOfRows([], 5, 1, 9))]).toEqual([1, 2, 3, 4]);
  });
});
