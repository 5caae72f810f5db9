import { describe, expect, test } from "bun:test";
import { fnv1a } from "../base/bytes/hash.ts";
import { SeriesDictionary, type TagSet, type ValueLocator } from "./series-dictionary.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength);
const tagsFor = (text: string): TagSet => ({ table: text, names: [], values: [] });

function addKey(dictionary: SeriesDictionary, text: string): number {
  const bytes = encode(`..${text}..`);
  return dictionary.add(bytes, 2, bytes.length - 2, fnv1a(bytes, 2, bytes.length - 2), tagsFor(text));
}

function findKey(dictionary: SeriesDictionary, text: string): number {
  const bytes = encode(text);
  return dictionary.find(bytes, 0, bytes.length, fnv1a(bytes, 0, bytes.length));
}

test("keys are dense, found again, and know their tags", () => {
  const dictionary = new SeriesDictionary();
  for (let i = 0; i < 10_000; i++) expect(addKey(dictionary, `cpu,host=h${i}`)).toBe(i);
  for (let i = 0; i < 10_000; i++) expect(findKey(dictionary, `cpu,host=h${i}`)).toBe(i);
  expect(findKey(dictionary, "cpu,host=h10000")).toBe(-1);
  expect(dictionary.tagsOf(42).table).toBe("cpu,host=h42");
});

test("keys with equal hashes are told apart by their bytes", () => {
  const dictionary = new SeriesDictionary();
  const [a, b] = [encode("a"), encode("b")];
  dictionary.add(a, 0, 1, 5, tagsFor("a"));
  dictionary.add(b, 0, 1, 5, tagsFor("b"));
  expect(dictionary.find(a, 0, 1, 5)).toBe(0);
  expect(dictionary.find(b, 0, 1, 5)).toBe(1);
});

test("keys start at multiples of four, for comparing word by word", () => {
  const dictionary = new SeriesDictionary();
  for (const text of ["a", "abcde", "abc", "", "abcd"]) addKey(dictionary, text);
  expect([...dictionary.starts.subarray(0, 5)]).toEqual([0, 4, 12, 16, 16]);
  expect(dictionary.words.buffer).toBe(dictionary.arena.buffer);
});

test("the byte limit fills it, and clearing starts a new generation", () => {
  const dictionary = new SeriesDictionary(100);
  addKey(dictionary, "x".repeat(60));
  expect(dictionary.full).toBe(false);
  addKey(dictionary, "y".repeat(60));
  expect(dictionary.full).toBe(true);
  dictionary.clear();
  expect([dictionary.full, dictionary.size, dictionary.generation]).toEqual([false, 0, 1]);
  expect(findKey(dictionary, "x".repeat(60))).toBe(-1);
  expect(addKey(dictionary, "z")).toBe(0);
});

test("asking for the tags of an unknown key is a bug", () => {
  expect(() => new SeriesDictionary().tagsOf(0)).toThrow("a key below 0; got 0");
});

describe("plain keys", () => {
  /** Values are what stands before each comma. */
  const locate: ValueLocator = (bytes, start, end, _, spans, into) => {
    let from = start;
    for (let at = start, i = into; at < end; at++) {
      if (bytes[at] !== 0x2c) continue;
      spans[i++] = from;
      spans[i++] = at;
      from = at + 1;
    }
  };

  test("keep nothing but their bytes, and give tags back from them", () => {
    const dictionary = new SeriesDictionary(1 << 20, locate);
    const shape = { table: "t", names: ["a", "b"] };
    const bytes = encode("x,\u00e4,");
    const plain = dictionary.addPlain(viewOf(bytes), 0, bytes.length, 1, shape);
    const other = dictionary.add(bytes, 0, bytes.length, 2, { ...shape, values: ["1", "2"] });
    expect([dictionary.shapeOf(plain), dictionary.shapeOf(other).names]).toEqual([shape, shape.names]);
    expect([dictionary.tagsOf(plain).values, dictionary.tagsOf(other).values]).toEqual([
      ["x", "\u00e4"],
      ["1", "2"],
    ]);
    const spans = new Uint32Array(5);
    const { names } = shape;
    expect([dictionary.locateValues(plain, names, spans, 1), [...spans]]).toEqual([true, [0, 0, 1, 2, 4]]);
    expect([dictionary.locateValues(other, names, spans, 1), dictionary.locateValues(plain, ["a", "b"], spans, 1)]).toEqual([false, false]);
  });

  test("need somebody who finds their values", () => {
    expect(() => new SeriesDictionary().addPlain(viewOf(encode("x")), 0, 1, 1, { table: "t", names: [] })).toThrow(
      "plain keys come with a locator",
    );
  });
});
