import { describe, expect, test } from "bun:test";
import { RandomPromql } from "../../../../test/support/random-promql.ts";
import type { Expression } from "./ast.ts";
import { parsePromql } from "./parse.ts";
import { formatPromql, printPromql } from "./printer.ts";

function treeOf(text: string): Expression {
  const parsed = parsePromql(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.problem.message}`);
  return parsed.expression;
}

/** A tree without what random ones do not know, and with matchers in one order. */
function shape(node: Expression): unknown {
  return JSON.parse(
    JSON.stringify(node, (key, value: unknown) => {
      if (key === "span") return undefined;
      if (key === "matchers" && Array.isArray(value))
        return value.map((matcher) => JSON.stringify({ ...matcher, takesEmpty: undefined })).sort();
      return typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))
        ? `number ${Object.is(value, -0) ? "-0" : value}`
        : value;
    }),
  );
}

describe("on one line", () => {
  const cases: readonly (readonly [text: string, want: string])[] = [
    ["  up   # a comment", "up"],
    ["mem { zone = 'b' , area =~`x\\d` , }", 'mem{area=~"x\\\\d",zone="b"}'],
    ['{"disk.free", "mount point"="/"}', '{"mount point"="/",__name__="disk.free"}'],
    ["0x1F + 017 + 1_000 + 1e3 + .5", "31 + 15 + 1000 + 1000 + 0.5"],
    ["-inf * nan", "-Inf * NaN"],
    ["1h30m + 36h", "1h30m + 1d12h"],
    ["mem[90m] offset -1w", "mem[1h30m] offset -1w"],
    ["mem[1.5] @ 1.0004", "mem[1s500ms] @ 1.000"],
    ["SUM BY(zone)(mem) AND mem", "sum by (zone) (mem) and mem"],
    ["sum(mem)by()", "sum(mem)"],
    ["sum(mem)without()", "sum without () (mem)"],
    ['max(mem) by ("mount point", le)', 'max by ("mount point", le) (mem)'],
    ["a - on (z) group_left b", "a - on (z) group_left () b"],
    ["a / fill_right (2) fill_left (1e6) b", "a / fill_left (1e+06) fill_right (2) b"],
    ["a > bool on() b", "a > bool on () b"],
    ["2 ^ -(3 ^ 2)", "2 ^ -(3 ^ 2)"],
    ["rate((a)[5m:])", "rate((a)[5m:])"],
    ["a[step() * (5m)] smoothed offset (1h / 2)", "a[step() * (5m)] smoothed offset (1h / 2)"],
    ["a offset (5m) @ 3 * b", "(a @ 3.000 offset (5m)) * b"],
    ["a offset (5m) @ 3 > b", "a @ 3.000 offset (5m) > b"],
    ["a offset - -5 * 2", "a offset (5 * 2)"],
    ['"\\x41\\101\\u00e9\\n\\xff"', '"AAé\\n\\xff"'],
    ["`raw \\n`", '"raw \\\\n"'],
    ["'\\xc3\\xa9\\xc3'", '"é\\xc3"'],
  ];
  test.each(cases)("%s", (text, want) => {
    expect(printPromql(treeOf(text))).toBe(want);
  });
});

describe("over several lines", () => {
  const long = 'container_memory_working_set_bytes{cluster="eu-west",namespace="shop",container="checkout"}';
  const printed = 'container_memory_working_set_bytes{cluster="eu-west",container="checkout",namespace="shop"}';

  test("a query of 100 bytes stays on one line, and one of 101 does not", () => {
    const query = (length: number): string => `${"a".repeat(length - 4)} + b`;
    expect(formatPromql(treeOf(query(100)))).toBe(query(100));
    expect(formatPromql(treeOf(query(101)))).toBe(`  ${"a".repeat(97)}\n+\n  b`);
  });

  test("the length is that of UTF-8", () => {
    const text = `up{zone="${"é".repeat(45)}"} + 1`;
    expect(formatPromql(treeOf(text))).toBe(`  up{zone="${"é".repeat(45)}"}\n+\n  1`);
  });

  test("operators stand on lines of their own, with their modifiers", () => {
    expect(formatPromql(treeOf(`${long} / on (pod) group_left (node) kube_pod_info`))).toBe(
      `  ${printed}\n/ on (pod) group_left (node)\n  kube_pod_info`,
    );
  });

  test("arguments, parameters and parentheses are indented", () => {
    expect(formatPromql(treeOf(`topk by (pod) (3, sqrt(${long} offset 1w))`))).toBe(
      ["topk by (pod) (", "  3,", "  sqrt(", `    ${printed} offset 1w`, "  )", ")"].join("\n"),
    );
    expect(formatPromql(treeOf(`-(rate(${long}[5m]) > 1)`))).toBe(
      ["-(", `    rate(`, `      ${printed}[5m]`, "    )", "  >", "    1", ")"].join("\n"),
    );
  });

  test("a subquery ends where its expression does", () => {
    expect(formatPromql(treeOf(`max_over_time(rate(${long}[5m])[1h:1m] offset 1d)`))).toBe(
      ["max_over_time(", "  rate(", `    ${printed}[5m]`, "  )[1h:1m] offset 1d", ")"].join("\n"),
    );
  });

  test("a query that would become too long is refused", () => {
    const wide = `label_join(up, "x", "", ${Array.from({ length: 20_000 }, () => '"y"').join(", ")})`;
    expect(() => formatPromql(treeOf("abs(".repeat(450) + wide + ")".repeat(450)))).toThrow("the formatted query is longer than");
  });
});

test("random trees are parsed as they were printed, on one line and over several", () => {
  const random = new RandomPromql(20_261_123);
  for (let round = 0; round < 5000; round++) {
    const tree = random.tree(2 + (round % 5));
    const line = printPromql(tree);
    expect({ line, tree: shape(treeOf(line)) }).toEqual({ line, tree: shape(tree) });
    expect(shape(treeOf(formatPromql(tree)))).toEqual(shape(tree));
  }
});

test("the smallest and the largest numbers are read as they were printed", () => {
  for (const number of ["5e-324", "2.2250738585072014e-308", "1e-300", "1e308", "-1.7976931348623157e308"]) {
    const text = formatPromql(treeOf(`round(x, ${number})`));
    expect(formatPromql(treeOf(text))).toBe(text);
    expect(treeOf(text)).toMatchObject({ args: [{}, { value: Number(number) }] });
  }
});
