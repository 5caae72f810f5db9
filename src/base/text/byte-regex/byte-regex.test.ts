import { expect, test } from "bun:test";
import fc from "fast-check";
import { compileLinearRegex } from "../linear-regex.ts";
import { ByteRegex, ByteTest } from "./byte-regex.ts";

const encoder = new TextEncoder();

/** Asks the bytes and the full engine; gives what the bytes said. */
function check(pattern: string, text: string, flags = ""): ByteTest | undefined {
  const given = { insensitive: flags.includes("i"), dotAll: flags.includes("s") };
  const full = compileLinearRegex(pattern, given);
  if (!full.ok) return undefined;
  const bytes = encoder.encode(`x${text}x`);
  const found = ByteRegex.of(pattern, given)?.test(bytes, 1, bytes.length - 1);
  if (found === undefined || found >= ByteTest.ask) return found;
  expect([pattern, flags, text, found === ByteTest.yes]).toEqual([pattern, flags, text, full.value.test(text)]);
  return found;
}

test("patterns with a plain meaning are told by bytes", () => {
  const patterns = [
    ["^[0-9]+[a-f]{3}", "12abc", "abc", "12ab"],
    ["a|b$", "xa", "b", "bx", ""],
    ["^$", "", "a"],
    ["x*", "", "y"],
    ["(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"],
    ["^https?://(?:www\\.)?([^/]+)/.*$", "http://www.a.b/c", "https://a", "http:///"],
    [".", "é", "\n", "😀"],
    ["^.$", "é", "😀", "ab", "漢"],
    ["^[^a]{2}$", "éb", "é", "a😀", "😀é"],
    ["[a-c-]x", "-x", "dx"],
    ["a{2,3}b", "aab", "ab", "aaaab"],
    ["a{", "a{", "a"],
    ["[\\]^]", "]", "^", "a"],
    ["\\x41\\.", "A.", "Ab"],
    ["\\Aab\\z", "ab", "abc"],
    ["(?P<n>a)b", "ab"],
    ["$a", "a", ""],
    ["(^a|b)c", "ac", "bac", "xbc"],
  ];
  for (const [pattern = "", ...texts] of patterns) {
    for (const text of texts)
      for (const flags of ["", "i", "s"]) expect([pattern, check(pattern, text, flags)]).not.toEqual([pattern, undefined]);
  }
});

test("letters beyond ASCII stand for themselves", () => {
  expect([check("é+x", "caféé"), check("é+x", "cafééx"), check("^é$", "é")]).toEqual([ByteTest.no, ByteTest.yes, ByteTest.yes]);
});

test("what has more to it is left to the full engine", () => {
  for (const pattern of ["\\bx", "(?i)a", "\\pL", "(?m)^a", "[[:alpha:]]", "[é]", "a\\Qb", "(?:a{500}){2}"]) {
    expect([pattern, ByteRegex.of(pattern, { insensitive: false, dotAll: false })]).toEqual([pattern, undefined]);
  }
  expect(ByteRegex.of("é", { insensitive: true, dotAll: false })).toBeUndefined();
});

test("letters beyond ASCII are asked about where a class may have them", () => {
  const ask = (pattern: string, text: string, insensitive = false): ByteTest | undefined => {
    const bytes = encoder.encode(text);
    return ByteRegex.of(pattern, { insensitive, dotAll: false })?.test(bytes, 0, bytes.length);
  };
  expect(ask("\\w", "é")).toBe(ByteTest.ask);
  expect(ask("\\w", "-a")).toBe(ByteTest.yes);
  expect(ask("\\w", "é a")).toBe(ByteTest.yes);
  expect(ask("k", "\u212a", true)).toBe(ByteTest.ask);
  expect(ask("-", "\u212a", true)).toBe(ByteTest.no);
});

test("random patterns over random texts say what the full engine says", () => {
  const atom = fc.constantFrom("a", "b", "ab", "é", ".", "[ab]", "[^a]", "[a-c]", "\\.", "1", "\\x62", "^", "$", "-");
  const piece = fc.tuple(atom, fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "*?")).map(([a, repeat]) => a + repeat);
  const sequence = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(""));
  const group = fc
    .tuple(sequence, sequence, sequence, fc.constantFrom("", "*", "+", "?"))
    .map(([a, b, c, repeat]) => `${a}(${b}|${c})${repeat}`);
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "1", ".", "-", "é", "😀", "\n", "B"), { maxLength: 12 })
    .map((parts) => parts.join(""));
  let told = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        sequence,
        group,
        fc.tuple(group, group).map(([a, b]) => a + b),
      ),
      fc.array(text),
      fc.constantFrom("", "i", "s", "is"),
      (pattern, texts, flags) => {
        for (const each of texts) if ((check(pattern, each, flags) ?? ByteTest.ask) <= ByteTest.yes) told++;
      },
    ),
    { seed: 3, numRuns: 500 },
  );
  expect(told).toBeGreaterThan(1000);
});

test("a pattern of too many states is given up, in little time", () => {
  const regex = ByteRegex.of("(a|b)*a(a|b){12}$", { insensitive: false, dotAll: false });
  let state = 1;
  const letters = Array.from({ length: 20_000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return (state & 0x10000) === 0 ? "a" : "b";
  });
  const text = encoder.encode(letters.join(""));
  expect(regex?.test(text, 0, text.length)).toBe(ByteTest.gaveUp);
});
