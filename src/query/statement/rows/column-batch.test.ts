/** Columns become the writes that their rows would become, however many come at a time. */
import { expect, test } from "bun:test";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import type { TableSchema } from "../../../table/schema.ts";
import type { WriteBatch } from "../../../table/write-batch.ts";
import { RowBatchBuilder } from "../../../table/rows/row-batch-builder.ts";
import { ColumnBatchBuilder, type ColumnValues } from "./column-batch.ts";
import { rowColumns } from "./complete-row.ts";

async function schemaOf(columns: string): Promise<TableSchema> {
  const data = new QueryFixture();
  await data.sql(`CREATE TABLE t (${columns}, ts TIMESTAMP(9) TIME INDEX)`);
  const table = data.catalog.table("public", "t");
  if (table === undefined) throw new Error("the table was made");
  return table.schema;
}

function rowsOf({ dictionary, tables }: WriteBatch): readonly string[] {
  return tables.flatMap(({ rowCount, keys, times, fields }) =>
    Array.from({ length: rowCount }, (_, row) => {
      const tags = dictionary.tagsOf(keys[row] ?? 0).values;
      const values = fields.map(({ type, vector }) => String(scalarAt(vector, type, row)));
      return [...tags, times.base + BigInt(times.offsets[row] ?? 0), ...values].join();
    }),
  );
}

/** @param isVector whether a piece comes as vectors */
function check(schema: TableSchema, rows: readonly (readonly Scalar[])[], pieceRows: number, isVector: boolean): WriteBatch {
  const byRow = new RowBatchBuilder("t", rowColumns(schema));
  for (const row of rows) byRow.add(row);
  const byColumn = new ColumnBatchBuilder(schema);
  for (let from = 0; from < rows.length; from += pieceRows) {
    const piece = rows.slice(from, from + pieceRows);
    const columns = schema.columns.map(({ type, semantic }, i): ColumnValues => {
      const values = piece.map((row) => row[i]);
      return isVector && semantic !== "tag" ? vectorOf(type, values) : values;
    });
    byColumn.add(columns, piece.length);
  }
  expect(byColumn.rowCount).toBe(rows.length);
  const batch = byColumn.batch();
  expect(rowsOf(batch)).toEqual(rowsOf(byRow.batch()));
  return batch;
}

test("rows of any number at a time, in several writes where they are many", async () => {
  const schema = await schemaOf("h STRING PRIMARY KEY, a BIGINT, s STRING");
  const rows = Array.from({ length: 70_000 }, (_, i): Scalar[] => [
    i % 7 === 0 ? undefined : `h${i % 10_000}`,
    i % 5 === 0 ? undefined : i % 1000 === 1 ? 2n ** 60n : i,
    i % 3 === 0 ? undefined : `é${i}`,
    BigInt(i),
  ]);
  for (const [pieceRows, isVector] of [[70_000, false] as const, [1000, true] as const, [65_536, true] as const]) {
    expect(check(schema, rows, pieceRows, isVector).tables.map(({ rowCount }) => rowCount)).toEqual([65_536, 4464]);
  }
  check(schema, rows.slice(0, 100), 1, false);
});

test("fewer rows a write of a wide table", async () => {
  const schema = await schemaOf(Array.from({ length: 1023 }, (_, i) => `c${i} BIGINT`).join(", "));
  const rows = Array.from({ length: 1500 }, (_, i): Scalar[] => [...Array.from({ length: 1023 }, (__, c) => i + c), BigInt(i)]);
  expect(check(schema, rows, 64, true).tables.map(({ rowCount }) => rowCount)).toEqual([1024, 476]);
});

test("times too far apart for one write begin others", async () => {
  const schema = await schemaOf("a BIGINT");
  const far = 2n ** 53n;
  const times = [0n, 5n, far - 1n, far, far + 1n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 63n - 2n, 0n, -far + 1n];
  const rows = times.map((time, i): Scalar[] => [i, time]);
  for (const pieceRows of [1, 3, 10]) for (const isVector of [true, false]) check(schema, rows, pieceRows, isVector);
  expect(check(schema, rows, 10, true).tables.map(({ rowCount }) => rowCount)).toEqual([2, 3, 1, 2, 1, 1]);
});
