import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { ShortTexts } from "./short-texts.ts";

const encoder = new TextEncoder();

test("a text that was kept is found by its bytes, wherever they lie; others are not", () => {
  const texts = new ShortTexts();
  const bytes = encoder.encode("a hostname, and hostname again");
  texts.keep(bytes, 2, 10, "hostname");
  expect([texts.find(bytes, 2, 10), texts.find(bytes, 16, 24), texts.find(bytes, 3, 11), texts.find(bytes, 2, 9)]).toEqual([
    "hostname",
    "hostname",
    undefined,
    undefined,
  ]);
});

test("texts that are long, or not ASCII, are not kept", () => {
  const texts = new ShortTexts();
  for (const text of ["é", "日本", "x".repeat(33)]) {
    const bytes = encoder.encode(text);
    texts.keep(bytes, 0, bytes.length, text);
    expect(texts.find(bytes, 0, bytes.length)).toBeUndefined();
  }
  texts.keep(new Uint8Array(0), 0, 0, "");
  expect(texts.find(new Uint8Array(0), 0, 0)).toBe("");
});

test("of any texts, more than are kept, what is found is what the bytes say", () => {
  const random = seededRandom(7);
  const texts = new ShortTexts();
  let found = 0;
  for (let i = 0; i < 20_000; i++) {
    const text = `t${random.below(4000)}`;
    const bytes = encoder.encode(text);
    const known = texts.find(bytes, 0, bytes.length);
    if (known === undefined) texts.keep(bytes, 0, bytes.length, text);
    else {
      found++;
      expect(known).toBe(text);
    }
  }
  expect(found).toBeGreaterThan(1000);
});
