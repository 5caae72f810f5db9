/**
 * Rows to bytes, for answers of the size of TSBS high-cpu-all: 100,000 rows of 10 tags, a time and 10 small integers.
 * Run: `bun run src/server/http/formats/formats.bench.ts`.
 */
import { Pace } from "../../../base/scheduler/pace.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { bench, do_not_optimize, run } from "mitata";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { StatementResult } from "../../../query/statement-result.ts";
import type { ResultFormat } from "./format.ts";
import { formatOf } from "./registry.ts";

const ROWS = process.env["VARVE_BENCH_SMOKE"] === "1" ? 1000 : 100_000;
const BATCH_ROWS = Math.min(ROWS, 8192);
const OPTIONS = { limit: undefined, epoch: undefined, compression: undefined, elapsedMillis: () => 0, pace: new Pace(new Scheduler()) };

function tag(cardinality: number): Vector {
  const dictionary = [undefined, ...Array.from({ length: cardinality }, (_, index) => `value_${index}`)];
  return { kind: "dictionary", codes: Uint32Array.from({ length: BATCH_ROWS }, (_, row) => 1 + ((row * 7) % cardinality)), dictionary };
}

const HEADERS: ColumnHeader[] = [];
const VECTORS: Vector[] = [];
for (let i = 0; i < 10; i++) {
  HEADERS.push({ name: `tag${i}`, type: STRING });
  VECTORS.push(tag(4000 >> i));
}
HEADERS.push({ name: "ts", type: TIMESTAMP_NANOSECOND });
VECTORS.push({
  kind: "time",
  base: 1_700_000_000_000_000_000n,
  offsets: Float64Array.from({ length: BATCH_ROWS }, (_, row) => row * 1e10),
  validity: undefined,
});
for (let i = 0; i < 10; i++) {
  HEADERS.push({ name: `usage${i}`, type: INT64 });
  VECTORS.push({ kind: "number", values: Int8Array.from({ length: BATCH_ROWS }, (_, row) => (row * 31 + i) % 101), validity: undefined });
}
const WIDE: Batch = { rowCount: BATCH_ROWS, vectors: VECTORS };
const FLOAT_HEADERS: ColumnHeader[] = Array.from({ length: 10 }, (_, index) => ({ name: `f${index}`, type: FLOAT64 }));
const FLOATS: Batch = {
  rowCount: BATCH_ROWS,
  vectors: FLOAT_HEADERS.map((_, index) => ({
    kind: "number",
    values: Float64Array.from({ length: BATCH_ROWS }, (_unused, row) => (row * 31 + index) / 7),
    validity: undefined,
  })),
};

async function* results(headers: readonly ColumnHeader[], batch: Batch): AsyncGenerator<StatementResult> {
  const batches = (async function* () {
    for (let row = 0; row < ROWS; row += BATCH_ROWS) yield batch;
  })();
  yield { kind: "rows", headers, batches };
}

async function byteCount(format: ResultFormat, headers: readonly ColumnHeader[], batch: Batch): Promise<number> {
  let bytes = 0;
  for await (const chunk of format.encode(results(headers, batch), OPTIONS)) bytes += chunk.length;
  return bytes;
}

const sizes: string[] = [];
for (const name of ["greptimedb_v1", "csv", "json", "arrow"]) {
  const format = formatOf(name);
  sizes.push(`${name} ${await byteCount(format, HEADERS, WIDE)}`);
  bench(`${name}: ${ROWS} rows of 10 tags, a time, 10 integers`, async () => do_not_optimize(await byteCount(format, HEADERS, WIDE)));
}
bench(`greptimedb_v1: ${ROWS} rows of 10 floats`, async () => do_not_optimize(await byteCount(formatOf(""), FLOAT_HEADERS, FLOATS)));
await run();
console.log(`bytes: ${sizes.join(", ")}`);
