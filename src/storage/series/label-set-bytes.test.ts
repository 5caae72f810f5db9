import { expect, test } from "bun:test";
import fc from "fast-check";
import { encodeLabels } from "./label-set.ts";
import { LabelSetBytes } from "./label-set-bytes.ts";

const encoder = new TextEncoder();

/** The text of labels by their bytes; undefined when a value is not ASCII. */
function written(labels: readonly (readonly [number, string])[]): string | undefined {
  const text = new LabelSetBytes();
  let isAscii = true;
  for (const [id, value] of labels) {
    const source = encoder.encode(`x${value}y`);
    isAscii = text.add(encoder.encode(`${id.toString(36)}:`), source, 1, source.length - 1) && isAscii;
  }
  return isAscii ? new TextDecoder().decode(text.bytes.subarray(0, text.length)) : undefined;
}

const id = fc.integer({ min: 1, max: 0x7fff_ffff });
const short = fc.string({ unit: "binary-ascii", maxLength: 40 });
const long = fc.integer({ min: 1, max: 3000 }).map((length) => "v".repeat(length));

test("is what encodeLabels makes of ASCII values", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(id, fc.oneof(short, long)), { minLength: 1, maxLength: 12 }), (labels) => {
      const [ids, values] = [labels.map(([number]) => number), labels.map(([, value]) => value)];
      expect(written(labels)).toBe(encodeLabels(ids, values) as string);
    }),
    { seed: 7, numRuns: 300 },
  );
});

test("says when a value is not ASCII", () => {
  expect(written([[3, "é"]])).toBeUndefined();
  expect(
    written([
      [3, "a"],
      [4, "\u{1f600}"],
    ]),
  ).toBeUndefined();
});
