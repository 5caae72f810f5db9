import { expect, test } from "bun:test";
import type { Rows } from "../support/http-client.ts";
import type { TsbsQuery } from "./tsbs-kit.ts";
import { differences } from "./tsbs-result.ts";

const QUERY: TsbsQuery = {
  type: "double-groupby-1",
  n: 0,
  sql: "SELECT avg(usage_user), hour, max(usage_user) from cpu",
  ordered: false,
  columns: ["avg(usage_user)", "hour", "max(usage_user)"],
  types: ["float", "timestamp_ms", "int"],
  rows: [
    [10.5, 3_600_000, 90],
    [10.5, 7_200_000, 91],
    [0.1, 7_200_000, 91],
  ],
};
const RIGHT: Rows = {
  columns: ["a", "b", "c"],
  types: ["Float64", "TimestampNanosecond", "Int64"],
  rows: [
    [0.100_000_000_000_01, 7_200_000_000_000, 91],
    [10.5, 7_200_000_000_000, 91],
    [10.5, 3_600_000_000_000n, 90],
  ],
};

function check(query: Partial<TsbsQuery>, got: Partial<Rows>, want: readonly string[]): void {
  expect(differences({ ...QUERY, ...query }, { ...RIGHT, ...got })).toEqual([...want]);
}

test("takes rows in any order, floats nearly, times in any unit", () => {
  check({}, {}, []);
});

test("refuses rows in another order when the query ordered them", () => {
  expect(differences({ ...QUERY, ordered: true }, RIGHT)).toHaveLength(2);
});

test("finds a float that is off, a wrong integer and a time between milliseconds", () => {
  const [first, second, third] = RIGHT.rows;
  const rows = (row: readonly (number | bigint)[]): Rows["rows"] => [row, second ?? [], third ?? []];
  const missing = "missing row [0.1,7200000,91]";
  check({}, { rows: rows([0.100_000_01, 7_200_000_000_000, 91]) }, ["unexpected row [0.10000001,7200000,91]", missing]);
  check({}, { rows: rows([0.1, 7_200_000_000_000, 92]) }, ["unexpected row [0.1,7200000,92]", missing]);
  const between = 'unexpected row [0.1,"7200000000001 TimestampNanosecond",91]';
  check({}, { rows: rows([0.1, 7_200_000_000_001, 91]) }, [between, missing]);
  check({}, { rows: [first ?? [], first ?? [], third ?? []] }, [
    "unexpected row [0.10000000000001,7200000,91]",
    "missing row [10.5,7200000,91]",
  ]);
});

test("finds missing rows, columns and other types", () => {
  check({}, { rows: [] }, ["0 rows, want 3"]);
  check({}, { columns: ["a", "b"] }, ["columns a, b; want avg(usage_user), hour, max(usage_user)"]);
  check({}, { types: ["Float64", "TimestampNanosecond", "Float64"] }, ["column c is Float64, want int"]);
});

test("takes the columns of SELECT * by name", () => {
  const query = { sql: "SELECT * from cpu", columns: ["v", "t"], types: ["int", "timestamp_ms"], rows: [[1, 2]] } as const;
  check(query, { columns: ["t", "v"], types: ["TimestampMillisecond", "Int64"], rows: [[2, 1]] }, []);
  check(query, { columns: ["t", "w"], types: ["TimestampMillisecond", "Int64"], rows: [[2, 1]] }, ["columns t, w; want v, t"]);
});

test("compares long results by the hash of their canonical form", () => {
  const { rows: _, ...long } = QUERY;
  const texts = ['["a",1]', '["b",-2]'];
  const sha256 = new Bun.CryptoHasher("sha256").update(`[${texts.join(",")}]`).digest("hex");
  const query: TsbsQuery = {
    ...long,
    sql: "SELECT x",
    columns: ["h", "v"],
    types: ["string", "int"],
    row_count: 2,
    sha256,
    sample: [["a", 1]],
  };
  const got: Rows = {
    columns: ["h", "v"],
    types: ["String", "Int64"],
    rows: [
      ["b", -2],
      ["a", 1],
    ],
  };
  expect(differences(query, got)).toEqual([]);
  expect(
    differences(query, {
      ...got,
      rows: [
        ["b", -2],
        ["a", 2],
      ],
    }),
  ).toHaveLength(1);
  expect(differences(query, { ...got, rows: [["b", -2]] })).toEqual(["1 rows, want 2"]);
});
