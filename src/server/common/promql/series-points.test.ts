/** Points in blocks say what points one by one say. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { JsonPieces } from "./json-pieces.ts";
import { PointHeads } from "./point-heads.ts";
import { addPoints } from "./series-points.ts";
import { pointJson } from "./value-text.ts";

/** As `addPoints`, point by point. */
function reference(times: readonly number[], values: readonly number[], present: readonly boolean[]): string {
  const points = times.flatMap((time, i) => (present[i] === true ? [pointJson(time, values[i] as number)] : []));
  return points.length === 0 ? "x" : `x,"values":[${points.join(",")}]`;
}

function check(times: readonly number[], values: readonly number[], present: readonly boolean[]): void {
  const pieces = new JsonPieces("x");
  const millisOf = (step: number): number => times[step] as number;
  const points = {
    count: times.length,
    values: Float64Array.from(values),
    histograms: undefined,
    present: Uint8Array.from(present, Number),
    heads: new PointHeads(times.length, millisOf),
    millisOf,
  };
  let text = "";
  for (const _ of addPoints(points, pieces)) if (pieces.isFull) text += new TextDecoder().decode(pieces.take());
  text += new TextDecoder().decode(pieces.take());
  expect(text).toBe(reference(times, values, present));
}

const all = (count: number): boolean[] => new Array<boolean>(count).fill(true);

test("values of every kind, alone and among others", () => {
  const values = [
    0,
    -0,
    1,
    -1,
    0.1,
    1e21,
    1e-6,
    1e-7,
    -2.5e-9,
    1e-10,
    -1.7976931348623157e308,
    5e-324,
    Infinity,
    -Infinity,
    NaN,
    123456789.123,
  ];
  for (const value of values) check([1000], [value], [true]);
  check(
    Array.from(values, (_, i) => 1_700_000_000_000 + i * 15_000),
    values,
    all(values.length),
  );
});

test("times with and without a fraction, of few and many digits, before 1970 and far away", () => {
  const times = [-1500, -1, 0, 1, 10, 999, 1000, 9999, 99_999_000, 100_000_000, 100_001_002, 3_999_999_999_999, 4e12, 8.64e15, 1e20];
  for (const time of times) check([0, time], [7, 8], all(2));
  check(
    times,
    Array.from(times, (_, i) => i),
    all(times.length),
  );
});

test("more points than a block, some of them not there", () => {
  for (const count of [0, 1, 511, 512, 513, 1024, 1537, 5000, 20_000]) {
    const times = Array.from({ length: count }, (_, i) => i * 250);
    const values = Array.from(times, (_, i) => i / 7);
    check(times, values, all(count));
    check(
      times,
      values,
      times.map((_, i) => i % 3 === 1),
    );
  }
});

test("any points", () => {
  const time = fc.oneof(fc.integer({ min: 0, max: 5e12 }), fc.integer({ min: -1e12, max: 1e16 }));
  const point = fc.tuple(time, fc.double(), fc.boolean());
  fc.assert(
    fc.property(fc.array(point, { maxLength: 40 }), (points) => {
      check(
        points.map(([t]) => t),
        points.map(([, value]) => value),
        points.map(([, , isThere]) => isThere),
      );
    }),
    { seed: 77, numRuns: 500 },
  );
});
