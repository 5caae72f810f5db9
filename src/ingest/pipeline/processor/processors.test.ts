import { expect, test } from "bun:test";
import { jsonText } from "../json/json-text.ts";
import type { PipelineObject, PipelineValue } from "../../common/value.ts";
import { compileProcessor } from "./compile.ts";

/** Runs a processor, given as YAML, on a row; `want` is the JSON of what comes out, or the text of the error. */
function check(yaml: string, row: PipelineObject, want: string): void {
  let got: string;
  try {
    got = jsonText(compileProcessor(Bun.YAML.parse(yaml)).run({ ...row }, { nowNanos: 0n }));
  } catch (error) {
    got = error instanceof Error ? error.message : String(error);
  }
  expect([yaml, got]).toEqual([yaml, want]);
}

const of = (f: PipelineValue): PipelineObject => ({ f });

test("cmcd", () => {
  const text = 'sid="6e2f",br=3200,bs,pr=1.08,nor="..%2F300kbps",com.x=1,su';
  const want = jsonText({ f: text, f_br: 3200, f_bs: true, f_nor: '"../300kbps"', f_pr: 1.08, f_sid: '"6e2f"', f_su: true });
  check("cmcd: {field: f}", of(text), want);
  check("cmcd: {field: f}", of("br"), "Cmcd br missing value in br");
  check("cmcd: {field: f}", of("br=x"), "Processor cmcd: failed to parse br=x as an integer");
});

test("csv", () => {
  check("csv: {field: f, target_fields: 'a,b,c'}", of('1,"x, ""y""'), '{"a":"1","b":"x, \\"y\\"","c":null,"f":"1,\\"x, \\"\\"y\\"\\""}');
  check("csv: {field: f, target_fields: 'a, b, c', empty_value: '-'}", of("1,"), '{"a":"1","b":"","c":"-","f":"1,"}');
  check("csv: {field: f, target_fields: a, trim: true, separator: '|'}", of(" 1 |2"), '{"a":"1","f":" 1 |2"}');
  check("csv: {field: f, target_fields: a}", of("\n"), "Processor csv: no record in the text");
  check("csv: {field: f, target_fields: a, separator: ab}", of(""), "Processor csv: separator must be one byte, but is 'ab'");
});

test("date", () => {
  check("date: {field: 'f, t'}", of("2024-05-25T20:16:37.217Z"), "Processor date: failed to parse 2024-05-25T20:16:37.217Z");
  check(
    "date: {field: 'f, t'}",
    of("2024-05-25T20:16:37.217+08:00"),
    '{"f":"2024-05-25T20:16:37.217+08:00","t":"2024-05-25T12:16:37.217Z"}',
  );
  check("date: {field: f, timezone: Asia/Shanghai}", of("2024-05-25T20:16:37Z"), '{"f":"2024-05-25T12:16:37Z"}');
  check("date: {field: f, formats: ['%m-%d-%Y', '%d-%m-%Y']}", of("01-02-2024"), '{"f":"2024-02-01T00:00:00Z"}');
  check("date: {field: f, ignore_missing: true}", {}, "{}");
  check("date: {field: f}", {}, "Processor date: missing field: f");
  check("date: {field: f}", of(5), "Processor date: expect string value, but got 5");
});

test("decolorize and digest", () => {
  check("decolorize: {field: f}", of("\u001b[31mred\u001b[0;1m x\u001b"), '{"f":"red x\\u001b"}');
  const line = 'id 42 "quoted" (in (brackets)) 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d from 10.0.0.1:80';
  check(
    "digest: {field: f, presets: [quoted, bracketed, uuid, ip, numbers]}",
    of(line),
    `${JSON.stringify({ f: line, f_digest: "id   (in )  from " })}`,
  );
  check("digest: {field: f, regex: ['a+']}", of("caat"), '{"f":"caat","f_digest":"ct"}');
  check("digest: {field: f, presets: [words]}", of(""), "Wrong digest pattern: words");
});

test("dissect", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["%{a} %{b}", "1 2 3", '{"a":"1","b":"2 3"}'],
    ["[%{a}] %{}: %{?n} %{b}", "[x] skip: this y", '{"a":"x","b":"y"}'],
    ["%{+t} %{v} %{+t}", "a b c", '{"t":"a c","v":"b"}'],
    ["%{+t/2} %{+t/1}", "a b", '{"t":"b a"}'],
    ["%{+t} %{+t} %{+t} %{v}", "a b c d", '{"t":"a b c","v":"d"}'],
    ["%{+t->} %{+t}", "a   b", '{"t":"a b"}'],
    ["%{+t}-%{+t} %{+t}", "a-b c", '{"t":"a b c"}'],
    ["%{a->} %{b}", "x    y", '{"a":"x","b":"y"}'],
    ["%{a}, %{b}", "1, 2", '{"a":"1","b":"2"}'],
    ["%{*k}=%{&k} %{a}", "x=y z", '{"a":"z"}'],
    ["%{a}!", "x! and more", '{"a":"x"}'],
  ];
  for (const [pattern, text, want] of cases) {
    const yaml = `dissect: {field: f, pattern: '${pattern}'}`;
    check(yaml, of(text), jsonText({ ...(JSON.parse(want) as PipelineObject), f: text }));
  }
  check("dissect: {field: f, patterns: ['%{a}|%{b}', '%{c}']}", of("x"), '{"c":"x","f":"x"}');
  check("dissect: {field: f, pattern: '%{+t} %{+t}', append_separator: ''}", of("a b"), '{"f":"a b","t":"ab"}');
  check("dissect: {field: f, pattern: '%{a}, %{b}'}", of("1,2, 3"), "No matching pattern found");
  check("dissect: {field: f, pattern: '%{*k}=%{a}'}", of(""), "Processor dissect: pattern '%{*k}=%{a}' needs both %{*k} and %{&k}");
});

test("epoch", () => {
  check("epoch: {field: f}", of(1), '{"f":"1970-01-01T00:00:00.001Z"}');
  check("epoch: {field: f, resolution: second}", of("-1"), '{"f":"1969-12-31T23:59:59Z"}');
  check("epoch: {field: f, resolution: us}", of(1.9), '{"f":"1970-01-01T00:00:00.000001Z"}');
  check("epoch: {field: f}", of("1.5"), "Processor epoch: expect a string of digits as value, but got 1.5");
  check("epoch: {field: f, resolution: h}", of(1), "Processor epoch: resolution must be s, ms, us or ns, but is h");
});

test("filter", () => {
  check("filter: {field: f, targets: [Debug]}", of("DEBUG"), "null");
  check("filter: {field: f, targets: [Debug], case_insensitive: false}", of("DEBUG"), '{"f":"DEBUG"}');
  check("filter: {field: f, targets: [info], match_op: not_in}", of("debug"), "null");
  check("filter: {field: f, targets: [info], match_op: not_in}", {}, "{}");
  check("filter: {field: f, targets: [info]}", of(1), "Processor filter: expect string value, but got 1");
  check("filter: {field: f}", of(1), "Processor filter: targets is required");
});

test("gsub and regex", () => {
  check("gsub: {field: f, pattern: '(\\d)(?P<x>\\w)', replacement: '<${x}$1$$>'}", of("1a 2b"), '{"f":"<a1$> <b2$>"}');
  check("gsub: {field: f, pattern: 'x*', replacement: '-'}", of("ab"), '{"f":"-a-b-"}');
  check("gsub: {field: f, pattern: a, replacement: b}", of([1]), "Processor gsub: expect string value, but got [1]");
  check("regex: {field: f, patterns: ['(?<a>\\d+)', '(?P<b>z)']}", of("x12"), '{"f":"x12","f_a":"12"}');
  check("regex: {field: 'f, g', pattern: '(?i)^(?<k>[a-z]+)\\z'}", of("Ab"), '{"f":"Ab","g_k":"Ab"}');
  check("regex: {field: f, pattern: 'a'}", of(""), "Processor regex: pattern 'a' has no named group");
});

test("a pattern that would make a backtracking engine hang is quick", () => {
  check("gsub: {field: f, pattern: '^(a+)+$', replacement: x}", of(`${"a".repeat(2000)}!`), jsonText(of(`${"a".repeat(2000)}!`)));
});

test("join, letter, urlencoding", () => {
  check("join: {field: f, separator: '-'}", of([1, "a", true]), '{"f":"1-a-true"}');
  check("join: {field: f, separator: '-'}", of("a"), "Processor join: expect array value, but got a");
  check("letter: {field: f, method: capital}", of("élan"), '{"f":"élan"}');
  check("letter: {field: f, method: upper}", of("aé1"), '{"f":"Aé1"}');
  check("letter: {field: f}", of("AB"), '{"f":"ab"}');
  check("urlencoding: {field: f}", of("a%20b%zz%C3%A9"), '{"f":"a b%zzé"}');
  check("urlencoding: {field: f, method: encode}", of("a b/é"), '{"f":"a%20b%2F%C3%A9"}');
  check("urlencoding: {field: f}", of("%ff"), "Processor urlencoding: the decoded bytes of '%ff' are not UTF-8");
});

test("select, simple_extract, json_parse, json_path", () => {
  check("select: {fields: [a, 'b, c', d]}", { a: 1, b: 2, x: 3 }, '{"a":1,"c":2}');
  check("select: {field: a, type: exclude}", { a: 1, b: 2 }, '{"b":2}');
  check("simple_extract: {field: 'f, g', key: a.b}", of({ a: { b: 5 } }), '{"f":{"a":{"b":5}},"g":5}');
  check("simple_extract: {field: 'f, g', key: a.b}", of({ a: 1 }), '{"f":{"a":1},"g":null}');
  check("json_parse: {field: f}", of('{"a":[1.0]}'), '{"f":{"a":[1.0]}}');
  check("json_parse: {field: f}", of("5"), "Processor json_parse: unsupported value 5, expect object or array");
  check("json_parse: {field: f, ignore_missing: true}", of(null), "Field null must be a string");
  check("json_path: {field: f, json_path: '$.a[*]', result_index: 1}", of({ a: [1, 2] }), '{"f":2}');
  check("json_path: {field: f, json_path: '$.a', result_index: 1}", of({ a: 1 }), '{"f":null}');
  check("json_path: {field: f, json_path: '$.a'}", of({ a: 1 }), '{"f":[1]}');
});
