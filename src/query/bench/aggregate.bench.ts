/**
 * Speed of filter, grouping and aggregation on synthetic batches in memory.
 *
 * Run: `bun src/query/bench/aggregate.bench.ts`.
 */
import { rowsOfQuery } from "../../../test/support/plan-run.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { NumberArray, Vector } from "../../column/vector.ts";
import { tableId } from "../../base/units.ts";
import type { Table } from "../../table/catalog.ts";
import type { ScanBatch } from "../../table/scan.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";

/** Uniform in [0, 1), the same in each run. */
let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
  return seed / 0x8000_0000;
}

const SMOKE = process.env["VARVE_BENCH_SMOKE"] !== undefined;
const HOSTS = SMOKE ? 2 : 100;
const ROWS_PER_HOST = 4320; // 12 h every 10 s
const BATCH_ROWS = 65_536;
const TURNS = SMOKE ? 1 : 25;
const FIELDS = 10;
const NANOS_PER_ROW = 1e10;
const FIRST = 1_686_441_600_000_000_000n;

const columns: ColumnSchema[] = [
  { id: 1, name: "hostname", type: STRING, semantic: "tag", nullable: true },
  ...Array.from({ length: FIELDS }, (_, i): ColumnSchema => ({ id: i + 2, name: `c${i}`, type: INT64, semantic: "field", nullable: true })),
  { id: 20, name: "f", type: FLOAT64, semantic: "field", nullable: true },
  { id: 21, name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
];
const schema: TableSchema = {
  id: tableId(1),
  version: 1,
  database: "public",
  name: "cpu",
  columns,
  primaryKey: ["hostname"],
  engine: "mito",
  options: {},
};
const dictionary = [undefined, ...Array.from({ length: HOSTS }, (_, i) => `host_${i}`)];

/** Batches as storage gives them: whole series one after another. */
function batchesOf(make: (rows: number) => NumberArray): Map<number, { vectors: Map<string, Vector>; batch: Omit<ScanBatch, "vectors"> }> {
  const total = HOSTS * ROWS_PER_HOST;
  const all = new Map<number, { vectors: Map<string, Vector>; batch: Omit<ScanBatch, "vectors"> }>();
  for (let from = 0; from < total; from += BATCH_ROWS) {
    const rowCount = Math.min(BATCH_ROWS, total - from);
    const starts = [0];
    const series: number[] = [];
    const offsets = new Float64Array(rowCount);
    const codes = new Uint32Array(rowCount);
    for (let i = 0; i < rowCount; i++) {
      const host = Math.floor((from + i) / ROWS_PER_HOST);
      offsets[i] = ((from + i) % ROWS_PER_HOST) * NANOS_PER_ROW;
      codes[i] = host + 1;
      if (series.at(-1) !== host) {
        if (i > 0) starts.push(i);
        series.push(host);
      }
    }
    starts.push(rowCount);
    const vectors = new Map<string, Vector>([
      ["hostname", { kind: "dictionary", codes, dictionary }],
      ["ts", { kind: "time", base: FIRST, offsets, validity: undefined }],
      ["f", { kind: "number", values: Float64Array.from({ length: rowCount }, () => random() * 100), validity: undefined }],
    ]);
    for (let c = 0; c < FIELDS; c++) {
      const values = make(rowCount);
      for (let i = 0; i < rowCount; i++) values[i] = Math.floor(random() * 101);
      vectors.set(`c${c}`, { kind: "number", values, validity: undefined });
    }
    all.set(from, { vectors, batch: { rowCount, runs: { starts: Uint32Array.from(starts), series: Uint32Array.from(series) } } });
  }
  return all;
}

function tableOf(make: (rows: number) => NumberArray): Table {
  const batches = [...batchesOf(make).values()];
  return {
    schema,
    series: {
      count: HOSTS,
      codesOf: () => Uint32Array.from({ length: HOSTS }, (_, i) => i + 1),
      hasValue: (_, value) => dictionary.includes(value),
      dictionaryOf: () => dictionary,
      tagOf: (_, series) => dictionary[series + 1],
    },
    files: () => [],
    async *scan({ projection }) {
      for (const { vectors, batch } of batches) yield { ...batch, vectors: projection.flatMap((name) => vectors.get(name) ?? []) };
    },
    timeBounds: () => ({ start: FIRST, end: FIRST + BigInt(ROWS_PER_HOST * NANOS_PER_ROW) }),
    deleteRows: () => Promise.reject(new Error("the rows of a bench stay")),
    watchOverwrites: () => ({ unwritten: () => 0, isFull: false, end: () => undefined }),
    deleteRange: () => Promise.reject(new Error("the rows of a bench stay")),
    statistics: () => ({ rowCount: HOSTS * ROWS_PER_HOST, memoryBytes: 0, fileBytes: 0, fileCount: 0, seriesCount: HOSTS }),
  };
}

const tables: Readonly<Record<string, Table>> = { int8: tableOf((n) => new Int8Array(n)), float64: tableOf((n) => new Float64Array(n)) };
const averages = Array.from({ length: FIELDS }, (_, i) => `avg(c${i})`).join(", ");
const QUERIES: Readonly<Record<string, string>> = {
  "avg of 10 columns by hour and host": `SELECT ${averages}, date_trunc('hour', ts) FROM cpu GROUP BY hostname, date_trunc('hour', ts)`,
  "max of 1 column by minute": "SELECT max(c0), date_trunc('minute', ts) FROM cpu GROUP BY 2",
  "avg of a float by hour and host": "SELECT avg(f), date_trunc('hour', ts) FROM cpu GROUP BY 2, hostname",
  "count by value (row keys)": "SELECT c0, count(*) FROM cpu GROUP BY c0",
  "count by two values": "SELECT c0, c1, count(*) FROM cpu GROUP BY c0, c1",
  "count by host, hour and value": "SELECT hostname, date_trunc('hour', ts), c0, count(*) FROM cpu GROUP BY 1, 2, 3",
  "count by minute and bucket of 7 minutes": "SELECT count(*) FROM cpu GROUP BY date_trunc('minute', ts), date_bin('7 minutes', ts)",
  "count by time": "SELECT ts, count(*) FROM cpu GROUP BY ts",
  "count by text of a row": "SELECT hostname || 'x', c0 > 50, count(*) FROM cpu GROUP BY hostname || 'x', c0 > 50",
  "count by values that are all different": "SELECT f, count(*) FROM cpu GROUP BY f",
  "DISTINCT ON two columns": "SELECT DISTINCT ON (hostname, c0) hostname, c0, f FROM cpu",
  EXCEPT: "SELECT hostname, ts FROM cpu EXCEPT SELECT hostname, ts FROM cpu WHERE c0 > 50",
  "join by host and time": "SELECT count(*) FROM cpu a JOIN cpu b ON a.hostname = b.hostname AND a.ts = b.ts WHERE b.c0 > 90",
  "max by slots of an hour": "SELECT ts, hostname, max(c0) RANGE '1h' FROM cpu ALIGN '1h'",
  "max by ranges of an hour, 12 slots a row": "SELECT ts, hostname, max(c0) RANGE '1h' FROM cpu ALIGN '5m'",
  "max and avg by ranges of unequal length": "SELECT ts, hostname, max(c0) RANGE '10m', avg(c1) RANGE '7m' FROM cpu ALIGN '5m'",
  "max by 10 s slots with FILL PREV": "SELECT ts, hostname, max(c0) RANGE '10s' FROM cpu ALIGN '5s' FILL PREV",
  "filter 10 %, 13 columns out": "SELECT * FROM cpu WHERE c0 > 90.0",
};

const query = (sql: string, table: Table): Promise<number> => rowsOfQuery(sql, { table: () => table });

const total = HOSTS * ROWS_PER_HOST;
for (const [name, sql] of Object.entries(QUERIES)) {
  for (const [form, table] of Object.entries(tables)) {
    for (let i = 0; i < 5; i++) await query(sql, table);
    let [best, out] = [Number.POSITIVE_INFINITY, 0];
    // The least of several: other work on the machine only ever adds.
    for (let turn = 0; turn < TURNS; turn++) {
      const since = performance.now();
      out = await query(sql, table);
      best = Math.min(best, performance.now() - since);
    }
    console.log(`${((best * 1e6) / total).toFixed(2).padStart(7)} ns/row  ${name} (${form}), ${total} rows in, ${out} out`);
  }
}
