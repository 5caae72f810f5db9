import { describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { BOOLEAN, FLOAT64, INT64, STRING } from "../../column/data-type.ts";
import { NOW, ran, runOptions, shownColumns, shownRows } from "../../../test/support/pipeline/shown.ts";
import { compilePipeline, identityPipeline } from "./decode.ts";
import { jsonValue } from "../common/json-value.ts";
import type { IdentityOptions, PipelineRunOptions } from "./types.ts";
import type { PipelineValue } from "../common/value.ts";

function check(yaml: string, rows: readonly PipelineValue[], want: readonly string[], options: Partial<PipelineRunOptions> = {}): void {
  expect(shownRows(ran(yaml, rows, runOptions(options)))).toEqual([...want]);
}

function checkError(run: () => unknown, message: string | RegExp, code: StatusCode = StatusCode.InvalidArguments): void {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(DbError);
  if (thrown instanceof DbError) {
    expect(thrown.message).toMatch(message);
    expect(thrown.code).toBe(code);
  }
}

const RATE = "false_positive_rate = '0.01'";
const TIME = "  - {field: ts, type: 'epoch, ms', index: timestamp}\n";

describe("identity", () => {
  const identity = (
    rows: readonly PipelineValue[],
    want: readonly string[],
    own: IdentityOptions = {},
    run: Partial<PipelineRunOptions> = {},
  ): void => {
    expect(shownRows(ran(identityPipeline(own), rows, runOptions(run)))).toEqual([...want]);
  };

  test("every field becomes a column: objects by dotted names, arrays as text, null not at all", () => {
    const text =
      '{"null_col":null,"int_col":42,"float_col":3.1,"bool_col":true,"str_col":"hello","array_col":[1,2,3],"obj_col":{"nested":"value"}}';
    const want = `t: greptime_timestamp=${NOW} array_col=[1,2,3] bool_col=true float_col=3.1 int_col=42 obj_col.nested=value str_col=hello`;
    identity([jsonValue(text)], [want]);
  });

  test("columns are in alphabetical order of each row that brings them", () => {
    const rows: PipelineValue[] = [
      { str: "a", int: 1 },
      { int: 2, float: 0.5, bool: false },
      { str: "b", array: [] },
    ];
    const columns = "greptime_timestamp@ TimestampNanosecond, int Int64, str String, bool Boolean, float Float64, array String";
    expect(shownColumns(ran(identityPipeline(), rows))).toBe(columns);
  });

  test("a row of nulls is kept", () => identity([{ a: null }], [`t: greptime_timestamp=${NOW}`]));

  test("objects below the deepest level become text with their keys in order", () => {
    const row = (): PipelineValue => ({ a: { c: { e: 1, d: 2 }, b: 1 } });
    identity([row()], [`t: greptime_timestamp=${NOW} a.b=1 a.c={"d":2,"e":1}`], { maxNestedLevels: 2 });
    identity([row()], [`t: greptime_timestamp=${NOW} a={"b":1,"c":{"d":2,"e":1}}`], {}, { maxNestedLevels: 1 });
  });

  test("whole floats are floats, ints keep 64 bits", () => {
    const result = ran(identityPipeline(), [jsonValue('{"f":1.0,"i":9007199254740993}')]);
    expect(shownColumns(result)).toBe("greptime_timestamp@ TimestampNanosecond, f Float64, i Int64");
    expect(shownRows(result)).toEqual([`t: greptime_timestamp=${NOW} f=1 i=9007199254740993`]);
  });

  test("one column has one type, in the request and in the table", () => {
    const mismatch = /^Column datatype mismatch. For column: a, expected datatype: Float64, actual datatype: Int64$/;
    checkError(() => ran(identityPipeline(), [{ a: 1.5 }, { a: 1 }]), mismatch);
    const known = runOptions({}, { "t.a": { type: FLOAT64, semantic: "field" } });
    checkError(() => ran(identityPipeline(), [{ a: 1 }], known), mismatch);
  });

  test("a row that fails leaves no column behind", () => {
    const result = ran(identityPipeline(), [{ a: 1 }, { a: "x", b: 1 }, { a: 2 }], runOptions({ skipError: true }));
    expect(shownColumns(result)).toBe("greptime_timestamp@ TimestampNanosecond, a Int64");
    expect([result.rowCount, result.failedCount, result.errors[0]?.index]).toEqual([2, 1, 1]);
  });

  test("columns that are tags in the table stay tags", () => {
    const options = runOptions({}, { "t.host": { type: STRING, semantic: "tag" } });
    expect(shownColumns(ran(identityPipeline(), [{ host: "a", v: 1 }], options))).toBe(
      "greptime_timestamp@ TimestampNanosecond, host* String, v Int64",
    );
  });

  test("the time index may be a field", () => {
    const row = (): PipelineValue => ({ ts: 1_700_000_000, v: 1 });
    identity([row(), { ts: "5", v: 2 }], ["t: ts=1700000000 v=1", "t: ts=5 v=2"], { customTimeIndex: "ts;epoch;s" });
    const format = "ts;datestr;%Y-%m-%dT%H:%M:%S%z";
    identity([{ ts: "2024-05-25T20:16:37+08:00" }], ["t: ts=1716639397000000000"], { customTimeIndex: format });
    checkError(() => ran(identityPipeline({ customTimeIndex: "ts;epoch;s" }), [{ ts: "x" }]), /custom time index ts/);
    identity([{ ts: "x" }], ["t: ts=1700000000"], { customTimeIndex: "ts;epoch;s" }, { ignoreErrors: true });
    for (const config of ["ts", "ts;epoch;h", "ts;other;s", "ts;datestr;%Y", ";epoch;s", "ts;datestr;%Q %z"]) {
      checkError(() => identityPipeline({ customTimeIndex: config }), /^Invalid custom time index config: .*, reason: /);
    }
  });

  test("hints leave the row, a table suffix does nothing", () => {
    identity([{ a: 1, greptime_ttl: "1d", greptime_table_suffix: "_x" }], [`t: greptime_timestamp=${NOW} a=1 /ttl=1d`]);
  });

  test("an item that is no object is refused", () => {
    for (const item of [1, "a", null, [{ a: 1 }], true]) {
      checkError(() => ran(identityPipeline(), [item]), /^Top level value must be map$/, StatusCode.InvalidArguments);
    }
  });

  test("names of Object.prototype are names like others", () => {
    const rows = [jsonValue('{"__proto__":1,"constructor":"c","toString":true}')];
    identity(rows, [`t: greptime_timestamp=${NOW} __proto__=1 constructor=c toString=true`]);
  });
});

test("a value that is nested deeply fails its row, whatever meets it", () => {
  const deep = (): PipelineValue => ({ ts: 1, a: jsonValue(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`) });
  const vrl = "processors: [{vrl: {source: '.b = flatten(.a); .c = .a == .b; .'}}, {epoch: {field: ts}}]";
  checkError(() => ran(identityPipeline(), [deep()], runOptions({ maxNestedLevels: 1_000_000 })), /nested deeper than 256 levels/);
  checkError(() => ran(vrl, [deep()]), /nested/);
  checkError(() => ran("processors: [{epoch: {field: ts}}]", [deep()]), /nested deeper than 256 levels/);
});

describe("transform", () => {
  const typed = (type: string, value: PipelineValue, more = ""): readonly string[] =>
    shownRows(ran(`transform:\n${TIME}  - {field: v, type: ${type}${more}}\n`, [{ ts: 1, v: value }]));

  test("values become cells of the declared type", () => {
    const cases: readonly (readonly [string, PipelineValue, string | undefined])[] = [
      ["int8", "-128", "-128"],
      ["uint64", 18446744073709551615n, "18446744073709551615"],
      ["int32", 1.9, "1"],
      ["int8", 1e9 + 0.5, "127"],
      ["int16", true, "1"],
      ["float64", "1e3", "1000"],
      ["float64", 7, "7"],
      ["boolean", 0, "false"],
      ["boolean", "true", "true"],
      ["string", jsonValue("1.0"), "1.0"],
      ["string", 12, "12"],
      ["json", { b: [1], a: null }, '{"a":null,"b":[1]}'],
      ["'time, s'", 5, "5"],
      ["string", null, undefined],
    ];
    for (const [type, value, want] of cases)
      expect([type, ...typed(type, value)]).toEqual([type, `t: ts=1${want === undefined ? "" : ` v=${want}`}`]);
  });

  test("what a type has no value for fails the row, or is left out, or is the default", () => {
    const cases: readonly (readonly [string, PipelineValue, string])[] = [
      ["int8", 128, "0"],
      ["int8", "1.5", "0"],
      ["int32", " 1", "0"],
      ["boolean", "True", "false"],
      ["float32", "x", "0"],
      ["string", [1], ""],
      ["json", "text", "null"],
      ["time", "5", "0"],
    ];
    for (const [type, value, zero] of cases) {
      checkError(() => typed(type, value), /^Failed to coerce /);
      expect(typed(type, value, ", on_failure: ignore")).toEqual(["t: ts=1"]);
      expect(typed(type, value, ", on_failure: default")).toEqual([`t: ts=1 v=${zero}`]);
    }
    expect(typed("int8", "x", ", default: 7")).toEqual(["t: ts=1 v=7"]);
    expect(typed("int8", undefined, ", default: 7")).toEqual(["t: ts=1 v=7"]);
    expect(typed("int8", null, ", default: 7")).toEqual(["t: ts=1"]);
  });

  test("version 1 keeps what is declared, in its order, and adds a time index where there is none", () => {
    const yaml = "transform:\n  - {fields: [b, 'a, c'], type: string}\n  - {field: h, type: string, tag: true}\n";
    check(yaml, [{ a: "1", b: "2", h: "x", other: 3 }], [`t: b=2 c=1 h=x greptime_timestamp=${NOW}`]);
    check(yaml, [{ a: "1", greptime_timestamp: 5 }], ["t: c=1 greptime_timestamp=5"]);
  });

  test("version 2 appends the other fields", () => {
    const yaml = `version: 2\ntransform:\n  - {field: id, type: int32, tag: true}\n${TIME}`;
    check(yaml, [{ id: "1", ts: 5, z: 1, a: "x" }], ["t: id=1 ts=5 a=x z=1"]);
    checkError(() => compilePipeline("version: 2\ntransform: [{field: a, type: string}]"), /version 2/);
  });

  test("without a time the row fails, or gets now where a default is allowed", () => {
    checkError(() => ran(`transform:\n${TIME}`, [{}]), /^Time index must be non null\.$/);
    check("transform: [{field: ts, type: 'time, ms', index: time, on_failure: default}]", [{}], ["t: ts=1700000000123"]);
  });

  test("its columns are known before it runs, with indexes", () => {
    const yaml = `transform:
  - {field: a, type: string, index: fulltext}
  - {field: b, type: int32, index: {type: skipping, options: {granularity: 512}}}
${TIME}`;
    expect(
      compilePipeline(yaml)
        .columns("greptime_timestamp")
        ?.map(({ name, indexes }) => [name, indexes]),
    ).toEqual([
      ["a", [`FULLTEXT INDEX WITH(analyzer = 'English', backend = 'bloom', case_sensitive = 'false', ${RATE}, granularity = '10240')`]],
      ["b", ["SKIPPING INDEX WITH(false_positive_rate = '0.01', granularity = '512', type = 'BLOOM')"]],
      ["ts", undefined],
    ]);
    expect(identityPipeline().columns("x")).toBeUndefined();
  });
});

describe("without a transform", () => {
  test("the one time that processors make is the first column, the others follow", () => {
    const yaml = `
processors:
  - dissect: {field: message, pattern: '%{+ts} %{+ts} %{http_status_code} %{content}'}
  - date: {field: ts, formats: ['%Y-%m-%d %H:%M:%S%.3f']}
`;
    const result = ran(yaml, [{ message: "2024-05-25 20:16:37.217 404 hello" }]);
    expect(shownColumns(result)).toBe("ts@ TimestampNanosecond, content String, http_status_code String, message String");
    expect(shownRows(result)).toEqual([
      "t: ts=1716668197217000000 content=hello http_status_code=404 message=2024-05-25 20:16:37.217 404 hello",
    ]);
  });

  test("objects and arrays are JSONB, or JSON where the column is", () => {
    const yaml = "processors: [{epoch: {field: ts}}]";
    check(yaml, [{ ts: 1, a: [true, "x"] }], ["t: ts=1 a=x80000002400000001000000178"]);
  });

  test("a pipeline without a time, or with two, is refused", () => {
    const want = /^Exactly one time-related processor and one timestamp value is required to use auto transform/;
    for (const yaml of [
      "processors: []",
      "processors: [{epoch: {fields: [a, b]}}]",
      "processors: [{epoch: {field: a, ignore_missing: true}}]",
    ]) {
      checkError(() => compilePipeline(yaml), want);
    }
  });
});

describe("tables and hints", () => {
  const yaml = (more: string): string => `processors: [{epoch: {field: ts}}]\n${more}`;

  test("a suffix is filled from the row; one that lacks a variable has none", () => {
    const rows: PipelineValue[] = [
      { ts: 1, type: "db", n: 5 },
      { ts: 2, type: "http" },
      { ts: 3, type: "x", n: 1.5 },
    ];
    const want = ["t_db_5: ts=1 n=5 type=db", "t: ts=2 type=http", "t: ts=3 type=x n=1.5"];
    check(yaml("table_suffix: _${type}_${n}\n"), rows, want);
  });

  test("the hint of a suffix wins over the template, and rows are grouped by hints", () => {
    const rows: PipelineValue[] = [
      { ts: 1, greptime_table_suffix: "_h" },
      { ts: 2, type: "a", greptime_skip_wal: true },
      { ts: 3, type: "a" },
    ];
    const result = ran(yaml("table_suffix: _${type}\n"), rows);
    expect(shownRows(result)).toEqual(["t_h: ts=1", "t_a: ts=3 type=a", "t_a: ts=2 type=a /skip_wal=true"]);
    expect(result.groups.map(({ rowCount }) => rowCount)).toEqual([2, 1]);
  });

  test("a dispatcher sends rows on by value and type", () => {
    const dispatcher = `dispatcher:
  field: type
  rules:
    - {value: http, table_suffix: http, pipeline: web}
    - {value: 1, table_suffix: _one}
`;
    const web = compilePipeline(
      "processors: [{letter: {field: m, method: upper}}, {epoch: {field: ts}}]\ntransform:\n  - {field: m, type: string}\n" + TIME,
    );
    const pipeline = compilePipeline(yaml(dispatcher));
    expect([pipeline.dispatchTargets, pipeline.hasVariableTable]).toEqual([["web"], true]);
    const rows: PipelineValue[] = [
      { ts: 1, type: "http", m: "x" },
      { ts: 2, type: 1 },
      { ts: 3, type: "1" },
    ];
    const options = runOptions({ pipelineOf: (name) => (name === "web" ? web : undefined) });
    const want = ["thttp: m=X ts=1", `t_one: greptime_timestamp=${NOW} ts=2000000 type=1`, "t: ts=3 type=1"];
    expect(shownRows(ran(pipeline, rows, options))).toEqual(want);
    checkError(() => ran(yaml(dispatcher), [{ ts: 1, type: "http" }]), /^Pipeline not found, name: web, version: latest$/);
  });

  test("a circle of dispatchers ends", () => {
    const pipeline = compilePipeline(yaml("dispatcher: {field: a, rules: [{value: 1, table_suffix: x, pipeline: self}]}"));
    checkError(() => ran(pipeline, [{ ts: 1, a: 1 }], runOptions({ pipelineOf: () => pipeline })), /at most 8 dispatchers/);
  });

  test("rows that fail are left out on demand", () => {
    const result = ran(yaml(""), [{ ts: 1 }, { ts: "x" }, {}, 5], runOptions({ skipError: true }));
    expect([result.rowCount, result.failedCount, result.errors.map(({ index }) => index)]).toEqual([1, 3, [1, 2, 3]]);
    checkError(() => ran(yaml(""), [{ ts: 1 }, {}]), /^Processor epoch: missing field: ts$/);
  });

  test("no row, no group", () => expect(ran(yaml(""), []).groups).toEqual([]));

  test("a column of another type in the table is refused", () => {
    const known = runOptions({}, { "t.a": { type: BOOLEAN, semantic: "field" }, "t.b": { type: INT64, semantic: "timestamp" } });
    checkError(() => ran(yaml(""), [{ ts: 1, a: 1 }], known), /^Column datatype mismatch/);
    checkError(() => ran(yaml(""), [{ ts: 1, b: 1 }], known), /is its time index/);
  });
});

describe("definitions that are refused", () => {
  const rejects: readonly (readonly [string, RegExp])[] = [
    ["a: [", /^Yaml load error\.: /],
    ["", /^Yaml load error\.: /],
    ["processors: []\n---\nprocessors: []\n", /exactly one document/],
    ["version: 3\ntransform: []", /^Invalid Pipeline doc version number: 3$/],
    ["processors:\n  - nope: {}\n", /^Unsupported nope processor \(line 2\)$/],
    [
      "processors:\n  - date: {field: a}\n  # why\n  - date:\n      field: a\n      formats: ['%Q']\n",
      /^Processor date: formats .*%Q \(line 4\)$/,
    ],
    ["processors:\n- dissect: {field: a, pattern: '%{a}%{b}'}\n", /two names without a literal.*\(line 2\)$/],
    ["processors: [{gsub: {field: a, replacement: b}}]", /^Pattern is required$/],
    ["processors: [{regex: {field: a, pattern: '(?<n>a(?=b))'}}]", /cannot compile the pattern/],
    ["processors: [{date: {}}]", /field or fields is required/],
    ["processors: {date: {}}", /^processors must be a list$/],
    ["transform: [{field: a, type: text}]", /failed to parse type 'text'/],
    ["transform: [{field: a, type: int8, index: fulltext}]", /fulltext is for string columns/],
    ["transform: [{field: a, type: string, index: best}]", /^Unsupported index type: best/],
    ["transform: [{field: a, type: int8}, {field: 'b, a', type: int8}]", /column a is declared twice/],
    ["transform: [{field: a, type: time, index: time}, {field: b, type: time, index: time}]", /multiple timestamp/],
    ["transform: [{fields: [a, b], type: time, index: time}]", /exactly one field/],
    ["transform: [{field: a, type: string}]\ndispatcher: {rules: []}", /^Field is required for dispatcher$/],
    ["transform: [{field: a, type: string}]\ndispatcher: {field: a, rules: [{value: 1}]}", /^Table suffix is required/],
    ["transform: [{field: a, type: string}]\ntable_suffix: '_${a'", /without }/],
  ];
  for (const [yaml, want] of rejects) test(JSON.stringify(yaml.slice(0, 70)), () => checkError(() => compilePipeline(yaml), want));
});
