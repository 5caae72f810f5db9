import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { rowsOf } from "../../../test/support/batch-rows.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import type { KnownColumn } from "../../table/write-batch.ts";
import { OpenTsdbDecoder, PutBodyError, type PutOptions, type PutResult } from "./decode.ts";

const encoder = new TextEncoder();
const TABLE_NAME = /^[a-zA-Z_:-][a-zA-Z0-9_:\-.@#]*$/;

/** Columns of existing tables. */
type Tables = Readonly<Record<string, Readonly<Record<string, KnownColumn>>>>;

function optionsOf(tables: Tables = {}): PutOptions {
  return {
    database: "public",
    acceptsTable: (name) => TABLE_NAME.test(name),
    schemas: {
      columnOf: (_, table, column) => tables[table]?.[column],
      onlyFieldOf: (_, table) => {
        const fields = Object.entries(tables[table] ?? {}).filter(([, { semantic }]) => semantic === "field");
        return fields.length === 1 ? fields[0]?.[0] : undefined;
      },
    },
  };
}

/** A row as tests write it: metric, tags, milliseconds, value. */
type Row = readonly [metric: string, tags: Readonly<Record<string, string>>, timeMs: number, value: unknown];

function plain({ batch }: Pick<PutResult, "batch">, value = "greptime_value"): Row[] {
  return rowsOf(batch).map(({ table, tags, time, fields }) => [table, tags, Number(time), fields[value]]);
}

/** Decodes a body twice, since the second time its series are known, and compares rows and refused points. */
function check(body: string, want: readonly Row[], errors: Readonly<Record<number, string>> = {}, tables: Tables = {}): void {
  const decoder = new OpenTsdbDecoder();
  for (let round = 0; round < 2; round++) {
    const result = decoder.decode(encoder.encode(body), optionsOf(tables));
    expect(plain(result)).toEqual([...want]);
    expect(Object.fromEntries(result.errors.map(({ number, reason }) => [number, reason]))).toEqual({ ...errors });
    expect([result.rowCount, result.errorCount]).toEqual([want.length, Object.keys(errors).length]);
  }
}

function refuse(body: string, message: RegExp): void {
  const decode = (): unknown => new OpenTsdbDecoder().decode(encoder.encode(body), optionsOf());
  expect(decode).toThrow(PutBodyError);
  expect(decode).toThrow(message);
}

const T = 1_346_846_400;

test("a request may name many metrics whatever earlier ones named", () => {
  const decoder = new OpenTsdbDecoder();
  for (const from of [0, 40_000]) {
    const points = Array.from({ length: 40_000 }, (_, i) => `{"metric":"m${from + i}","timestamp":${T},"value":1,"tags":{}}`);
    const { rowCount, errorCount } = decoder.decode(encoder.encode(`[${points.join(",")}]`), optionsOf());
    expect([rowCount, errorCount]).toEqual([40_000, 0]);
  }
});

describe("JSON", () => {
  test("one point, and an array of points", () => {
    check(`{"metric":"sys.cpu.nice","timestamp":${T},"value":18,"tags":{"host":"web01","dc":"lga"}}`, [
      ["sys.cpu.nice", { host: "web01", dc: "lga" }, T * 1000, 18],
    ]);
    check(
      ` [ {"tags":{},"value":-1.5e3,"timestamp":${T}123,"metric":"m"} , ` +
        `{"metric":"n","timestamp":-5,"value":0.1,"tags":{"a":"1"},"x":[{}]} ] `,
      [
        ["m", {}, T * 1000 + 123, -1500],
        ["n", { a: "1" }, -5000, 0.1],
      ],
    );
    check("[]", []);
  });

  test("fewer than 13 digits are seconds", () => {
    for (const [time, ms] of [
      ["999999999999", 999_999_999_999_000],
      ["1000000000000", 1_000_000_000_000],
      ["-1", -1000],
      ["0", 0],
    ] as const) {
      check(`{"metric":"m","timestamp":${time},"value":1,"tags":{}}`, [["m", {}, ms, 1]]);
    }
  });

  test("escapes, tags in another order, empty tag values", () => {
    check(
      `[{"metric":"\\u006d","timestamp":1,"value":1,"tags":{"a":"\\u00e9","b":"2"}},` +
        `{"metric":"m","timestamp":2,"value":2,"tags":{"b":"2","a":"é","c":""}}]`,
      [
        ["m", { a: "é", b: "2" }, 1000, 1],
        ["m", { b: "2", a: "é" }, 2000, 2],
      ],
    );
    check(`{"m\\u0065tric":"m","timestamp":1,"value":1,"tags":{}}`, [["m", {}, 1000, 1]]);
  });

  test("bad points are refused one by one, with their number", () => {
    const good = `{"metric":"m","timestamp":1,"value":1,"tags":{}}`;
    const point = (members: string): string => `{"metric":"m","timestamp":1,"value":1,"tags":{},${members}}`;
    const cases: readonly (readonly [string, string])[] = [
      ["5", "a data point must be an object"],
      ["{}", "missing field `metric`"],
      [`{"metric":"m"}`, "missing field `timestamp`"],
      [`{"metric":"m","timestamp":1}`, "missing field `value`"],
      [`{"metric":"m","timestamp":1,"value":1}`, "missing field `tags`"],
      [point(`"value":"1"`), "`value` must be a number"],
      [point(`"value":1e999`), "`value` is beyond the range of doubles"],
      [point(`"timestamp":"1"`), "`timestamp` must be a whole number of seconds or milliseconds"],
      [point(`"timestamp":1.5`), "`timestamp` must be a whole number of seconds or milliseconds"],
      [point(`"timestamp":9223372036854775807`), "`timestamp` is out of range"],
      [point(`"metric":null`), "`metric` must be a string"],
      [point(`"metric":""`), "empty metric name"],
      [point(`"metric":"a b"`), "metric 'a b' cannot be the name of a table"],
      [point(`"tags":[]`), "`tags` must be an object"],
      [point(`"tags":{"a":1}`), "tag 'a' must be a string"],
      [point(`"tags":{"":"x"}`), "tag '' cannot be the name of a column: the empty name cannot be used"],
      [point(`"tags":{"greptime_value":"x"}`), "a tag cannot be named greptime_value"],
      [point(`"tags":{"greptime_timestamp":"x"}`), "a tag cannot be named greptime_timestamp"],
      [point(`"metric":"m${"x".repeat(70_000)}"`), "metric and tags take 70005 bytes; at most 65535 are allowed"],
    ];
    for (const [bad, reason] of cases)
      check(
        `[${good},${bad},${good}]`,
        [
          ["m", {}, 1000, 1],
          ["m", {}, 1000, 1],
        ],
        { 2: reason },
      );
  });

  test("bytes that are no UTF-8 refuse their point", () => {
    const body = encoder.encode(
      `[{"metric":"m","timestamp":1,"value":1,"tags":{"a":"?"}},{"metric":"m","timestamp":1,"value":1,"tags":{}}]`,
    );
    body[body.indexOf(0x3f)] = 0xff;
    const result = new OpenTsdbDecoder().decode(body, optionsOf());
    expect([result.rowCount, result.errors[0]?.reason]).toEqual([1, "metric or tags are not UTF-8"]);
  });

  test("what is no put is refused whole, with its place", () => {
    refuse("", /^EOF while parsing a value at line 1 column 1$/);
    refuse("5", /^expected a data point or an array of them at line 1 column 1$/);
    refuse(`[{"metric":"m","timestamp":1,"value":1,"tags":{}},\n{"metric"}]`, /^expected `:` at line 2 column 10$/);
    refuse(`[{"metric":"m","timestamp":1,"value":01,"tags":{}}]`, /^invalid number/);
    refuse(`{"metric":"m","timestamp":1,"value":1,"tags":{}} x`, /^trailing characters/);
    refuse(`{"x":${"[".repeat(1000)}`, /levels of nesting/);
  });

  test("names the first hundred bad points and counts the others", () => {
    const result = new OpenTsdbDecoder().decode(encoder.encode(`[${"1,".repeat(249)}1]`), optionsOf());
    expect([result.errors.length, result.errorCount, result.errors.at(-1)?.number]).toEqual([100, 250, 100]);
  });
});

describe("existing tables", () => {
  const time: KnownColumn = { type: TIMESTAMP_MILLISECOND, semantic: "timestamp" };
  const host: KnownColumn = { type: STRING, semantic: "tag" };
  const body = `{"metric":"m","timestamp":1,"value":1,"tags":{"host":"a"}}`;

  test("the value goes to the only field", () => {
    const tables: Tables = { m: { ts: time, host, val: { type: FLOAT64, semantic: "field" } } };
    const result = new OpenTsdbDecoder().decode(encoder.encode(body), optionsOf(tables));
    expect(plain(result, "val")).toEqual([["m", { host: "a" }, 1000, 1]]);
  });

  test("of several fields none is taken", () => {
    const field: KnownColumn = { type: FLOAT64, semantic: "field" };
    check(body, [["m", { host: "a" }, 1000, 1]], {}, { m: { ts: time, host, a: field, b: field } });
  });

  test("a column of another type or role refuses the points", () => {
    check(body, [], { 1: "column v of table m is BIGINT; values are DOUBLE" }, { m: { ts: time, v: { type: INT64, semantic: "field" } } });
    const tag: Tables = { m: { ts: time, host: { type: INT64, semantic: "tag" } } };
    check(body, [], { 1: "tag host is of type BIGINT in table m; tags are STRING" }, tag);
    const field: Tables = { m: { ts: time, host: { type: STRING, semantic: "field" }, v: { type: FLOAT64, semantic: "field" } } };
    check(body, [], { 1: "tag host is a field column in table m; tags are STRING" }, field);
    check(body, [], { 1: "tag host is a timestamp column in table m; tags are STRING" }, { m: { host: time } });
  });
});

/** The oracle: what `JSON.parse` makes of a body of points. */
interface Point {
  readonly metric: string;
  readonly timestamp: number;
  readonly value: number;
  readonly tags: Readonly<Record<string, string>>;
}

test("random points are read as JSON.parse reads them; with bytes changed they never do harm", () => {
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 6 }).map((value) => value.toWellFormed());
  const point = fc.record({
    metric: fc.constantFrom("m", "sys.cpu", "a:b"),
    timestamp: fc.integer(),
    value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    tags: fc.dictionary(fc.constantFrom("host", "é", "x y"), text),
  });
  const decoder = new OpenTsdbDecoder();
  fc.assert(
    fc.property(fc.array(point, { maxLength: 8 }), fc.nat(), fc.nat(255), (points: readonly Point[], place, byte) => {
      const bytes = encoder.encode(JSON.stringify(points));
      const want = points.map(({ metric, timestamp, value, tags }): Row => [metric, { ...tags }, timestamp * 1000, value]);
      const rows = plain(decoder.decode(bytes, optionsOf()));
      const order = (a: Row, b: Row): number => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
      expect(rows.toSorted(order)).toEqual(want.toSorted(order));
      bytes[place % bytes.length] = byte;
      try {
        plain(decoder.decode(bytes, optionsOf()));
      } catch (error) {
        expect(error).toBeInstanceOf(PutBodyError);
      }
    }),
    { seed: 31, numRuns: 200 },
  );
});

test("forgets series when their memory is full", () => {
  const decoder = new OpenTsdbDecoder(1000);
  for (let i = 0; i < 200; i++) {
    const body = `[{"metric":"m${i % 7}","timestamp":${i},"value":${i},"tags":{"i":"${i % 20}"}}]`;
    expect(plain(decoder.decode(encoder.encode(body), optionsOf()))).toEqual([[`m${i % 7}`, { i: String(i % 20) }, i * 1000, i]]);
  }
});

describe("lines", () => {
  /** Reads a line twice; `want` is a row or the refusal. */
  function checkLine(line: string, want: Row | string): void {
    const decoder = new OpenTsdbDecoder();
    for (let round = 0; round < 2; round++) {
      decoder.begin(optionsOf());
      const bytes = encoder.encode(`xx${line}yy`);
      const flaw = decoder.line(bytes, 2, bytes.length - 2);
      if (typeof want === "string") expect(flaw).toBe(want);
      else expect([flaw, plain(decoder.taken())]).toEqual([undefined, [want]]);
    }
  }

  test("good ones", () => {
    checkLine("put sys.cpu 1346846400 42.5 host=web01 cpu=0", ["sys.cpu", { host: "web01", cpu: "0" }, T * 1000, 42.5]);
    checkLine("put  m   1346846400123  -1e3   a=1  ", ["m", { a: "1" }, T * 1000 + 123, -1000]);
    checkLine("put m 1346846400.5 .5 a=é", ["m", { a: "é" }, T * 1000 + 500, 0.5]);
  });

  test("bad ones, in OpenTSDB's words", () => {
    checkLine("put", "illegal argument: not enough arguments (need least 4, got 0)");
    checkLine("put m 1 2", "illegal argument: not enough arguments (need least 4, got 3)");
    checkLine("put m x 2 a=1", "illegal argument: Invalid timestamp: x");
    checkLine("put m 99999999999999999 2 a=1", "illegal argument: Invalid timestamp: 99999999999999999");
    for (const value of ["x", "NaN", "Infinity", "1e999", "0x10", ""]) {
      if (value !== "") checkLine(`put m 1 ${value} a=1`, `invalid value: For input string: "${value}"`);
    }
    for (const tag of ["a", "=1", "a=", "a=b=c"]) checkLine(`put m 1 2 ${tag}`, `illegal argument: invalid tag: ${tag}`);
    checkLine("put m 1 2 a=1 a=2", "illegal argument: duplicate tag: a=2");
    checkLine("put a/b 1 2 a=1", "illegal argument: metric 'a/b' cannot be the name of a table");
    checkLine("put m 1 2 greptime_value=1", "illegal argument: a tag cannot be named greptime_value");
    checkLine("put m \u001b[31m 2 a=1", "illegal argument: Invalid timestamp: ?[31m");
  });
});
