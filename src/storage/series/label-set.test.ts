import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeLabelBytes, decodeLabels, encodeLabels } from "./label-set.ts";

type Labels = readonly (readonly [number, string])[];

function decoded(text: string | undefined): Labels {
  const labels: [number, string][] = [];
  decodeLabels(text, (id, start, end) => labels.push([id, text?.slice(start, end) ?? ""]));
  return labels;
}

function encoded(labels: Labels): string | undefined {
  return encodeLabels(
    labels.map(([id]) => id),
    labels.map(([, value]) => value),
  );
}

/** By the bytes of the text, between others; undefined where it is not ASCII. */
function decodedBytes(text: string | undefined): Labels | undefined {
  const own = Buffer.from(text ?? "");
  const bytes = Buffer.concat([Buffer.from("9:"), own, Buffer.from(":1")]);
  const labels: [number, string][] = [];
  const isAscii = decodeLabelBytes(bytes, 2, 2 + own.length, (id, start, end) => labels.push([id, bytes.toString("utf8", start, end)]));
  return isAscii ? labels : undefined;
}

function check(labels: Labels, text: string | undefined): void {
  expect(encoded(labels)).toBe(text as string);
  expect(decoded(text)).toEqual(labels);
  expect(decodedBytes(text)).toEqual(/^[\0-\x7f]*$/.test(text ?? "") ? labels : undefined);
}

describe("a label set as text", () => {
  test("has one form", () => {
    check([], undefined);
    check([[3, "a"]], "3:1:a");
    check([[3, ""]], "3:0:");
    check(
      [
        [3, "web"],
        [40, "eu:1"],
      ],
      "3:3:web14:4:eu:1",
    );
    check([[36, "x".repeat(40)]], `10:14:${"x".repeat(40)}`);
  });

  test("keeps any value, whatever it looks like", () => {
    const value = fc.string({ unit: "binary", maxLength: 12 });
    const labels = fc
      .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 5000 }), value), { selector: ([id]) => id, maxLength: 12 })
      .map((list) => list.toSorted(([a], [b]) => a - b));
    fc.assert(
      fc.property(labels, labels, (a, b) => {
        expect(decoded(encoded(a))).toEqual(a);
        const bytes = decodedBytes(encoded(a));
        if (bytes !== undefined) expect(bytes).toEqual(a);
        expect(bytes === undefined).toBe(a.some(([, text]) => Buffer.byteLength(text) > text.length));
        expect(encoded(a) === encoded(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
      { seed: 4, numRuns: 300 },
    );
  });

  test("survives UTF-8, as in the log and in files", () => {
    const text = encoded([[1, "a\ud800b"]]) ?? "";
    const read = new TextDecoder().decode(new TextEncoder().encode(text));
    expect(decoded(read)).toEqual([[1, "a\ufffdb"]]);
  });

  test.each(["1:5:abc", "x", "1:", ":1:a", "1:1:ab", "1::a", "!:1:a", "1:Z:a"])("that is broken is found out: %p", (text) => {
    expect(() => decoded(text)).toThrow();
  });
});
