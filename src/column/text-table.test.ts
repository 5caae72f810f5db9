import { describe, expect, test } from "bun:test";
import { compareTexts, pickTexts, textAt, textTableOf, utf8Text } from "./text-table.ts";

const TEXTS = [undefined, "b", "", "\ufeffmark", "ä", "\u{1f600}", "bb", "\0"] as const;
const table = textTableOf(TEXTS);

describe("a table of texts", () => {
  test("gives each back, NULL and empty apart", () => {
    expect(Array.from({ length: table.size }, (_, code) => textAt(table, code))).toEqual([...TEXTS]);
  });

  test("may be of NULL alone", () => {
    const none = textTableOf([undefined]);
    expect([none.size, textAt(none, 0), pickTexts(none, new Uint32Array(0)).size]).toEqual([1, undefined, 1]);
  });

  test("picks texts in the order asked for", () => {
    const picked = pickTexts(table, Uint32Array.of(5, 2, 1));
    expect(Array.from({ length: picked.size }, (_, code) => textAt(picked, code))).toEqual([undefined, "\u{1f600}", "", "b"]);
  });

  test("is ordered by bytes, NULL first", () => {
    const codes = [...TEXTS.keys()].sort((a, b) => compareTexts(table, a, b));
    expect(codes.map((code) => TEXTS[code])).toEqual([undefined, "", "\0", "b", "bb", "ä", "\ufeffmark", "\u{1f600}"]);
    expect(compareTexts(table, 3, 3)).toBe(0);
  });
});

test("a text of any length is read, from shared memory too", () => {
  for (const text of ["", "a", "x".repeat(100), "ß".repeat(50), "\ufeff"]) {
    const encoded = new TextEncoder().encode(`..${text}..`);
    const shared = new Uint8Array(new SharedArrayBuffer(encoded.length));
    shared.set(encoded);
    for (const bytes of [encoded, shared]) expect(utf8Text(bytes, 2, bytes.length - 2)).toBe(text);
  }
});
