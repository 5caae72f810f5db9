import { expect, test } from "bun:test";
import fc from "fast-check";
import { isUtf8 } from "./utf8.ts";

const strict = new TextDecoder("utf-8", { fatal: true });

function check(bytes: readonly number[], want: boolean): void {
  expect(`${bytes.join(" ")} ${isUtf8(Uint8Array.from(bytes), 0, bytes.length)}`).toBe(`${bytes.join(" ")} ${want}`);
}

/** What the platform's decoder says. */
function decodes(bytes: readonly number[]): boolean {
  try {
    strict.decode(Uint8Array.from(bytes));
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return false;
  }
}

test("takes the first and last character of each length", () => {
  for (const character of ["\u0000", "\u007f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"]) {
    check([...new TextEncoder().encode(character)], true);
  }
});

test("refuses overlong forms, surrogates, what is above U+10FFFF and what is cut", () => {
  check([0xc1, 0xbf], false);
  check([0xe0, 0x9f, 0xbf], false);
  check([0xf0, 0x8f, 0xbf, 0xbf], false);
  check([0xed, 0xa0, 0x80], false);
  check([0xf4, 0x90, 0x80, 0x80], false);
  check([0xf8, 0x88, 0x80, 0x80, 0x80], false);
  check([0xe2, 0x82], false);
  check([0x80], false);
});

test("agrees with the platform's decoder", () => {
  const byte = fc.oneof(fc.constantFrom(0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4), fc.nat(255));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 6 }), (bytes) => check(bytes, decodes(bytes))),
    { seed: 3, numRuns: 2000 },
  );
});
