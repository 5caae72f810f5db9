/** The project's own cases, over HTTP against a real server; and that the comparison can fail. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { TestServer } from "../support/server-process.ts";
import { type CaseFile, type Expectation, readCaseFiles } from "./case-file.ts";
import { cellText, parseExact } from "./cell-text.ts";
import { compare, type Reply } from "./compare.ts";
import { runCases } from "./runner.ts";

describe("the server answers as the cases say", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(async () => {
    await server.end();
  });

  test("all of them, errors with their codes", async () => {
    const files = await readCaseFiles(join(import.meta.dir, "cases"));
    const { failures, otherCodes, topics } = await runCases(server, files);
    expect([failures, otherCodes]).toEqual([[], []]);
    expect([...topics.values()].reduce((sum, { pass }) => sum + pass, 0)).toBeGreaterThan(100);
  });

  test("a wrong expectation is found, whatever its kind", async () => {
    const cases = (
      [
        ["SELECT 1 AS a", { columns: ["a"], rows: [["2"]] }],
        ["SELECT 1 AS a", { columns: ["a"], rows: [] }],
        ["SELECT 1 AS a", { error: "an error", code: 3001 }],
        ["SELECT 1 / 0", { columns: ["a"], rows: [["1"]] }],
        ["CREATE TABLE t (ts TIMESTAMP TIME INDEX)", { affected: 1 }],
        ["SELECT 1 / 0", { error: "an error", code: 2000 }],
      ] as readonly (readonly [string, Expectation])[]
    ).map(([sql, expectation], i) => ({ line: i + 1, sql, expect: expectation }));
    const file: CaseFile = { path: "wrong.jsonl", topic: "wrong", cases, isPublic: false };
    const { failures, otherCodes } = await runCases(server, [file]);
    expect(failures.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
    expect(otherCodes.map(({ line }) => line)).toEqual([6]);
  });
});

describe("cells", () => {
  const check = (json: string, type: string, want: string): void => expect([json, cellText(parseExact(json), type)]).toEqual([json, want]);
  test("print as the case files have them", () => {
    check("null", "Int64", "");
    check("9223372036854775807", "Int64", "9223372036854775807");
    check("1", "Float64", "1.0");
    check("1e15", "Float64", "1000000000000000.0");
    check("1e16", "Float64", "1e16");
    check("0.00001", "Float64", "0.00001");
    check("0.000001", "Float64", "1e-6");
    check("-1000.1400146484375", "Float32", "-1000.14");
    check("-1", "TimestampNanosecond", "1969-12-31T23:59:59.999999999");
    check("253402300800", "TimestampSecond", "+10000-01-01T00:00:00");
    check("-719529", "Date", "-0001-12-31");
    check("-1500", "DurationMillisecond", "-PT1.5S");
    check("[170,255]", "Binary", "aaff");
    check("[1,null,3]", "List<Int64>", "[1, , 3]");
    check('{"a":1,"b":[0.5]}', 'Struct<"a": Int64, "b": List<Float64>>', "{a: 1, b: [0.5]}");
    check('{"b":1,"a":{"d":1,"c":null}}', "Json", '{"a":{"c":null,"d":1},"b":1}');
  });
});

describe("answers", () => {
  const rows = (type: string, ...values: readonly (string | number | null)[]): Reply => ({
    kind: "rows",
    columns: ["a"],
    types: [type],
    rows: values.map((value) => [value]),
  });
  const passes = (expectation: Expectation, reply: Reply, more: object = {}): boolean =>
    compare({ line: 1, sql: "", expect: expectation, ...more }, reply).why === undefined;

  test("are compared in order, or in any order where the case says so", () => {
    const want = { columns: ["a"], rows: [["1"], ["2"]] };
    expect([passes(want, rows("Int64", 2, 1)), passes(want, rows("Int64", 2, 1), { sort: true })]).toEqual([false, true]);
  });
  test("are compared after replacements", () => {
    const want = { columns: ["a"], rows: [["id=X"]] };
    expect(passes(want, rows("String", "id=17"), { replace: [["id=\\d+", "id=X"]] })).toBe(true);
    expect(passes(want, rows("String", "no=17"), { replace: [["id=\\d+", "id=X"]] })).toBe(false);
  });
  test("may differ in the last digit of a float, nowhere else", () => {
    const want = { columns: ["a"], rows: [["0.3"]] };
    expect([passes(want, rows("Float64", 0.30000000000000004)), passes(want, rows("Float64", 0.3001))]).toEqual([true, false]);
  });
  test("with cells of several lines are compared line by line", () => {
    expect(passes({ columns: ["a"], rows: [["x\ny"]] }, rows("String", "x \ny"))).toBe(true);
    expect(passes({ columns: ["a"], rows: [["x"], ["y"]] }, rows("String", "x\nz"))).toBe(false);
  });
});
