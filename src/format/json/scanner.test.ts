import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Code, JSON_DEPTH_MAX, JsonError, JsonScanner } from "./scanner.ts";
import { escapeJson, ESCAPED_BYTES_MAX, unescapeJson } from "./text.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads a whole text by the scanner, into what `JSON.parse` makes of it. */
function read(json: JsonScanner): unknown {
  const byte = json.peek();
  if (byte === Code.quote) {
    json.string();
    const target = new Uint8Array(json.stop - json.start);
    return decoder.decode(target.subarray(0, unescapeJson(json.bytes, json.start, json.stop, target, 0)));
  }
  if (byte === Code.brace) {
    const object: [string, unknown][] = [];
    if (json.enterObject()) {
      do {
        json.key();
        const key = json.text();
        object.push([key, read(json)]);
      } while (json.nextMember());
    }
    return Object.fromEntries(object);
  }
  if (byte === Code.bracket) {
    const array: unknown[] = [];
    if (json.enterArray()) {
      do array.push(read(json));
      while (json.nextElement());
    }
    return array;
  }
  if (byte === Code.minus || (byte >= Code.zero && byte <= Code.nine)) return json.number();
  const start = json.at;
  json.skip();
  return JSON.parse(decoder.decode(json.bytes.subarray(start, json.at)));
}

function scan(text: string, walk: (json: JsonScanner) => unknown): unknown {
  const json = new JsonScanner();
  json.open(encoder.encode(text));
  const value = walk(json);
  json.finish();
  return value;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.toWellFormed()) };
  } catch {
    return undefined;
  }
}

/** Compares the scanner with `JSON.parse`: what it accepts, and what it reads. */
function check(text: string): void {
  const want = parsed(text);
  if (want === undefined) {
    expect(() => scan(text, read)).toThrow(JsonError);
    expect(() => scan(text, (json) => json.skip())).toThrow(JsonError);
  } else {
    expect([text, scan(text, read)]).toEqual([text, want.value]);
    scan(text, (json) => json.skip());
  }
}

describe("the scanner accepts what JSON.parse accepts", () => {
  test("values", () => {
    for (const text of ["0", "-0", "1.5", "1e3", "-12.25E-2", "123456789012345678", "0.1", "1e400", "true", "false", "null", '""'])
      check(text);
    for (const text of ["[]", "{}", " [ 1 , 2 ] ", '{"a":{"b":[null]},"a":2}', '"\\u00e9\\ud83d\\ude00\\n\\/"', '"\u{1f600}é"'])
      check(text);
  });

  test("what is no JSON", () => {
    for (const text of ["", " ", "01", "-", "1.", ".5", "1e", "+1", "NaN", "tru", "nullx", "[1,]", "[1 2]", "{", "{a:1}", '{"a"}'])
      check(text);
    for (const text of ['{"a":1,}', "{}x", '"a', '"\\x"', '"\\u12g4"', '"\u0001"', "'a'", "[", "]", '{"a":1', "\ufeff1", "1 2"])
      check(text);
  });

  test("any value, printed", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => check(text)),
      { seed: 11, numRuns: 300 },
    );
  });

  test("any value, with a byte changed, added or taken away", () => {
    const byte = fc.constantFrom(...'{}[]",:\\u0123e.-+tfn \n'.split(""), "\u0007");
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), fc.nat(2), byte, (text, place, kind, other) => {
        const at = place % (text.length + 1);
        check(text.slice(0, at) + (kind === 1 ? "" : other) + text.slice(kind === 2 ? at : at + 1));
      }),
      { seed: 12, numRuns: 600 },
    );
  });

  test("any double, read to the bit", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(scan(String(value), (json) => json.number())).toBe(value + 0); // -0 prints as 0
      }),
      { seed: 13, numRuns: 500 },
    );
  });

  test("nesting up to the limit, and not beyond", () => {
    check("[".repeat(JSON_DEPTH_MAX) + "]".repeat(JSON_DEPTH_MAX));
    expect(() => scan("[".repeat(JSON_DEPTH_MAX + 1), (json) => json.skip())).toThrow(/levels of nesting at line 1 column 129/);
    expect(() => scan('{"a":'.repeat(100_000), (json) => json.skip())).toThrow(JsonError);
  });
});

test("errors name line and column", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["", "EOF while parsing a value at line 1 column 1"],
    ["x", "expected value at line 1 column 1"],
    ['{\n "a": 1,\n b}', "key must be a string at line 3 column 2"],
    ['{"a" 1}', "expected `:` at line 1 column 6"],
    ["[1 2]", "expected `,` or `]` at line 1 column 4"],
    ["1 x", "trailing characters at line 1 column 3"],
  ];
  for (const [text, want] of cases) expect(() => scan(text, (json) => json.skip())).toThrow(want);
});

test("text that is escaped is a JSON string again", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const source = encoder.encode(text);
      const target = new Uint8Array(source.length * ESCAPED_BYTES_MAX);
      const inside = decoder.decode(target.subarray(0, escapeJson(source, 0, source.length, target, 0)));
      expect(JSON.parse(`"${inside}"`)).toBe(text.toWellFormed());
    }),
    { seed: 14, numRuns: 300 },
  );
});
