import { textTableOf } from "../../../column/text-table.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scalarAt } from "../../../column/scalar.ts";
import type { TimeVector, Vector } from "../../../column/vector.ts";
import { binBuckets, bucketIndexOf, bucketStartOf } from "../../function/time/buckets.ts";
import { type BucketSpan, bucketStarts, cutBuckets, frameOf, locate } from "../../expression/kernels/bucket-starts.ts";
import { concat } from "./concat.ts";
import { gather, gatherRuns } from "./gather.ts";
import { PairTable } from "./pair-table.ts";
import { comparedOrder } from "./sort-keys.ts";
import { endOfSpan } from "../../expression/kernels/span-end.ts";

const arbitraryBuckets = fc
  .record({
    months: fc.constantFrom(0, 0, 1),
    days: fc.constant(0),
    nanos: fc.bigInt({ min: 1n, max: 10n ** 13n }),
    origin: fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
  })
  .map(({ months, days, nanos, origin }) => binBuckets({ months, days, nanos: months === 0 ? nanos : 0n }, "nanosecond", origin));
const ascending = fc
  .array(fc.integer({ min: -(2 ** 50), max: 2 ** 50 }), { minLength: 1, maxLength: 40 })
  .map((offsets) => Float64Array.from(offsets).sort());

test("buckets of offsets are those of absolute times", () => {
  fc.assert(
    fc.property(arbitraryBuckets, fc.bigInt({ min: -(2n ** 61n), max: 2n ** 61n }), ascending, (buckets, base, offsets) => {
      if (buckets === undefined) return;
      const vector: TimeVector = { kind: "time", base, offsets, validity: undefined };
      const want = Array.from(offsets, (offset) => bucketStartOf(buckets, bucketIndexOf(buckets, base + BigInt(offset))));
      const starts = bucketStarts(vector, buckets, offsets.length);
      expect(Array.from(starts?.offsets ?? [], (offset) => base + BigInt(offset))).toEqual(want);
      const frame = frameOf(buckets, base);
      const span: BucketSpan = { steps: 0, start: 0, end: 0 };
      for (const offset of offsets) {
        locate(frame, offset, span);
        expect(offset >= span.start && offset < span.end).toBe(true);
      }
      if (frame.width === 0) return;
      const cuts = { starts: new Uint32Array(offsets.length), steps: new Float64Array(offsets.length), count: 0 };
      cutBuckets(offsets, 0, offsets.length, frame.width, frame.rest, cuts);
      const indexes = Array.from(offsets, (offset) => bucketIndexOf(buckets, base + BigInt(offset)));
      const borders = indexes.flatMap((index, i) => (i === 0 || index !== indexes[i - 1] ? [i] : []));
      expect(Array.from(cuts.starts.subarray(0, cuts.count))).toEqual(borders);
      expect(Array.from(cuts.steps.subarray(0, cuts.count), (steps) => frame.baseIndex + BigInt(steps))).toEqual(
        borders.map((i) => indexes[i] ?? 0n),
      );
    }),
    { seed: 3, numRuns: 300 },
  );
});

test("the end of a span is the first row that reaches it", () => {
  fc.assert(
    fc.property(ascending, fc.integer({ min: -(2 ** 50), max: 2 ** 50 }), (offsets, end) => {
      const wanted = offsets.findIndex((offset, i) => i > 0 && offset >= end);
      expect(endOfSpan(offsets, 0, offsets.length, end)).toBe(wanted < 0 ? offsets.length : wanted);
    }),
    { seed: 4 },
  );
});

test("pairs get dense ids in the order they come", () => {
  const table = new PairTable();
  const known = new Map<string, number>();
  for (let i = 0; i < 5000; i++) {
    const pair = [(i * 7919) % 97, (i * 104_729) % 89] as const;
    const key = pair.join();
    if (!known.has(key)) known.set(key, known.size);
    expect(table.idOf(...pair)).toBe(known.get(key) as number);
    // All of them are found while they move to longer slots, and no others.
    const [first, second] = [(i * 31) % 97, (i * 17) % 89];
    expect(table.find(first, second)).toBe(known.get(`${first},${second}`) ?? -1);
  }
  expect(table.size).toBe(known.size);
  for (const [key, id] of known) {
    const [first = 0, second = 0] = key.split(",").map(Number);
    expect([table.find(first, second), table.idOf(first, second)]).toEqual([id, id]);
  }
});

describe("gather and concat", () => {
  const vectors: readonly (readonly [string, Vector])[] = [
    ["number", { kind: "number", values: Int16Array.of(1, -2, 3), validity: Uint8Array.of(1, 0, 1) }],
    ["wide", { kind: "wide", values: BigInt64Array.of(1n, 2n ** 60n, 3n), validity: undefined }],
    ["time", { kind: "time", base: 10n, offsets: Float64Array.of(1, 2, 3), validity: undefined }],
    ["dictionary", { kind: "dictionary", codes: Uint32Array.of(1, 0, 2), dictionary: [undefined, "a", "b"] }],
    ["coded", { kind: "coded", codes: Uint32Array.of(1, 0, 2), entries: textTableOf([undefined, "a", "b"]) }],
    ["bytes", { kind: "bytes", offsets: Uint32Array.of(0, 1, 1, 4), bytes: new TextEncoder().encode("xyzw"), validity: undefined }],
  ];
  const typeOf = {
    number: { kind: "int", bits: 64, signed: true },
    wide: { kind: "int", bits: 64, signed: true },
    time: { kind: "timestamp", unit: "second" },
    dictionary: { kind: "string" },
    coded: { kind: "string" },
    bytes: { kind: "string" },
  } as const;

  for (const [name, vector] of vectors) {
    test(`keep the values of a ${name} vector`, () => {
      const type = typeOf[vector.kind];
      const values = (of: Vector, rows: number): unknown[] => Array.from({ length: rows }, (_, row) => scalarAt(of, type, row));
      const own = values(vector, 3);
      const picked = gather(vector, Uint32Array.of(2, 0, 0), 3);
      expect(values(picked, 3)).toEqual([own[2], own[0], own[0]]);
      const joined = concat(type, [
        { vector, rowCount: 2 },
        { vector: picked, rowCount: 3 },
      ]);
      expect(values(joined, 5)).toEqual([own[0], own[1], own[2], own[0], own[0]]);
    });
  }

  test("times further apart than doubles reach come out wide", () => {
    const at = (base: bigint): Vector => ({ kind: "time", base, offsets: Float64Array.of(0), validity: undefined });
    const joined = concat({ kind: "timestamp", unit: "nanosecond" }, [
      { vector: at(-(2n ** 62n)), rowCount: 1 },
      { vector: at(2n ** 62n), rowCount: 1 },
    ]);
    expect([
      scalarAt(joined, { kind: "timestamp", unit: "nanosecond" }, 0),
      scalarAt(joined, { kind: "timestamp", unit: "nanosecond" }, 1),
    ]).toEqual([-(2n ** 62n), 2n ** 62n]);
  });

  test("runs shrink with their rows", () => {
    const { starts, series } = gatherRuns(
      { starts: Uint32Array.of(0, 3, 5, 9), series: Uint32Array.of(7, 8, 9) },
      Uint32Array.of(1, 2, 6),
      3,
    );
    expect([Array.from(starts), Array.from(series)]).toEqual([
      [0, 2, 3],
      [7, 9],
    ]);
  });
});

/** What a generator returns. */
function lastOf<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}

test("comparisons of many rows are stable over ranges that are merged", () => {
  for (const rowCount of [16_384, 16_385, 40_000, 100_001]) {
    const values = Uint32Array.from({ length: rowCount }, (_, i) => Math.imul(i, 2_654_435_761) % 977);
    const order = lastOf(comparedOrder(rowCount, (a, b) => (values[a] ?? 0) - (values[b] ?? 0)));
    const isSorted = order.every((row, i) => {
      const before = i === 0 ? -1 : (order[i - 1] ?? 0);
      return before < 0 || (values[before] ?? 0) < (values[row] ?? 0) || ((values[before] ?? 0) === (values[row] ?? 0) && before < row);
    });
    expect([isSorted, new Set(order).size], `${rowCount} rows`).toEqual([true, rowCount]);
  }
});
