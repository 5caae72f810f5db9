import { expect, test } from "bun:test";
import fc from "fast-check";
import { sumWide } from "./wide-sums.ts";

test("sums of any part of signed and unsigned integers are exact", () => {
  const value = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(-1n, 0n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 32n - 1n),
  );
  fc.assert(
    fc.property(fc.array(fc.option(value)), fc.boolean(), fc.nat(), fc.nat(), (list, isSigned, a, b) => {
      const signed = BigInt64Array.from(list, (each) => each ?? 77n);
      const values = isSigned ? signed : new BigUint64Array(signed.buffer);
      const validity = list.includes(null) ? Uint8Array.from(list, (each) => (each === null ? 0 : 1)) : undefined;
      const [from, to] = [a % (list.length + 1), b % (list.length + 1)].sort((x, y) => x - y) as [number, number];
      let sum = 0n;
      let count = 0;
      for (let row = from; row < to; row++) {
        if (list[row] === null) continue;
        sum += values[row]!;
        count++;
      }
      expect(sumWide(values, validity, from, to)).toEqual({ sum, count });
    }),
    { seed: 12, numRuns: 500 },
  );
});

test("more rows than one block of doubles holds", () => {
  const values = new BigInt64Array(2 ** 21 + 5).fill(2n ** 63n - 1n);
  expect(sumWide(values, undefined, 0, values.length)).toEqual({ sum: BigInt(values.length) * (2n ** 63n - 1n), count: values.length });
});
