import { expect, test } from "bun:test";
import fc from "fast-check";
import { compileLinearRegex } from "../linear-regex.ts";
import { ByteCaptures, Found } from "./captures.ts";
import { regexTree } from "./syntax.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Compares groups with those of the full engine; gives whether bytes told them. */
function check(pattern: string, text: string, dotAll = false): boolean {
  const tree = regexTree(pattern, { insensitive: false, dotAll });
  const captures = tree === undefined ? undefined : ByteCaptures.of(tree);
  const full = compileLinearRegex(pattern, { dotAll });
  if (captures === undefined || !full.ok) return false;
  const bytes = encoder.encode(`x${text}x`);
  captures.prepare(bytes, 1, bytes.length - 1);
  const found = captures.find(bytes, 1, 1, bytes.length - 1);
  if (found === Found.gaveUp) return false;
  const groups = Array.from({ length: captures.slots.length / 2 }, (_, group) => {
    const [from = -1, to = -1] = captures.slots.subarray(group * 2, group * 2 + 2);
    return to < 0 ? undefined : decoder.decode(bytes.subarray(from, to));
  });
  const want = full.value.first(text);
  expect({ pattern, text, groups: found === Found.yes ? groups : undefined }).toEqual({
    pattern,
    text,
    groups: want === undefined ? undefined : [...want],
  });
  return true;
}

test("groups of expressions that are read without going back", () => {
  const site = "^https?://(?:www\\.)?([^/]+)/.*$";
  for (const text of ["http://www.a.b/c?d", "https://é.x/", "http://a", "http:///", "ftp://a/b", "http://www./x\ny", "http://www.x/"]) {
    expect(check(site, text)).toBe(true);
  }
  const others = [
    "^(a|b)?c",
    "^([^,]*),([^,]*)",
    "^(\\d{2,4})-(\\d)",
    "^a??(a)",
    "^[a-z]+$",
    "^(a)(b)?$",
    "^(.)(.)",
    "^x{2}(.*)$",
    "^([a-z]*)(b)?",
  ];
  for (const pattern of others) {
    const isToldSo = !pattern.includes("\\d");
    for (const text of ["", "ac", "c", "a,b,c", "2024-1", "aa", "abc", "ab", "é漢x", "xxrest", "\n"])
      expect([pattern, check(pattern, text)]).toEqual([pattern, isToldSo]);
  }
});

test("what goes back is left to the full engine", () => {
  for (const pattern of [
    "a*",
    "$",
    "(.*)b",
    "^(.*)b",
    "^(a+)+$",
    "^.*?",
    "^a*ab",
    "^(ab)*",
    "^a|b",
    "^(^a)",
    `^${"(a|b)".repeat(7)}`,
    "^\\w+",
  ]) {
    const tree = regexTree(pattern, { insensitive: false, dotAll: false });
    expect([pattern, tree === undefined ? undefined : ByteCaptures.of(tree)]).toEqual([pattern, undefined]);
  }
});

test("random expressions over random texts have the groups that the full engine finds", () => {
  const atom = fc.constantFrom("a", "b", "é", ".", "[ab]", "[^a]", "[a-c]", "(a)", "(b|c)", "([^,]+)", "(?:a|bc)", ",", "$");
  const piece = fc.tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "*?", "??")).map(([a, repeat]) => a + repeat);
  const pattern = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
  const text = fc.array(fc.constantFrom("a", "b", "c", ",", "é", "😀", "\n"), { maxLength: 8 }).map((parts) => parts.join(""));
  let told = 0;
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 1 }), fc.boolean(), fc.boolean(), (each, texts, dotAll, isAnchored) => {
      for (const one of texts) if (check(isAnchored ? `^${each}` : each, one, dotAll)) told++;
    }),
    { seed: 9, numRuns: 800 },
  );
  expect(told).toBeGreaterThan(1000);
});

test("searches that read a text too often are given up", () => {
  const text = encoder.encode("a".repeat(10_000));
  for (const pattern of ["a+b", "a+b|a"]) {
    const tree = regexTree(pattern, { insensitive: false, dotAll: false });
    const captures = tree === undefined ? undefined : ByteCaptures.of(tree);
    let matches = 0;
    let found = captures?.find(text, 0, 0, text.length);
    for (; found === Found.yes; found = captures?.find(text, 0, captures.slots[1] ?? 0, text.length)) matches++;
    expect([pattern, found, matches < 100]).toEqual([pattern, Found.gaveUp, true]);
  }
});
