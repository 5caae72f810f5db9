import { describe, expect, test } from "bun:test";
import { PROMQL_CHARACTERS_MAX, PROMQL_DEPTH_MAX, PROMQL_TOKENS_MAX } from "../../../base/limits.ts";
import type { Expression } from "./ast.ts";
import { parsePromql } from "./parse.ts";

function treeOf(text: string): Expression {
  const parsed = parsePromql(text);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return parsed.expression;
}

function messageOf(text: string): string {
  const parsed = parsePromql(text);
  return parsed.ok ? "none" : parsed.problem.message;
}

/** Each text is refused with a message, its place included. */
function rejects(cases: readonly (readonly [text: string, message: string])[]): void {
  test.each(cases)("%j", (text, message) => {
    expect(messageOf(text)).toBe(message.replace(/^([\d:]+|unknown position) /, "$1: parse error: "));
  });
}

describe("trees", () => {
  test("a selector holds its matchers, its range and its times as values", () => {
    expect(treeOf(`disk{path=~"/data.*", 'mount point'!="x"}[1h30m] @ 17.5 offset -2m anchored`)).toMatchObject({
      kind: "MatrixSelector",
      valueType: "matrix",
      range: { kind: "Milliseconds", millis: 5_400_000 },
      span: { start: 0, end: 66 },
      selector: {
        name: "disk",
        matchers: [
          { name: "path", operator: "=~", value: "/data.*" },
          { name: "mount point", operator: "!=", value: "x" },
          { name: "__name__", operator: "=", value: "disk" },
        ],
        at: { kind: "time", millis: 17_500 },
        offset: { kind: "Milliseconds", millis: -120_000 },
        isAnchored: true,
        isSmoothed: false,
      },
    });
  });

  test("a subquery may have a step, and times of its own", () => {
    const tree = treeOf("(a + b)[1d:step() * 2] offset 1w @ end()");
    expect(tree).toMatchObject({ kind: "SubqueryExpression", at: { kind: "end" }, offset: { millis: 604_800_000 } });
    expect(tree).toMatchObject({ step: { kind: "DurationExpression", operator: "*", left: { operator: "step" }, right: { value: 2 } } });
    expect(treeOf("a[1d:]")).toMatchObject({ step: undefined, at: undefined, offset: { millis: 0 } });
  });

  test("operators bind as in Prometheus", () => {
    const shape = (node: Expression): string => {
      if (node.kind === "BinaryExpression") return `[${shape(node.left)} ${node.operator} ${shape(node.right)}]`;
      if (node.kind === "UnaryExpression") return `[${node.operator}${shape(node.expression)}]`;
      return node.kind === "NumberLiteral" ? String(node.value) : node.kind === "VectorSelector" ? node.name : node.kind;
    };
    const cases: readonly (readonly [string, string])[] = [
      ["a or b and c unless d", "[a or [[b and c] unless d]]"],
      ["a == b + c * d ^ e", "[a == [b + [c * [d ^ e]]]]"],
      ["a - b - c", "[[a - b] - c]"],
      ["a ^ b ^ c", "[a ^ [b ^ c]]"],
      ["-a ^ b", "[-[a ^ b]]"],
      ["-a * b atan2 c", "[[[-a] * b] atan2 c]"],
      ["a > b < c", "[[a > b] < c]"],
      ["2 ^ -3 ^ 2 * 5", "[[2 ^ [-[3 ^ 2]]] * 5]"],
      ["a offset 5m + 3", "[a + 3]"],
      ["a offset (5m) + 3", "a"],
      ["a </ b >/ 2", "[[a </ b] >/ 2]"],
    ];
    for (const [text, want] of cases) expect([text, shape(treeOf(text))]).toEqual([text, want]);
  });

  test("matching is kept for two vectors and dropped where a side is a scalar", () => {
    expect(treeOf("a * on (x, y) group_right (z) fill_left (1) b")).toMatchObject({
      matching: { cardinality: "one-to-many", labels: ["x", "y"], isOn: true, include: ["z"], fillLeft: 1, fillRight: undefined },
    });
    expect(treeOf("a and ignoring (x) b")).toMatchObject({ matching: { cardinality: "many-to-many", isOn: false } });
    expect(treeOf("a * on () 5")).toMatchObject({ matching: undefined, valueType: "vector" });
    expect(treeOf("1 + 2 > bool 3")).toMatchObject({ matching: undefined, valueType: "scalar", returnsBool: true });
  });

  test("keywords may name metrics and labels, and words are read in any case", () => {
    for (const word of ["sum", "by", "offset", "and", "start", "fill", "without", "anchored", "step", "min_of", "limitk"]) {
      expect(treeOf(word)).toMatchObject({ kind: "VectorSelector", name: word });
      expect(treeOf(`up{${word}="x"}`)).toMatchObject({ matchers: [{ name: word }, {}] });
    }
    expect(treeOf("sum by (bool, on, nan_, group_left, offset) (up)")).toMatchObject({
      grouping: ["bool", "on", "nan_", "group_left", "offset"],
    });
    expect(treeOf("TopK(NaN, up OFFSET 1M) BY (a)".replace("1M", "1m"))).toMatchObject({ operator: "topk", grouping: ["a"] });
  });

  test("places count UTF-16 units", () => {
    expect(treeOf('{"😀"} + up')).toMatchObject({ left: { span: { start: 0, end: 6 } }, right: { span: { start: 9, end: 11 } } });
  });
});

describe("words and signs that are refused", () => {
  rejects([
    ["", "unknown position no expression found in input"],
    ["  # nothing\n", "1:1 no expression found in input"],
    ["up ~ 1", "1:4 unexpected character: '~'"],
    ["up ! 1", "1:4 unexpected character after '!': ' '"],
    ["up =~ 1", "1:4 unexpected character after '=': '~'"],
    ["température", "1:5 unexpected character: 'é'"],
    ["up\n  + \n )", "3:3 unexpected right parenthesis ')'"],
    ["é", "1:1 unexpected character: 'é'"],
    ['"é" + "é" ]', "1:13 unexpected right bracket ']'"],
    ["rate(up[5m]", "1:12 unclosed left parenthesis"],
    ["up[5m", "1:6 unclosed left bracket"],
    ["up[", "1:4 unexpected end of input in duration expression"],
    ["up[[5m]]", "1:4 unexpected character in duration expression: '['"],
    ["up[:5m]", "1:5 unexpected colon before duration in duration expression"],
    ["up[5m:1m:1m]", "1:9 unexpected colon ':'"],
    ["up[5m x]", "1:7 unexpected character: 'x', expected ':'"],
    ['up{job="a"', "1:11 unexpected end of input inside braces"],
    ["up{job!x}", "1:7 unexpected character after '!' inside braces: 'x'"],
    ["up{{", "1:4 unexpected left brace '{'"],
    ['"no end', "1:1 unterminated quoted string"],
    ['up{a="no\nend"}', "1:6 unterminated quoted string"],
    ["`no end", "1:1 unterminated raw string"],
    ['"\\q"', "1:1 unknown escape sequence U+0071 'q'"],
    ['"\\u12"', "1:1 illegal character U+0022 '\"' in escape sequence"],
    ['"\\ud800"', "1:1 escape sequence is an invalid Unicode code point"],
    ['"\\400"', "1:1 escape sequence is an invalid Unicode code point"],
    ['"\ufffd"', "1:1 invalid UTF-8 rune"],
    ['"\ud800"', "1:1 invalid UTF-8 rune"],
    ["1.2.3", '1:1 bad number or duration syntax: "1.2."'],
    ["5x", '1:1 bad number or duration syntax: "5"'],
    ["1e+ 2", '1:1 error parsing number: strconv.ParseFloat: parsing "1e+": invalid syntax'],
    ["1e999", '1:1 error parsing number: strconv.ParseFloat: parsing "1e999": value out of range'],
    ["up[1h2d]", '1:4 not a valid duration string: "1h2d"'],
    ["up[1.5h]", '1:4 unknown unit "." in duration "1.5h"'],
    ["up offset 300y", "1:11 duration out of range"],
  ]);
});

describe("orders of words that are refused", () => {
  rejects([
    ["up up", '1:4 unexpected identifier "up"'],
    ["up + ", "1:6 unexpected end of input"],
    ["(up, up)", '1:4 unexpected ","'],
    ["sum(up up)", '1:8 unexpected identifier "up" in aggregation'],
    ["sum by up", '1:8 unexpected identifier "up" in grouping opts, expected "("'],
    ["sum by (a b) (up)", '1:11 unexpected identifier "b" in grouping opts, expected "," or ")"'],
    ["sum by (5) (up)", '1:9 unexpected number "5" in grouping opts, expected label'],
    ['sum by ("") (up)', '1:9 invalid label name for grouping: ""'],
    ['sum by ("\\xff") (up)', '1:9 invalid label name for grouping: "\\xff"'],
    ["sum()", "1:1 no arguments for aggregate expression provided"],
    ["quantile(up)", "1:1 wrong number of arguments for aggregate expression provided, expected 2, got 1"],
    ["rate(up[5m],)", "1:12 trailing commas not allowed in function call args"],
    ["nothing(up)", '1:1 unknown function with name "nothing"'],
    ["ABS(up)", '1:1 unknown function with name "ABS"'],
    ["a group_left b", "1:3 unexpected <group_left>"],
    ["a * on (x) group_left > b", '1:23 unexpected <op:>> in grouping opts, expected "("'],
    ["a + fill (x) b", '1:11 unexpected identifier "x"'],
    ["up{job}", '1:7 unexpected "}" in label matching, expected label matching operator'],
    ["up{,}", '1:4 unexpected "," in label matching, expected identifier or "}"'],
    ["up{job=5}", "1:8 unexpected character inside braces: '5'"],
    ['up{job="a" "b"}', '1:12 unexpected string "\\"b\\"" in label matching, expected "," or "}"'],
    ['up{a="a long string" b}', '1:22 unexpected identifier "b" in label matching, expected "," or "}"'],
    ['"a long string" "another one"', '1:17 unexpected string "\\"another o"...'],
    ['up{job=~"a("}', "1:4 error parsing regexp: missing closing ): `a(`"],
    ["up[5m 5m]", '1:7 unexpected duration "5m" in subquery or range, expected ":" or "]"'],
    ["up[5m:1m 1m]", '1:10 unexpected duration "1m" in subquery selector, expected "]"'],
    ["up[5m:*]", '1:7 unexpected <op:*> in subquery selector, expected number, duration, step(), range(), or "]"'],
    ["up[step]", '1:8 unexpected "]" in subquery or range selector, expected number, duration, step(), or range()'],
    ["up[NaN]", "1:4 unexpected character in duration expression: 'N'"],
    ["up[0]", "1:4 duration must be greater than 0"],
    ["up[1h % 0]", "1:7 modulo by zero"],
    ["up offset up", '1:11 unexpected identifier "up" in offset, expected number, duration, step(), or range()'],
    ["up offset NaN", "1:11 duration out of range"],
    ["up @ up", '1:6 unexpected identifier "up" in @, expected timestamp'],
    ["up @ start(1)", '1:12 unexpected number "1" in @, expected timestamp'],
    ["up @ 1e19", "1:1 timestamp out of bounds for @ modifier: 10000000000000000000.000000"],
  ]);
});

describe("modifiers in wrong places", () => {
  const holders = "must be preceded by an instant vector selector or range vector selector or a subquery";
  rejects([
    ["sum(up) offset 5m", `1:1 offset modifier ${holders}`],
    ["(up) @ 5", `1:1 @ modifier ${holders}`],
    ["up[5m] offset 1m offset 2m", "1:1 offset may not be set multiple times"],
    ["up offset (1m) offset 2m", "1:1 offset may not be set multiple times"],
    ["up[5m:] @ 5 @ end()", "1:1 @ <timestamp> may not be set multiple times"],
    ["up offset 5m [1h]", "1:14 no offset modifiers allowed before range"],
    ["up @ end() [1h]", "1:12 no @ modifiers allowed before range"],
    ["up[5m][1h]", "1:7 ranges only allowed for vector selectors"],
    ["up[5m:1m] smoothed", "1:1 smoothed modifier is not supported for subqueries"],
    ["sum(up) anchored", "1:1 anchored modifier not implemented"],
    ["up[5m] anchored smoothed", "1:1 anchored and smoothed modifiers cannot be used together"],
  ]);
});

describe("what does not fit together", () => {
  rejects([
    ["up + rate(up)", '1:11 expected type range vector in call to function "rate", got instant vector'],
    ["abs(up, up)", '1:1 expected 1 argument(s) in call to "abs", got 2'],
    ["round()", '1:1 expected at least 1 argument(s) in call to "round", got 0'],
    ["hour(up, up)", '1:1 expected at most 1 argument(s) in call to "hour", got 2'],
    ['label_join(up, "a", "b", c)', '1:26 expected type string in call to function "label_join", got instant vector'],
    ["info(up, sum(up))", "1:10 expected label selectors only"],
    ["info(up, up)", "1:10 expected label selectors only, got vector selector instead"],
    ["sum(1)", "1:5 expected type instant vector in aggregation expression, got scalar"],
    ["topk(up, up)", "1:6 expected type scalar in aggregation parameter, got instant vector"],
    ["-up[5m]", '1:1 unary expression only allowed on expressions of type scalar or instant vector, got "range vector"'],
    ["up + up[5m]", "1:6 binary expression must contain only scalar and instant vector types"],
    ['"a" + 1', "1:1 binary expression must contain only scalar and instant vector types"],
    ["up[5m][1h:]", "1:1 subquery is only allowed on instant vector, got matrix instead"],
    ["1 < 2", "1:3 comparisons between scalars must use BOOL modifier"],
    ["up + bool 2", "1:4 bool modifier can only be used on comparison operators"],
    ["a * on (x, y) group_left (y) b", '1:3 label "y" must not occur in ON and GROUP clause at once'],
    ["a * on (x) 2", "1:1 vector matching only allowed between instant vectors"],
    ["a * fill (1) 2", "1:1 filling in missing series only allowed between instant vectors"],
    ["a and fill (1) b", "1:1 filling in missing series not allowed for set operators"],
    ["a or on (x) group_left b", '1:1 no grouping allowed for "or" operation'],
    ["a unless 1", '1:1 set operator "unless" not allowed in binary scalar expression'],
    ['up{__name__="down"}', '1:1 metric name must not be set twice: "up" or "down"'],
    ["{}", "1:1 vector selector must contain at least one non-empty matcher"],
    ['{a=~"x|"}', "1:1 vector selector must contain at least one non-empty matcher"],
    ['{a=~"x*", b!~"y"}', "1:1 vector selector must contain at least one non-empty matcher"],
  ]);

  test("a pattern that wants a character selects", () => {
    for (const text of ['{a=~"x|y"}', '{a=~"x+"}', '{a!~"x|"}', '{a!~".*"}', '{a!=""}', 'info(up, {a=~".*"})']) {
      expect(messageOf(text)).toBe("none");
    }
  });
});

describe("limits", () => {
  const tooDeep = `the query nests deeper than ${PROMQL_DEPTH_MAX} levels`;

  test("as deep as it may be, in every way to nest", () => {
    const depth = PROMQL_DEPTH_MAX - 2;
    const nestings: readonly ((levels: number) => string)[] = [
      (levels) => "(".repeat(levels) + "up" + ")".repeat(levels),
      (levels) => "abs(".repeat(levels) + "up" + ")".repeat(levels),
      (levels) => "-+".repeat(levels / 2) + "up",
      (levels) => "up" + " + up".repeat(levels),
      (levels) => "up" + " ^ up".repeat(levels),
      (levels) => "up" + "[1h:]".repeat(levels),
      (levels) => `up[${"(".repeat(levels)}5m${")".repeat(levels)}]`,
      (levels) => `up[5m${" + 5m".repeat(levels)}]`,
      (levels) => `up offset ${"- ".repeat(levels)}5m`,
    ];
    for (const nest of nestings) {
      const message = messageOf(nest(depth));
      expect(message.includes("deeper"), nest(8)).toBe(false);
      expect(messageOf(nest(PROMQL_DEPTH_MAX + 2)), nest(8)).toMatch(tooDeep);
    }
    expect(messageOf("(".repeat(100_000))).toMatch(tooDeep);
    expect(messageOf(`up${" + up".repeat(10_000)}`)).toMatch(tooDeep);
    expect(messageOf(`1${" + 1".repeat(10_000)}`)).toMatch(tooDeep);
  });

  test("as many tokens and characters as there may be", () => {
    const args = (count: number): string => `label_join(up, "a", "b"${', "c"'.repeat(count)})`;
    expect(messageOf(args((PROMQL_TOKENS_MAX - 10) / 2))).toBe("none");
    expect(messageOf(args(PROMQL_TOKENS_MAX / 2))).toMatch(`the query has more than ${PROMQL_TOKENS_MAX} words, names and signs`);
    const hosts = (length: number): string => `up{host=~"${"host-1|".repeat(length / 7).slice(0, length - 12)}"}`;
    expect(messageOf(hosts(PROMQL_CHARACTERS_MAX))).toBe("none");
    expect(messageOf(hosts(PROMQL_CHARACTERS_MAX + 13))).toBe(
      `1:1: parse error: the query is longer than ${PROMQL_CHARACTERS_MAX} characters`,
    );
  });

  test("patterns that must be compiled are short, and lists of plain texts are not", () => {
    expect(messageOf(`{a=~"${"x+".repeat(5000)}"}`)).toMatch(
      "1:2: parse error: the regular expressions of the query have more than 8192 characters",
    );
    expect(messageOf(`{a=~"${"10\\\\.0\\\\.0\\\\.1:9090|".repeat(5000)}x"}`)).toBe("none");
    expect(messageOf(`{a=~"${"x{1000}".repeat(6)}"}`)).toMatch("more than 5000 instructions");
  });
});
