/** Answers in their thread: exact integers, windows, order, lines of charts, CSV. */
import { describe, expect, test } from "bun:test";
import { AnswerStore, cellText } from "./answer-store.ts";
import { parseExact, readPrometheus, readSql } from "./read-answer.ts";

describe("bodies", () => {
  test("integers beyond 2^53 keep their digits, in texts as well", () => {
    const text = '{"a":[9007199254740993,-9223372036854775808,1.5,"9007199254740993, 1"],"b":12}';
    expect(parseExact(text)).toEqual({ a: [9007199254740993n, -9223372036854775808n, 1.5, "9007199254740993, 1"], b: 12 });
  });

  test("SQL: the last statement with rows, the sum of rows changed", () => {
    const schema = { column_schemas: [{ name: "n", data_type: "Int64" }] };
    const body = { output: [{ affectedrows: 2 }, { records: { schema, rows: [[1], [null]] } }, { affectedrows: 3 }], execution_time_ms: 7 };
    const { store, affectedRows, serverMs } = readSql(JSON.stringify(body));
    expect([store.columns, store.rowCount, affectedRows, serverMs]).toEqual([[{ name: "n", type: "Int64" }], 2, 5, 7]);
    expect(store.window(0, 9)).toEqual([["1"], [null]]);
  });

  test("PromQL: a row a sample, labels as columns, values that are no numbers as texts", () => {
    const result = [
      { metric: { a: "1" }, values: [[1.5, "2"]] },
      { metric: { b: "x" }, values: [[2, "NaN"]] },
    ];
    const { store, warnings } = readPrometheus(JSON.stringify({ data: { resultType: "matrix", result }, warnings: ["w"] }));
    expect(store.columns.map(({ name }) => name)).toEqual(["time", "value", "a", "b"]);
    expect(store.window(0, 2)).toEqual([
      ["1970-01-01T00:00:01.500Z", "2", "1", null],
      ["1970-01-01T00:00:02.000Z", "NaN", null, "x"],
    ]);
    expect(warnings).toEqual(["w"]);
    const scalar = readPrometheus(JSON.stringify({ data: { resultType: "scalar", result: [1, "4"] } }));
    expect(scalar.store.window(0, 1)).toEqual([["1970-01-01T00:00:01.000Z", "4"]]);
  });
});

describe("a store", () => {
  const columns = [
    { name: "ts", type: "TimestampMillisecond" },
    { name: "host", type: "String" },
    { name: "v", type: "Float64" },
  ];

  test("orders by a column, NULLs last both ways, equal rows as they came", () => {
    const store = new AnswerStore(columns, [
      [3, "b", 1],
      [1, null, 2],
      [2, "a", 1],
    ]);
    store.sort(1, false);
    expect(store.window(0, 3).map(([, host]) => host)).toEqual(["a", "b", null]);
    store.sort(1, true);
    expect(store.window(0, 3).map(([, host]) => host)).toEqual(["b", "a", null]);
    store.sort(2, false);
    expect(store.window(0, 3).map(([, host]) => host)).toEqual(["b", "a", null]);
  });

  test("CSV quotes what must be, NULL is empty", () => {
    const store = new AnswerStore([{ name: 'a"b', type: "String" }], [["x,y"], [null], ["line\nend"]]);
    expect([...store.csv()].join("")).toBe('"a""b"\r\n"x,y"\r\n\r\n"line\nend"\r\n');
  });

  test("lines by the values of texts; gaps are NaN; more lines than can be read are left out and counted", () => {
    const store = new AnswerStore(columns, [
      [1000, "a", 1],
      [2000, "a", 2],
      [2000, "b", null],
    ]);
    const chart = store.chart({ x: 0, ys: [2], groups: [1], pointsMax: 100 });
    expect([...chart.x]).toEqual([1, 2]);
    expect(chart.lines.map(({ label, y }) => [label, ...y])).toEqual([
      ["a", 1, 2],
      ["b", Number.NaN, Number.NaN],
    ]);
    const many = new AnswerStore(
      columns,
      Array.from({ length: 60 }, (_, i) => [1000, `h${i}`, i]),
    );
    expect(many.chart({ x: 0, ys: [2], groups: [1], pointsMax: 100 }).leftOut).toBe(10);
  });

  test("long lines are thinned out, their least and greatest values stay", () => {
    const rows = Array.from(
      { length: 100_000 },
      (_, i) => [i * 1000, "a", i === 54_321 ? 1e6 : i === 70_000 ? -1e6 : Math.sin(i)] as const,
    );
    const { x, lines } = new AnswerStore(columns, rows).chart({ x: 0, ys: [2], groups: [], pointsMax: 1000 });
    expect(x.length).toBeLessThanOrEqual(1000);
    const values = lines[0]?.y ?? [];
    expect([Math.max(...values), Math.min(...values)]).toEqual([1e6, -1e6]);
  });

  test("moments of every unit, before 1970 too", () => {
    expect(cellText(-1, "TimestampMillisecond")).toBe("1969-12-31T23:59:59.999Z");
    expect(cellText(1795517943123456789n, "TimestampNanosecond")).toBe("2026-11-24T10:59:03.123456789Z");
    expect(cellText(5, "TimestampSecond")).toBe("1970-01-01T00:00:05Z");
    expect(cellText(5, "Int64")).toBe("5");
  });
});
