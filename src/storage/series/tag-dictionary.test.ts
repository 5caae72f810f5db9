import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { textTableOf } from "../../column/text-table.ts";
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

  test("gives the texts of files the codes that they would have one by one, whatever order they come in", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "ä"), maxLength: 4 });
    const file = fc.record({
      texts: fc.uniqueArray(text, { maxLength: 40 }),
      isSorted: fc.boolean(),
      looked: text,
      written: fc.option(text),
    });
    fc.assert(
      fc.property(fc.array(file, { maxLength: 5 }), (files) => {
        const dictionary = new TagDictionary();
        const reference = new TagDictionary();
        for (const { texts, isSorted, looked, written } of files) {
          const ordered = isSorted ? texts.toSorted((a, b) => Buffer.compare(encode(a), encode(b))) : texts;
          const codes = new Uint32Array(ordered.length + 1);
          dictionary.encodeTexts(textTableOf([undefined, ...ordered]), codes);
          expect([...codes]).toEqual([0, ...ordered.map((one) => reference.encode(one))]);
          if (written === null) continue;
          expect(dictionary.find(looked)).toBe(reference.find(looked));
          expect(dictionary.encode(written)).toBe(reference.encode(written));
        }
        expect(dictionary.texts()).toEqual(reference.texts());
        for (const [code, one] of reference.texts().entries()) expect(dictionary.find(one)).toBe(code);
      }),
      { seed: 23, numRuns: 300 },
    );
  });

  test("knows the texts of a file again block by block", () => {
    const texts = [undefined, ...Array.from({ length: 2000 }, (_, i) => `host_${String(i).padStart(5, "0")}`)];
    const dictionary = new TagDictionary();
    const [first, second] = [new Uint32Array(texts.length), new Uint32Array(texts.length)];
    dictionary.encodeTexts(textTableOf(texts), first);
    dictionary.encodeTexts(textTableOf(texts), second);
    expect([second, dictionary.size]).toEqual([first, texts.length]);
    const other = texts.with(700, "host_00699x");
    const third = new Uint32Array(texts.length);
    dictionary.encodeTexts(textTableOf(other), third);
    expect(third).toEqual(first.with(700, texts.length));
  });
});
