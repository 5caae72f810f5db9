/**
 * Cost of indexes in a flush or merge, and of asking them: `bun src/storage/index/index.bench.ts`.
 *
 * 262,144 rows: status codes (5 values), trace ids of 32 hexadecimal digits (all different), log lines of about 90 bytes.
 *
 * Measured with Bun 1.4.5 on one of 2 shared cores:
 *   skipping, status codes: 60M rows/s, 0.00 B a row       skipping, trace ids: 3.7M rows/s, 118 MB/s, 1.21 B a row
 *   inverted, status codes: 33M rows/s, 0.00 B a row       full text, log lines: 1.7M rows/s, 120 MB/s, 2.56 B a row
 *   one key of a filter: 53-77 ns
 */
import { measure } from "mitata";
import { type DataType, INT64, STRING } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Vector } from "../../column/vector.ts";
import { buildFilter, mayHold } from "./key-filter.ts";
import type { IndexSpec } from "./index-spec.ts";
import { IndexWriter } from "./index-writer.ts";
import { PairSet } from "./pair-set.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 20_000 : 262_144;
const PAGE_ROWS = 16_384;

const hex = (i: number): string => (Math.imul(i, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
const codes = vectorOf(
  INT64,
  Array.from({ length: ROWS }, (_, i) => [200, 200, 200, 404, 500][i % 5]),
);
const traces = vectorOf(
  STRING,
  Array.from({ length: ROWS }, (_, i) => hex(i) + hex(i + 1) + hex(i * 3) + hex(i * 7)),
);
const lines = vectorOf(
  STRING,
  Array.from(
    { length: ROWS },
    (_, i) => `GET /api/v1/orders/${i % 5000} 200 served user=${hex(i).slice(0, 6)} in ${i % 900} ms from shard-${i % 16}`,
  ),
);

const pageEnds = Uint32Array.from({ length: Math.ceil(ROWS / PAGE_ROWS) }, (_, page) => Math.min(ROWS, (page + 1) * PAGE_ROWS));

/** Writes one index and says what it costs. */
async function report(name: string, kind: IndexSpec["kind"], vector: Vector, type: DataType): Promise<void> {
  const spec: IndexSpec = {
    columnId: 1,
    position: 0,
    kind,
    keyKind: type.kind === "string" ? "bytes" : "int",
    granularity: 10_240,
    falsePositiveRate: 0.01,
  };
  let bytes = 0;
  const run = (): void => {
    bytes = 0;
    const writer = new IndexWriter([spec], (piece) => (bytes += piece.length));
    writer.append(pageEnds, () => ({ vector, type }));
    if (writer.finish().length === 0) throw new Error("an index was written");
  };
  const { p50 } = await measure(run, { min_cpu_time: SMALL ? 1 : 5e8, min_samples: SMALL ? 1 : 5, warmup_samples: 1 });
  const text = vector.kind === "bytes" ? `, ${((vector.offsets[ROWS]! * 1e3) / p50).toFixed(0)} MB/s` : "";
  process.stdout.write(`${name}: ${((ROWS * 1e3) / p50).toFixed(1)}M rows/s${text}, ${(bytes / ROWS).toFixed(2)} B a row\n`);
}

await report("skipping, status codes", "values", codes, INT64);
await report("skipping, trace ids", "values", traces, STRING);
await report("inverted, status codes", "list", codes, INT64);
await report("full text, log lines", "words", lines, STRING);

const keys = new PairSet(1 << 20);
for (let i = 0; i < 10_240; i++) keys.add(i, Math.imul(i, 0x9e3779b1) >>> 0);
const filter = buildFilter(keys, 0.01);
const asked = await measure(() => mayHold(filter, 5, 7), { min_cpu_time: SMALL ? 1 : 1e8 });
process.stdout.write(`one key of a filter: ${asked.p50.toFixed(0)} ns\n`);
