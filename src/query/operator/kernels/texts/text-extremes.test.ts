import { expect, test } from "bun:test";
import fc from "fast-check";
import { compareValues } from "../../../function/value/value.ts";
import { TextExtremes } from "./text-extremes.ts";

type Row = readonly [group: number, text: Uint8Array | undefined];

const GROUPS = 5;
const text = fc.oneof(
  fc.constantFrom([], [0], [0, 0], [255], [97, 98, 99, 100], [97, 98, 99, 100, 0], [97, 98, 99, 100, 101, 102, 103, 104, 105]),
  fc.array(fc.constantFrom(0, 97, 128, 255), { maxLength: 12 }),
  fc.nat(300).map((length) => new Array<number>(length).fill(97)),
);
const row = fc.tuple(
  fc.nat(GROUPS - 1),
  fc.option(
    text.map((bytes) => Uint8Array.from(bytes)),
    { nil: undefined },
  ),
);
const batches = fc.array(fc.array(row, { maxLength: 30 }), { maxLength: 6 });

/** The texts of rows, each its own entry, or by the entries of the rows in another order. */
function keyOf(rows: readonly Row[], byCodes: boolean): Parameters<TextExtremes["begin"]>[0] {
  const entries = rows.map(([, bytes]) => bytes ?? new Uint8Array(0));
  if (byCodes) entries.reverse();
  const offsets = new Uint32Array(entries.length + 1);
  for (const [i, entry] of entries.entries()) offsets[i + 1] = (offsets[i] ?? 0) + entry.length;
  const codes = byCodes ? Uint32Array.from(rows, (_, i) => rows.length - 1 - i) : undefined;
  const validity = Uint8Array.from(rows, ([, bytes]) => (bytes === undefined ? 0 : 1));
  return { offsets, bytes: Uint8Array.from(entries.flatMap((entry) => [...entry])), codes, validity };
}

const wanted = (bytes: Uint8Array | undefined): number[] | undefined => (bytes === undefined ? undefined : [...bytes]);

test("each group has the text that comparing finds, row by row or by ranges, whatever came before", () => {
  fc.assert(
    fc.property(batches, fc.boolean(), fc.boolean(), fc.boolean(), (all, isLargest, byCodes, byRanges) => {
      const extremes = new TextExtremes(isLargest);
      const want = new Map<number, Uint8Array>();
      for (const rows of all) {
        extremes.reach(GROUPS);
        extremes.begin(keyOf(rows, byCodes));
        const groups = Int32Array.from(rows, ([group]) => group);
        if (byRanges) for (const [i, group] of groups.entries()) extremes.add(i, i + 1, group, undefined);
        else extremes.add(0, rows.length, 0, groups);
        extremes.keep();
        for (const [group, bytes] of rows) {
          const best = want.get(group);
          if (bytes === undefined) continue;
          if (best === undefined || compareValues(bytes, best) * (isLargest ? 1 : -1) > 0) want.set(group, bytes);
        }
      }
      const { offsets, bytes, validity } = extremes.texts(GROUPS);
      for (let group = 0; group < GROUPS; group++) {
        const got = validity?.[group] === 0 ? undefined : bytes.slice(offsets[group], offsets[group + 1]);
        expect(got && [...got], `group ${group}`).toEqual(wanted(want.get(group)));
      }
    }),
    { seed: 20240107, numRuns: 300 },
  );
});

test("texts that grow leave their slots to others", () => {
  const extremes = new TextExtremes(true);
  const count = 1000;
  extremes.reach(count);
  const groups = Int32Array.from({ length: count }, (_, i) => i);
  for (let turn = 0; turn < 50; turn++) {
    const length = 20 + turn;
    const offsets = Uint32Array.from({ length: count + 1 }, (_, i) => i * length);
    extremes.begin({ offsets, bytes: new Uint8Array(count * length).fill(97), codes: undefined, validity: undefined });
    extremes.add(0, count, 0, groups);
    extremes.keep();
  }
  // Slots of 32, 64 and 128 bytes a group, of which each was used once.
  expect(extremes.bytesHeld).toBeLessThan(count * (32 + 64 + 128) + 2 ** 20);
});

test("a text longer than a chunk has one of its own", () => {
  const extremes = new TextExtremes(false);
  extremes.reach(2);
  for (const length of [3_000_000, 5]) {
    extremes.begin({ offsets: Uint32Array.of(0, length), bytes: new Uint8Array(length).fill(98), codes: undefined, validity: undefined });
    extremes.add(0, 1, length === 5 ? 1 : 0, undefined);
    extremes.keep();
  }
  expect([...extremes.texts(2).offsets]).toEqual([0, 3_000_000, 3_000_005]);
});
