import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { encodeLabels } from "../../storage/series/label-set.ts";
import { SeriesHasher } from "./series-hash.ts";

const WORD = (1n << 64n) - 1n;

/** The same by whole 64-bit words. */
function plainHash(labels: readonly (readonly [name: string, value: string])[]): bigint {
  const word = (hash: bigint, value: bigint): bigint => (((((hash << 5n) | (hash >> 59n)) & WORD) ^ value) * 0x517cc1b727220a95n) & WORD;
  const text = (hash: bigint, value: string): bigint => {
    const bytes = Buffer.from(value);
    let [state, at] = [hash, 0];
    for (; at + 8 <= bytes.length; at += 8) state = word(state, bytes.readBigUInt64LE(at));
    if (at + 4 <= bytes.length) {
      state = word(state, BigInt(bytes.readUInt32LE(at)));
      at += 4;
    }
    for (; at < bytes.length; at++) state = word(state, BigInt(bytes.readUInt8(at)));
    return word(state, 0xffn);
  };
  const sorted = [...labels].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  let names = 0n;
  for (const [name] of sorted) names = text(names, name);
  let hash = word(0n, names);
  for (const [, value] of sorted) hash = text(hash, value);
  return hash;
}

/** Hashes of label sets whose columns have ids in the order in which their names first come. */
function hashesOf(sets: readonly (readonly (readonly [name: string, value: string])[])[]): bigint[] {
  const names = [...new Set(sets.flat().map(([name]) => name))];
  const hasher = new SeriesHasher((id) => names[id - 1] ?? "?");
  return sets.map((labels) => {
    const sorted = labels.map(([name, value]) => [names.indexOf(name) + 1, value] as const).sort(([a], [b]) => a - b);
    const ids = sorted.map(([id]) => id);
    return hasher.hash(
      encodeLabels(
        ids,
        sorted.map(([, value]) => value),
      ),
    );
  });
}

function check(labels: readonly (readonly [name: string, value: string])[], want: bigint): void {
  expect(hashesOf([labels])).toEqual([want]);
}

describe("the hash of a label set", () => {
  test("is the reference server's", () => {
    check([["host", "host1"]], 13882403126406556045n);
    check([["host", "host2"]], 7947983149541006936n);
    check([["job", "job1"]], 6248409809737953425n);
    check([["job", "job2"]], 12867770218286207316n);
  });

  test("is 0 without labels", () => check([], 0n));

  test("depends on which labels there are, not on the order of their columns", () => {
    const [ab, ba, a, b] = hashesOf([
      [
        ["b", "x"],
        ["a", "y"],
      ],
      [
        ["a", "y"],
        ["b", "x"],
      ],
      [["a", "x"]],
      [["b", "x"]],
    ]);
    expect(ab).toBe(ba as bigint);
    expect(new Set([ab, a, b]).size).toBe(3);
  });

  test("is that of the plain calculation, set after set", () => {
    const value = fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: "binary", maxLength: 12 }));
    const name = fc.oneof(fc.constantFrom("a", "b", "instance", "\u{10000}", "\ufffd"), fc.string({ minLength: 1, maxLength: 9 }));
    const labels = fc.uniqueArray(fc.tuple(name, value), { selector: ([label]) => label, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(labels, { maxLength: 6 }), (sets) => {
        expect(hashesOf(sets)).toEqual(sets.map(plainHash));
      }),
      { seed: 11, numRuns: 40 },
    );
  });
});
