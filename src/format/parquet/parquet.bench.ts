/**
 * Writing and reading TSBS-like rows: 10 tags, a time, 10 integers that walk between 0 and 100, 250 rows a series.
 *
 *   bun src/format/parquet/parquet.bench.ts [rows]     prints a hash of the file, its size, and the rates
 */
import { bench, do_not_optimize, run } from "mitata";
import { crc32 } from "../../base/bytes/hash.ts";
import { textTableOf } from "../../column/text-table.ts";
import { decodePage, decodeTagPage } from "./reading/reader.ts";
import { field, openMemory, pageBytes, writeToMemory } from "./testing/memory-file.ts";
import type { ColumnInput, ParquetColumn } from "./types.ts";
import { ParquetWriter } from "./writing/writer.ts";

const ROWS_PER_SERIES = 250;
const rowsWanted = process.env["VARVE_BENCH_SMOKE"] === undefined ? Number(process.argv[2] ?? 200_000) : 5000;
const rowCount = Math.ceil(rowsWanted / ROWS_PER_SERIES) * ROWS_PER_SERIES;
const seriesCount = rowCount / ROWS_PER_SERIES;

let state = 12_345;
/** A repeatable number in [0, 1). */
function random(): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return state / 2 ** 32;
}
/** About normal, standard deviation 1. */
function normal(): number {
  return (
    random() + random() + random() + random() + random() + random() + random() + random() + random() + random() + random() + random() - 6
  );
}

const columns: ParquetColumn[] = [{ name: "ts", type: { kind: "timestamp", unit: "nanosecond" }, nullable: false, role: "time" }];
const seriesEnds = Uint32Array.from({ length: seriesCount }, (_, s) => (s + 1) * ROWS_PER_SERIES);
const offsets = Float64Array.from({ length: rowCount }, (_, i) => (i % ROWS_PER_SERIES) * 1e10);
const inputs: ColumnInput[] = [{ kind: "time", base: 1_451_606_400_000_000_000n, offsets, validity: undefined }];
for (const [name, count] of Object.entries({
  host: seriesCount,
  region: 9,
  dc: 25,
  rack: 100,
  os: 3,
  arch: 2,
  team: 20,
  service: 10,
  version: 4,
  env: 3,
})) {
  columns.push({ name, type: { kind: "string" }, nullable: true, role: "tag" });
  const dictionary = [undefined, ...Array.from({ length: count }, (_, i) => `${name}_${i}`)];
  const codes = Uint32Array.from({ length: seriesCount }, (_, s) => 1 + (name === "host" ? s : Math.floor(random() * count)));
  inputs.push({ kind: "runs", ends: seriesEnds, codes, texts: textTableOf(dictionary) });
}
for (let f = 0; f < 10; f++) {
  columns.push(field(`usage_${f}`, { kind: "int", bits: 64, signed: true }));
  const values = new Float64Array(rowCount);
  let value = 0;
  for (let i = 0; i < rowCount; i++) {
    value = i % ROWS_PER_SERIES === 0 ? random() * 100 : Math.min(100, Math.max(0, value + normal()));
    values[i] = Math.trunc(value);
  }
  inputs.push({ kind: "number", values, validity: undefined });
}

const bytes = writeToMemory(columns, rowCount, inputs, { seriesEnds });
const file = openMemory(bytes);

function write(): number {
  const writer = new ParquetWriter(columns, { write: () => undefined });
  writer.append(rowCount, inputs, seriesEnds);
  return writer.finish({}).byteLength;
}

function readColumns(from: number, to: number): number {
  let values = 0;
  for (let rowGroup = 0; rowGroup < file.rowGroups.length; rowGroup++) {
    for (let column = from; column < to; column++) {
      const { pageCount } = file.pageIndex(rowGroup, column);
      for (let page = 0; page < pageCount; page++) {
        const stored = pageBytes(file, bytes, rowGroup, column, page);
        const at = { rowGroup, column, page };
        if (columns[column]?.role === "tag") {
          values += decodeTagPage(file, at, stored).rowCount;
          continue;
        }
        const vector = decodePage(file, at, stored, undefined);
        values += vector.kind === "number" ? vector.values.length : vector.kind === "time" ? vector.offsets.length : 0;
      }
    }
  }
  return values;
}

console.log(`${rowCount} rows, file ${crc32(bytes).toString(16)}, ${(bytes.length / rowCount).toFixed(3)} B a row`);
bench(`write ${rowCount} rows, 21 columns`, () => do_not_optimize(write()));
bench(`read 10 integer columns, ${rowCount * 10} values`, () => do_not_optimize(readColumns(11, 21)));
bench(`read times, ${rowCount} values`, () => do_not_optimize(readColumns(0, 1)));
bench(`read 10 tag columns, ${rowCount * 10} values`, () => do_not_optimize(readColumns(1, 11)));
bench("open", () => do_not_optimize(openMemory(bytes).pageIndex(0, 11)));
await run();
