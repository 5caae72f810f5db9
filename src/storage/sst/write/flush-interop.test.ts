/** DuckDB reads what a flush wrote: the same rows in the same order. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";
import fc from "fast-check";
import { FIELDS, requestOf } from "../../../../test/support/storage/arbitrary-rows.ts";
import { UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { clockText } from "../../../value/clock-time.ts";
import { localFileStore } from "../../file-store/local-file-store.ts";
import { Arena, SlabPool } from "../../memtable/arena.ts";
import { buildDeleteChunk } from "../../memtable/delete-chunk.ts";
import { type FileRow, jobOf, tableOf, wantedRows } from "../../../../test/support/storage/table.ts";
import { decimalText } from "../../../column/decimal.ts";
import { flushChunks } from "./flush.ts";

const UNIT = "microsecond"; // DuckDB keeps nanoseconds in a type of its own, without the functions used here.
const START = 1_700_000_000n;

let folder = "";
let connection: DuckDBConnection;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-flush-"));
  connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run("SET timezone = 'UTC'");
});
afterAll(async () => {
  connection.closeSync();
  await rm(folder, { recursive: true });
});

test("a file that only deletes is an empty table to others", async () => {
  const schema = tableOf(UNIT, "last_row");
  const job = jobOf(schema, [{ rows: [{ series: 1, time: START, values: [1] }], columnIds: [FIELDS[0]!.id] }], 900);
  const source = { sequence: 5, count: 1, series: Uint32Array.of(1), seriesMax: 1, timeBase: START, firsts: Float64Array.of(0) };
  const chunk = buildDeleteChunk({ ...source, lengths: undefined, rows: undefined }, new Arena(new SlabPool(0)));
  const [file] = await flushChunks({ ...job, chunks: [...job.chunks, chunk] }, localFileStore(folder));
  expect(file).toMatchObject({ rowCount: 0, minTime: START, maxTime: START, tombstones: { count: 1, rowCount: 1 } });
  const reader = await connection.runAndReadAll(`SELECT count(*)::VARCHAR, count(host)::VARCHAR FROM '${join(folder, file?.name ?? "")}'`);
  expect(reader.getRows()).toEqual([["0", "0"]]);
});

/** A value of a field as DuckDB is asked for it: text, so that every type compares the same way. */
function selected(): string {
  const fields = FIELDS.map(({ id, type }) => {
    if (type.kind === "float") return `f_${id}::DOUBLE::VARCHAR AS f_${id}`;
    if (type.kind === "binary" || type.kind === "vector") return `hex(f_${id}) AS f_${id}`;
    if (type.kind === "date") return `date_diff('day', DATE '1970-01-01', f_${id})::VARCHAR AS f_${id}`;
    if (type.kind === "timestamp") return `epoch_${type.unit === "microsecond" ? "us" : "ms"}(f_${id})::VARCHAR AS f_${id}`;
    return `f_${id}::VARCHAR AS f_${id}`;
  });
  return ["host", "region", "epoch_us(ts)::VARCHAR AS ts", ...fields].join(", ");
}

/** The same of our own rows. Floats are compared as numbers, since their text may differ. */
function asText(row: FileRow): (string | null)[] {
  return row.map((value, index) => {
    if (value === undefined) return null;
    if (value instanceof Uint8Array) return Buffer.from(value).toString("hex").toUpperCase();
    const type = FIELDS[index - 3]?.type;
    if (type?.kind === "decimal") return decimalText(value as number | bigint, type.scale);
    if (type?.kind === "time") return clockText(Number(value), type.unit).replace(/(\.\d+?)0+$/, "$1"); // It prints no zeros at the end.
    return type?.kind === "float" ? floatText(Number(value)) : String(value);
  });
}

function floatText(value: number): string {
  return Number.isNaN(value) ? "NaN" : String(value);
}

function fromDuck(row: readonly DuckDBValue[]): (string | null)[] {
  return row.map((value, index) => {
    if (value === null) return null;
    if (typeof value !== "string") throw new Error(`text is asked for; got ${Bun.inspect(value)}`);
    if (FIELDS[index - 3]?.type.kind !== "float") return value;
    return floatText(value === "inf" ? 1 / 0 : value === "-inf" ? -1 / 0 : Number(value));
  });
}

describe("DuckDB reads a flush", () => {
  let run = 0;
  for (const mode of ["last_row", "last_non_null", "append"] as const) {
    test(`of merge mode ${mode}: every type, NULLs, several windows`, async () => {
      const time = fc.integer({ min: 0, max: 40 }).map((step) => (START + BigInt(step * 10_000)) * BigInt(UNITS_PER_SECOND[UNIT]));
      await fc.assert(
        fc.asyncProperty(fc.array(requestOf(8, time), { minLength: 2, maxLength: 4 }), async (requests) => {
          const root = join(folder, String(++run));
          const files = await flushChunks(jobOf(tableOf(UNIT, mode), requests), localFileStore(root));
          const wanted = wantedRows(requests, mode);
          let count = 0;
          for (const file of files) {
            const result = await connection.runAndReadAll(`SELECT ${selected()} FROM read_parquet('${join(root, file.name)}')`);
            const want = wanted.filter((row) => (row[2] as bigint) >= file.minTime && (row[2] as bigint) <= file.maxTime);
            expect(result.getRows().map(fromDuck)).toEqual(want.map(asText));
            count += want.length;
          }
          expect(count).toBe(wanted.length);
        }),
        { seed: 14, numRuns: 6 },
      );
    });
  }

  test("as one table over all files, with the column types of the schema", async () => {
    const root = join(folder, String(++run));
    const rows = Array.from({ length: 500 }, (_, i) => ({
      series: i % 8,
      time: (START + BigInt(i * 1000)) * BigInt(UNITS_PER_SECOND[UNIT]),
      values: [i % 100],
    }));
    const files = await flushChunks(jobOf(tableOf(UNIT, "last_row"), [{ rows, columnIds: [FIELDS[0]!.id] }]), localFileStore(root));
    expect(files.length).toBeGreaterThan(3);
    const table = `read_parquet('${root}/**/*.parquet')`;
    const result = await connection.runAndReadAll(`SELECT count(*), sum(f_10), count(DISTINCT (host, region)) FROM ${table}`);
    expect(result.getRows().map((row) => row.map(Number))).toEqual([[500, 24_750, 8]]);
    const types = await connection.runAndReadAll(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${table})`);
    expect(types.getRows().map((row) => fromDuck(row).join(" "))).toEqual([
      "host VARCHAR",
      "region VARCHAR",
      "ts TIMESTAMP WITH TIME ZONE",
      "f_10 TINYINT",
      "f_11 UINTEGER",
      "f_12 BIGINT",
      "f_13 UBIGINT",
      "f_14 DOUBLE",
      "f_15 FLOAT",
      "f_16 BOOLEAN",
      "f_17 DATE",
      "f_18 VARCHAR",
      "f_19 BLOB",
      "f_20 TIMESTAMP WITH TIME ZONE",
      "f_21 TIMESTAMP WITH TIME ZONE",
      "f_22 DECIMAL(8,3)",
      "f_23 DECIMAL(18,6)",
      "f_24 DECIMAL(38,10)",
      "f_25 TIME",
      "f_26 TIME",
      "f_27 JSON",
      "f_28 BLOB",
    ]);
  });
});
