import { expect, test } from "bun:test";
import { strictUtf8, strictUtf8Document, utf8Document, utf8Text } from "./utf8.ts";

const MARK = [0xef, 0xbb, 0xbf];

function check(bytes: readonly number[], text: string | undefined, document: string | undefined): void {
  expect(utf8Text(Uint8Array.from(bytes))).toBe(text as string);
  expect(utf8Document(Uint8Array.from(bytes))).toBe(document as string);
}

test("text, with its byte order mark or without", () => {
  check([], "", "");
  check([0x61, 0xc3, 0xa9], "aé", "aé");
  check([0xf0, 0x9f, 0x99, 0x82], "🙂", "🙂");
  check([...MARK, 0x61], "\ufeffa", "a");
  check([0x61, ...MARK], "a\ufeff", "a\ufeff");
});

test("bytes that are no text", () => {
  check([0xff], undefined, undefined);
  check([0x61, 0xc3], undefined, undefined);
  check([0xc0, 0x80], undefined, undefined);
  check([0xed, 0xa0, 0x80], undefined, undefined);
  check([...MARK, 0x80], undefined, undefined);
});

test("nothing of bytes that were refused is left for the next", () => {
  const cut = Uint8Array.of(0x61, 0xc3);
  expect(utf8Text(cut)).toBeUndefined();
  expect(utf8Text(Uint8Array.of(0xa9))).toBeUndefined();
  expect(() => strictUtf8.decode(cut)).toThrow(TypeError);
  expect(() => strictUtf8Document.decode(cut)).toThrow(TypeError);
  check([0x62], "b", "b");
});
