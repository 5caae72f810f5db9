/** Other readers of Parquet neither see indexes nor stumble over them, and use our Bloom filters of tags. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { tableId } from "../../base/units.ts";
import { INT64, STRING, TIMESTAMP_MICROSECOND } from "../../column/data-type.ts";
import { textTableOf } from "../../column/text-table.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { TableSchema } from "../../table/schema.ts";
import { localFileStore } from "../file-store/local-file-store.ts";
import { DataFileWriter, fieldInput, tagInput } from "../sst/write/data-file-writer.ts";

const folder = mkdtemp(join(tmpdir(), "varve-index-"));
afterAll(async () => rm(await folder, { recursive: true }));

const SCHEMA: TableSchema = {
  id: tableId(5),
  version: 1,
  database: "public",
  name: "t",
  engine: "mito",
  options: {},
  primaryKey: ["host"],
  columns: [
    { id: 1, name: "host", type: STRING, semantic: "tag", nullable: true },
    { id: 2, name: "ts", type: TIMESTAMP_MICROSECOND, semantic: "timestamp", nullable: false },
    { id: 3, name: "msg", type: STRING, semantic: "field", nullable: true, indexes: ["FULLTEXT INDEX", "SKIPPING INDEX"] },
    { id: 4, name: "code", type: INT64, semantic: "field", nullable: true, indexes: ["INVERTED INDEX"] },
  ],
};

test("DuckDB reads row groups with indexes between them, and finds tags through their filters", async () => {
  const [rows, groups] = [3000, 3];
  const writer = await DataFileWriter.create(SCHEMA, 1, localFileStore(await folder));
  const hosts = textTableOf([undefined, ...Array.from({ length: groups }, (_, g) => `host_${g}`)]);
  for (let group = 0; group < groups; group++) {
    const ends = Uint32Array.of(rows);
    const numbers = Array.from({ length: rows }, (_, i) => group * rows + i);
    const inputs = [
      tagInput(STRING, hosts, Uint32Array.of(group + 1), ends),
      { kind: "time", base: 0n, offsets: Float64Array.from(numbers), validity: undefined } as const,
      fieldInput(
        vectorOf(
          STRING,
          numbers.map((i) => (i % 7 === 0 ? undefined : `message ${i}`)),
        ),
        rows,
      ),
      fieldInput(
        vectorOf(
          INT64,
          numbers.map((i) => i % 5),
        ),
        rows,
      ),
    ];
    writer.append(rows, inputs, ends);
  }
  const index = {
    columnIds: [1],
    dictionaries: [hosts],
    codes: [Uint32Array.of(1, 2, 3)],
    ends: Uint32Array.of(rows, 2 * rows, 3 * rows),
    timeBase: 0n,
    firstTimes: Float64Array.of(0, rows, 2 * rows),
    lastTimes: Float64Array.of(rows - 1, 2 * rows - 1, 3 * rows - 1),
  };
  const { name } = await writer.finish(index, 1);
  const path = join(await folder, name);
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const ask = async (sql: string): Promise<readonly unknown[]> =>
    (await connection.runAndReadAll(sql.replace("$file", `'${path}'`))).getRowsJson();
  expect(await ask("SELECT count(*), count(msg), sum(code), max(msg) FROM $file")).toEqual([["9000", "7714", "18000", "message 999"]]);
  expect(await ask("SELECT count(*), min(code) FROM $file WHERE host = 'host_1'")).toEqual([["3000", "0"]]);
  expect(await ask(`SELECT bloom_filter_excludes FROM parquet_bloom_probe($file, 'host', 'host_1')`)).toEqual([[true], [false], [true]]);
  connection.closeSync();
});
