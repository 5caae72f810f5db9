import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TagDictionary } from "./tag-dictionary.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a tag dictionary", () => {
  test("gives distinct texts dense codes, as strings and as bytes", () => {
    const dictionary = new TagDictionary();
    const texts = ["a", "", "ä", "\u{1f600}", "a\0", "x".repeat(300)];
    expect(texts.map((text) => dictionary.encode(text))).toEqual([1, 2, 3, 4, 5, 6]);
    for (const [i, text] of texts.entries()) {
      const bytes = encode(`<${text}>`);
      expect(dictionary.encodeBytes(bytes, 1, bytes.length - 1)).toBe(i + 1);
      expect([dictionary.find(text), dictionary.findBytes(bytes, 1, bytes.length - 1), dictionary.textOf(i + 1)]).toEqual([
        i + 1,
        i + 1,
        text,
      ]);
    }
    expect([dictionary.encode(undefined), dictionary.find(undefined), dictionary.textOf(0), dictionary.find("b")]).toEqual([
      0,
      0,
      undefined,
      -1,
    ]);
    expect([dictionary.size, dictionary.findBytes(encode("b"), 0, 1)]).toEqual([7, -1]);
  });

  test("tells apart whatever is different, over many growths", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 3 }), { maxLength: 400 }), (texts) => {
        const dictionary = new TagDictionary();
        const known = new Map<string, number>();
        for (const text of texts) {
          const code = dictionary.encode(text);
          expect(code).toBe(known.get(text) ?? known.size + 1);
          known.set(text, code);
        }
        expect(dictionary.texts()).toEqual([undefined, ...known.keys()]);
      }),
      { seed: 21, numRuns: 60 },
    );
  });

  test("takes lone surrogates as U+FFFD", () => {
    const dictionary = new TagDictionary();
    expect(dictionary.encode("x\ud800")).toBe(dictionary.encode("x\ufffd"));
    expect(dictionary.textOf(1)).toBe("x\ufffd");
  });

  test("makes strings when they are asked for, each once, and all that are missing", () => {
    const dictionary = new TagDictionary();
    for (let i = 0; i < 10; i++) dictionary.encode(`v${i}`);
    const third = dictionary.textOf(3);
    const texts = dictionary.texts();
    expect([texts.length, texts[3] === third, texts[10]]).toEqual([11, true, "v9"]);
    dictionary.encode("more");
    expect(dictionary.texts()).toBe(texts);
    expect(texts[11]).toBe("more");
    expect(() => dictionary.textOf(12)).toThrow("a code below 12; got 12");
  });

  test("takes at most 24 bytes a value beside the text, doubled where it grows", () => {
    const dictionary = new TagDictionary();
    for (let i = 0; i < 20_000; i++) dictionary.encode(`host_${i}`);
    expect(dictionary.byteLength / 20_000).toBeLessThan(2 * (10 + 4 + 8));
  });
});
