import { expect, test } from "bun:test";
import fc from "fast-check";
import { FrameNumbers } from "./frame-numbers.ts";
import { TwoEnds } from "./two-ends.ts";

const NUMBERS = [0, 1, -1, 2.5, 7, -4096, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** Numbers come in, some of those that are there leave, all leave. */
type Move = { readonly add: readonly number[] } | { readonly drop: number } | "clear";

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.constantFrom(...NUMBERS), { minLength: 1, maxLength: 9 }).map((add) => ({ add })) },
  { weight: 5, arbitrary: fc.nat(12).map((drop) => ({ drop })) },
  { weight: 1, arbitrary: fc.constant("clear" as const) },
);

/** Moves a fold and a plain list, and compares after each move. @returns bytes that were counted */
function check<T>(moves: readonly Move[], blockNumbers: number, lift: (value: number) => T, fold: (a: T, b: T) => T, neutral: T): number {
  let bytes = 0;
  const ends = new TwoEnds(lift, fold, neutral, (more) => void (bytes += more), blockNumbers);
  const numbers = new FrameNumbers(() => undefined);
  let want: number[] = [];
  let row = 0;
  for (const each of moves) {
    if (each === "clear") {
      ends.clear();
      numbers.head = numbers.tail = 0;
      want = [];
    } else if ("add" in each) {
      for (const value of each.add) {
        numbers.push(row++, value);
        ends.add(value);
      }
      want.push(...each.add);
    } else {
      const { head } = numbers;
      const to = head + Math.min(each.drop, want.length);
      ends.drop(numbers, head, to);
      numbers.head = to;
      want = want.slice(to - head);
    }
    expect(ends.value).toEqual(want.map(lift).reduce((a, b) => fold(a, b), neutral));
  }
  return bytes;
}

const cases = fc.tuple(fc.array(move, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }));

test("a fold from two ends keeps the order of the numbers, whatever comes and leaves", () => {
  fc.assert(
    fc.property(cases, ([moves, block]) => {
      const bytes = check(moves, block, String, (a, b) => (a === "" || b === "" ? a + b : `${a} ${b}`), "");
      const tail = moves.reduce((most, each) => most + (typeof each === "object" && "add" in each ? each.add.length : 0), 0);
      expect(bytes).toBeLessThanOrEqual(8 * Math.min(block, tail)); // no more than a block is kept folded
    }),
    { seed: 7401, numRuns: 400 },
  );
});

test("sums, least and greatest numbers are those of the list, with NaN and infinities", () => {
  fc.assert(
    fc.property(cases, ([moves, block]) => {
      const same = (value: number): number => value;
      check(moves, block, same, (a, b) => a + b, 0);
      check(moves, block, same, Math.min, Number.POSITIVE_INFINITY);
      check(moves, block, same, Math.max, Number.NEGATIVE_INFINITY);
    }),
    { seed: 7402, numRuns: 300 },
  );
});

test("a frame of many blocks that slides number by number", () => {
  const moves: Move[] = [{ add: Array.from({ length: 40 }, (_, i) => i) }];
  for (let i = 0; i < 90; i++) moves.push({ add: [40 + i] }, { drop: 1 });
  moves.push({ drop: 25 }, { drop: 15 }, { add: [1, 2, 3] });
  for (const block of [1, 3, 8, 64]) check(moves, block, String, (a, b) => (a === "" || b === "" ? a + b : `${a} ${b}`), "");
});
