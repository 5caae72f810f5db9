import { describe, expect, test } from "bun:test";
import { Options } from "../definition.ts";
import { jsonText } from "../json/json-text.ts";
import { jsonValue } from "../../common/json-value.ts";
import type { PipelineObject, PipelineValue } from "../../common/value.ts";
import { vrlProcessor } from "./vrl.ts";

function result(source: string, row: string): string {
  try {
    const processor = vrlProcessor(new Options("vrl", { source }));
    return jsonText(processor.run(jsonValue(row) as PipelineObject, { nowNanos: 5_000_000_000n }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Runs a program on a row; `want` is the JSON of what it gives, or the text of the error. */
function check(source: string, row: string, want: string): void {
  expect([source, result(source, row)]).toEqual([source, want]);
}

/** The value of one expression. */
function value(expression: string, want: PipelineValue, row = "{}"): void {
  check(`{ "v": ${expression} }`, row, jsonText({ v: want }));
}

describe("programs", () => {
  test("assign, compare, delete", () => {
    const source = `# which
.from = "two"
cond, err = .id1 > .id2
if (cond) {
  .from = "one"
} else if err != null { .from = "none" }
del(.id1)
.n.x[1]."a b" = 5
.`;
    check(source, '{"id1":2,"id2":1}', '{"from":"one","id2":1,"n":{"x":[null,{"a b":5}]}}');
    check(source, '{"id1":1,"id2":1}', '{"from":"two","id2":1,"n":{"x":[null,{"a b":5}]}}');
    check(source, '{"id1":"a","id2":1}', '{"from":"none","id2":1,"n":{"x":[null,{"a b":5}]}}');
  });

  test("one row becomes several", () => {
    const source = 'events = array!(.events)\nhost = del(.host)\nmap_values(events) -> |e| {\n  {"host": host, "type": e.type}\n}';
    check(source, '{"host":"h","events":[{"type":"a"},{"type":"b"}]}', '[{"host":"h","type":"a"},{"host":"h","type":"b"}]');
    check(source, '{"host":"h","events":[]}', "[]");
  });

  test("a row that becomes null is filtered", () => check('if .a == "drop" { null } else { . }', '{"a":"drop"}', "null"));

  test("hints are fields like others", () =>
    check('.greptime_table_suffix, err = "_" + .id\n.', '{"id":"a"}', '{"greptime_table_suffix":"_a","id":"a"}'));

  test("values are copied, not shared", () => {
    check(".b = .a\n.b.x = 2\n.", '{"a":{"x":1}}', '{"a":{"x":1},"b":{"x":2}}');
    check("r = .\n.a = 2\n.old = r.a\n.", '{"a":1}', '{"a":2,"old":1}');
    check(". = {}\n.a = 1\n.", '{"b":1}', '{"a":1}');
    check("x = del(.a.b)\n.c = x\n.", '{"a":{"b":1,"z":2}}', '{"a":{"z":2},"c":1}');
  });

  test("errors are caught or fail the row", () => {
    check(".n = to_int(.s) ?? 7\n.", '{"s":"x"}', '{"n":7,"s":"x"}');
    check(".n, .e = to_int(.s)\n.", '{"s":"x"}', '{"e":"cannot turn string into an integer","n":0,"s":"x"}');
    check(".n = string!(.s)\n.", '{"s":1}', "Failed to execute VRL, expected string, got integer");
    check('if .s == 1 { abort "no" }\n.', '{"s":1}', "Failed to execute VRL, no");
    check("x = { abort } ?? 1\n.", "{}", "Failed to execute VRL, aborted");
  });

  test("closures see and change what is outside of them", () => {
    check("n = 0\nfor_each(array!(.a)) -> |i, v| { n = n + v * i }\n.n = n\n.", '{"a":[5,6,7]}', '{"a":[5,6,7],"n":20}');
    check(". = map_keys(.) -> |k| { upcase(k) }\n.", '{"a":1}', '{"A":1}');
    check(".a = filter(array!(.a)) -> |_i, v| { v > 1 }\n.", '{"a":[1,2]}', '{"a":[2]}');
  });

  test("work is bounded", () => {
    const nested = "a = array!(.a)\nfor_each(a) -> |i, v| { for_each(a) -> |j, w| { for_each(a) -> |k, x| { null } } }\n.";
    check(
      nested,
      jsonText({ a: Array.from({ length: 200 }, () => 1) }),
      "Failed to execute VRL, the program takes more than 1000000 steps",
    );
    const doubling = 's = "0123456789"\nfor_each(array!(.a)) -> |i, v| { s = s + s }\n.';
    check(
      doubling,
      jsonText({ a: Array.from({ length: 60 }, () => 1) }),
      "Failed to execute VRL, a text gets longer than 16777216 characters",
    );
    check(".a[100000000] = 1\n.", "{}", "Failed to execute VRL, cannot set item 100000000 of an array: at most 10000");
  });
});

test("expressions", () => {
  value("1 + 2 * 3", 7);
  value("(1 + 2) * 3 == 9 && !false", true);
  value('"a" + "b"', "ab");
  value("7 / 2", 3.5);
  value("1.5 + 1", 2.5);
  value(".x || 5", 5);
  value("[1, [2],\n 3,][1][0]", 2);
  value("-.n", -4, '{"n":4}');
  value('"x\\n\\u{e9}\\"{{z"', 'x\né"{{z');
  value("s'a\\d'", "a\\d");
  value("9223372036854775807 + 1", -9223372036854775808n);
  value("t'2024-05-25T20:16:37Z' > now()", true);
});

test("functions", () => {
  value("is_string(.a) && !exists(.b) && is_null(.b)", true, '{"a":"x"}');
  value("to_string(1.0) + to_string(true)", "1.0true");
  value('split("a,b,c", ",", limit: 2)', ["a", "b,c"]);
  value('join(["a", "b"], separator: "-")', "a-b");
  value("split(\"a1b22c\", r'\\d+')", ["a", "b", "c"]);
  value('replace("aab", "a", "x") + replace("a1b2", r\'\\d\', "")', "xxbab");
  value("match(\"abc\", r'^a.c$')", true);
  value("parse_regex!(\"k=1\", r'(?P<k>\\w)=(?P<v>\\d)').v", "1");
  value("length(parse_regex_all!(\"a1b2\", r'(?P<d>\\d)'))", 2);
  value('parse_json!("[1, {}]")', [1, {}]);
  value('merge({"a": {"x": 1}}, {"a": {"y": 2}}, deep: true)', { a: { x: 1, y: 2 } });
  value('keys(flatten({"a": {"b": 1}}))', ["a.b"]);
  value('compact([null, 1, ""])', [1]);
  value('parse_key_value!("a=1 b=\\"x\\"")', { a: "1", b: "x" });
  value("round(1.256, precision: 2)", 1.26);
  value("mod(7, 4)", 3);
  value("to_unix_timestamp(now())", 5);
  value('to_unix_timestamp(parse_timestamp!("2024-05-25 20:16", "%Y-%m-%d %H:%M"))', 1716668160);
  value('parse_int!("ff", base: 16)', 255);
  value('truncate("abcdef", limit: 3) + slice!("abc", 1)', "abcbc");
});

test("what cannot be compiled is refused with its place", () => {
  const rejects: readonly (readonly [string, string])[] = [
    [".a = 1\n.b = foo(.a)\n.", "undefined function 'foo' at line 2, column 6"],
    [".a = b\n.", "undefined variable 'b' at line 1, column 6"],
    [".a = r'x'\n.", "a regular expression can only be an argument of a function at line 1, column 6"],
    ['"text"', "the program must end in an object or array: usually its last line is `.`"],
    [".a = 1", "the program must end in an object or array: usually its last line is `.`"],
    ["r'a'", "a regular expression can only be an argument of a function at line 1, column 1"],
    ["if true { .", "unexpected end of the program at line 1, column 12"],
    ["%meta = 1\n.", "metadata (%) is not supported at line 1, column 1"],
    ["upcase()\n.", "upcase lacks its argument 'value' at line 1, column 1"],
    ["upcase(nope: 1)\n.", "upcase has no argument 'nope' at line 1, column 1"],
    ["return .", "return is not supported at line 1, column 1"],
    [". .", "unexpected '.' at line 1, column 3"],
    ["`", "unexpected '`' at line 1, column 1"],
    [`.a = ${"9".repeat(1_000_000)}\n.`, "a number has too many digits at line 1, column 6"],
    [`.a = .b[${"9".repeat(30)}]\n.`, "an index must be a whole number at line 1, column 9"],
    ["del(1)\n.", "del takes one path at line 1, column 1"],
  ];
  for (const [source, want] of rejects) check(source, "{}", `Failed to compile VRL, ${want}`);
  check("", "{}", "Processor vrl: source is required");
  check(`${"(".repeat(100)}1${")".repeat(100)}`, "{}", "Failed to compile VRL, nested deeper than 128 levels at line 1, column 65");
});
