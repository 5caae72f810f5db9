import { expect, test } from "bun:test";
import { fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { Histogram_ResetHint as ResetHint, HistogramSchema, type Histogram } from "../../../../proto/gen/prometheus/types_pb.js";
import { type ChunkHistogram, type ChunkLayout, histogramChunk } from "../../../../test/support/prometheus/histogram-chunk.ts";
import { readHistogramChunk } from "./histogram-chunk.ts";

const INT64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const small = fc.oneof(
  fc.bigInt({ min: -5000n, max: 5000n }),
  fc.constantFrom(-3n, 4n, -31n, 32n, 256n, 2048n, 131_072n, 2n ** 24n, 2n ** 55n),
  INT64,
);
const count = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }));
const double = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -0, 1, 2, Number.POSITIVE_INFINITY));
const spans = fc.array(fc.tuple(fc.integer({ min: -1000, max: 1000 }), fc.nat(4)), { maxLength: 4 });

const layouts: fc.Arbitrary<ChunkLayout> = fc.record({
  flags: fc.nat(3),
  zeroThreshold: fc.oneof(fc.constantFrom(0, 2 ** -128, 2 ** -243, 1024, 2 ** -244, 0.1), fc.double({ min: 0, max: 1, noNaN: true })),
  schema: fc.constantFrom(-4, 0, 3, 8, -53),
  positiveSpans: spans,
  negativeSpans: spans,
  bounds: fc.array(
    fc.oneof(fc.constantFrom(0, 0.005, 0.1, 1, 10, 33_554.43, 33_554.431, -1), double).map((bound) => bound + 0),
    { maxLength: 4 },
  ),
});
const bucketsOf = (all: readonly (readonly [number, number])[]): number => all.reduce((sum, [, length]) => sum + length, 0);

function histogramsOf<T extends bigint | number>(layout: ChunkLayout, counts: fc.Arbitrary<T>, buckets: fc.Arbitrary<T>) {
  const some = (size: number): fc.Arbitrary<readonly T[]> => fc.array(buckets, { minLength: size, maxLength: size });
  const one: fc.Arbitrary<ChunkHistogram> = fc.record({
    time: fc.bigInt({ min: -(2n ** 50n), max: 2n ** 50n }),
    count: counts,
    zeroCount: counts,
    sum: double,
    positive: some(bucketsOf(layout.positiveSpans)),
    negative: some(bucketsOf(layout.negativeSpans)),
  });
  return fc.array(one, { minLength: 1, maxLength: 12 });
}

/** What the message of a histogram has to say. */
function wanted(layout: ChunkLayout, { time, count: all, zeroCount, sum, positive, negative }: ChunkHistogram, at: number): object {
  const isFloat = typeof all === "number";
  const first = layout.flags === 2 ? ResetHint.YES : ResetHint.UNKNOWN;
  const side = (pairs: ChunkLayout["positiveSpans"]): object[] => pairs.map(([offset, length]) => ({ offset, length }));
  return {
    count: isFloat ? { case: "countFloat", value: all } : { case: "countInt", value: all },
    zeroCount: isFloat ? { case: "zeroCountFloat", value: zeroCount } : { case: "zeroCountInt", value: zeroCount },
    sum,
    schema: layout.schema,
    zeroThreshold: layout.zeroThreshold,
    positiveSpans: side(layout.positiveSpans),
    negativeSpans: side(layout.negativeSpans),
    positiveDeltas: isFloat ? [] : positive,
    negativeDeltas: isFloat ? [] : negative,
    positiveCounts: isFloat ? positive : [],
    negativeCounts: isFloat ? negative : [],
    resetHint: layout.flags === 3 ? ResetHint.GAUGE : at > 0 ? ResetHint.NO : first,
    timestamp: time,
    customValues: layout.bounds,
  };
}

function plain({ $typeName: _, positiveSpans, negativeSpans, ...rest }: Histogram): object {
  const side = (all: Histogram["positiveSpans"]): object[] => all.map(({ offset, length }) => ({ offset, length }));
  return { ...rest, positiveSpans: side(positiveSpans), negativeSpans: side(negativeSpans) };
}

for (const isFloat of [false, true]) {
  test(`chunks of ${isFloat ? "doubles" : "whole numbers"} are read as they were written`, () => {
    const chunks = layouts.chain((layout) =>
      fc.tuple(
        fc.constant(layout),
        isFloat ? histogramsOf(layout, double, double) : histogramsOf<bigint | number>(layout, count, small),
        fc.boolean(),
      ),
    );
    fc.assert(
      fc.property(chunks, ([layout, histograms, endsStale]) => {
        const { count: found, messages } = readHistogramChunk(histogramChunk(layout, histograms, endsStale), isFloat);
        expect(found).toBe(histograms.length + Number(endsStale));
        const read = messages.map((message) => fromBinary(HistogramSchema, message));
        expect(read.slice(0, histograms.length).map(plain)).toEqual(histograms.map((one, at) => wanted(layout, one, at)));
        const [stale] = messages.slice(histograms.length);
        if (stale === undefined) return;
        expect([...stale.subarray(0, 9)]).toEqual([0x19, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f]);
        expect(read.at(-1)).toMatchObject({ count: { case: undefined }, timestamp: (histograms.at(-1)?.time ?? 0n) + 1n });
      }),
      { seed: 20_261_124, numRuns: 200 },
    );
  });
}

test("damaged chunks are errors, never more", () => {
  const layout: ChunkLayout = { flags: 0, zeroThreshold: 0, schema: 3, positiveSpans: [[0, 3]], negativeSpans: [[1, 2]], bounds: [] };
  const one = (at: number): ChunkHistogram => ({
    time: BigInt(at * at),
    count: BigInt(at),
    zeroCount: 0n,
    sum: at,
    positive: [1n, BigInt(at), 2n],
    negative: [3n, -1n],
  });
  const bytes = histogramChunk(
    layout,
    Array.from({ length: 20 }, (_, at) => one(at)),
    false,
  );
  for (let i = 0; i < bytes.length; i++) {
    expect(() => readHistogramChunk(bytes.slice(0, i), false)).toThrow();
    for (let bit = 0; bit < 8; bit++) {
      const changed = bytes.slice();
      changed[i] = (changed[i] ?? 0) ^ (1 << bit);
      try {
        readHistogramChunk(changed, false);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(Error);
      }
    }
  }
});
