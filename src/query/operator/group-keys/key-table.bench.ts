/** Numbers of rows by their keys: nanoseconds a row. `bun src/query/operator/group-keys/key-table.bench.ts` */
import { bench, group, run } from "mitata";
import { type DataType, INT64, STRING } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { KeyTable } from "./key-table.ts";

const ROWS = process.env["VARVE_BENCH_SMOKE"] === "1" ? 2000 : 5_000_000;
const BATCH = 65_536;

/** Some batches of a column. */
type Column = (from: number, rows: number) => Vector;

const mixed = (row: number): number => {
  let hash = Math.imul(row, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
};
const integers =
  (distinct: number): Column =>
  (from, rows) => ({
    kind: "number",
    values: Float64Array.from({ length: rows }, (_, i) => mixed(from + i) % distinct),
    validity: undefined,
  });
const wides: Column = (from, rows) => ({
  kind: "wide",
  values: BigInt64Array.from({ length: rows }, (_, i) => 2n ** 60n + BigInt(mixed(from + i))),
  validity: undefined,
});

function texts(distinct: number, length: number): Column {
  const encoder = new TextEncoder();
  return (from, rows) => {
    const bytes = new Uint8Array(rows * length);
    const offsets = new Uint32Array(rows + 1);
    for (let i = 0; i < rows; i++) {
      const text = String(mixed(from + i) % distinct).padStart(length, "user-0123456789abcdef0123456789abcdef");
      encoder.encodeInto(text, bytes.subarray(i * length));
      offsets[i + 1] = (i + 1) * length;
    }
    return { kind: "bytes", offsets, bytes, validity: undefined };
  };
}

const CASES: readonly (readonly [name: string, types: readonly DataType[], columns: readonly Column[]])[] = [
  ["integers, 1,000", [INT64], [integers(1000)]],
  ["integers, 1M", [INT64], [integers(1_000_000)]],
  ["integers, nearly all different", [INT64], [integers(2 ** 32)]],
  ["integers beyond 2^53, nearly all different", [INT64], [wides]],
  ["texts of 12 bytes, 200,000", [STRING], [texts(200_000, 12)]],
  ["texts of 32 bytes, nearly all different", [STRING], [texts(2 ** 32, 32)]],
  ["an integer and a text, 1M and 1,000", [INT64, STRING], [integers(1_000_000), texts(1000, 12)]],
];

group(`${ROWS} rows`, () => {
  for (const [name, types, columns] of CASES) {
    const batches: { readonly rowCount: number; readonly vectors: readonly Vector[] }[] = [];
    for (let from = 0; from < ROWS; from += BATCH) {
      const rowCount = Math.min(BATCH, ROWS - from);
      batches.push({ rowCount, vectors: columns.map((column) => column(from, rowCount)) });
    }
    bench(name, () => {
      const table = new KeyTable(types, { nullsMatch: true }, () => undefined);
      for (const { rowCount, vectors } of batches) table.add(vectors, rowCount);
      return table.size;
    });
  }
});

await run();
