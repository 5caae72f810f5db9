import { expect, test } from "bun:test";
import fc from "fast-check";
import { chunkOf } from "../../../test/support/storage/rows.ts";
import { Arena, SlabPool } from "./arena.ts";
import { addGroupStarts } from "./chunk-groups.ts";

const pool = new SlabPool(0);

/** Starts that the rows' groups have, the slow way; `added` may have more only where the chunk is dense. */
function check(times: readonly bigint[], length: bigint, isExact: boolean): void {
  const chunk = chunkOf(1, { rows: times.map((time) => ({ series: 0, time, values: [] })), columnIds: [] }, [], new Arena(pool));
  const added = new Set<bigint>();
  addGroupStarts(chunk, Number(length), added);
  const wanted = new Set(times.map((time) => time - (((time % length) + length) % length)));
  for (const start of wanted) expect(added.has(start)).toBe(true);
  for (const start of added) expect(start % length).toBe(0n);
  if (isExact) expect(added.size).toBe(wanted.size);
}

test("the groups of a chunk's rows, whatever lies between them", () => {
  const lengths = fc.constantFrom(5_529_600n, 5_529_600_000n, 5_529_600_000_000_000n);
  const base = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 2n ** 52n });
  const offsets = fc.array(fc.bigInt({ min: 0n, max: 2n ** 52n - 1n }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(lengths, base, offsets, fc.constantFrom(1n, 1000n, 1_000_000n), (length, from, list, scale) => {
      check(
        list.map((offset) => from + (offset / scale) * scale),
        length,
        false,
      );
    }),
    { seed: 15, numRuns: 300 },
  );
});

test("a billion groups apart are two", () => check([0n, 2n ** 52n - 1n], 5_529_600n, true));
test("borders belong to the group that begins there", () => {
  check([-1n, 0n, 9n, 10n, 10_000n], 10n, true);
  check([-(2n ** 63n)], 10n, true);
});
