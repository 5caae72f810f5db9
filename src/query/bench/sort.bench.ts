/**
 * Processor time of sorts and of extremes of text over synthetic batches in memory.
 *
 * Run: `bun src/query/bench/sort.bench.ts [part of a name]`.
 */
import { MemoryBudget } from "../../base/memory/memory-budget.ts";
import { planOf, rowsOfPlan } from "../../../test/support/plan-run.ts";
import { tableId } from "../../base/units.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import type { Table } from "../../table/catalog.ts";
import type { ScanBatch } from "../../table/scan.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import type { SpillFile, SpillSpace } from "../../table/spill-space.ts";

const SMOKE = process.env["VARVE_BENCH_SMOKE"] !== undefined;
const ROWS = SMOKE ? 5000 : 500_000;
const BATCH_ROWS = SMOKE ? 1000 : 65_536;
const TURNS = SMOKE ? 1 : Number(process.env["TURNS"] ?? 3);
const FIRST = 1_686_441_600_000_000_000n;
const MIB = 1024 * 1024;

/** Uniform in [0, 1), the same in each run. */
let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
  return seed / 0x8000_0000;
}

const columns: ColumnSchema[] = [
  { id: 1, name: "host", type: STRING, semantic: "tag", nullable: true },
  { id: 2, name: "i", type: INT64, semantic: "field", nullable: true },
  { id: 3, name: "few", type: INT64, semantic: "field", nullable: true },
  { id: 4, name: "wide", type: INT64, semantic: "field", nullable: true },
  { id: 5, name: "f", type: FLOAT64, semantic: "field", nullable: true },
  { id: 6, name: "text", type: STRING, semantic: "field", nullable: true },
  { id: 7, name: "many", type: INT64, semantic: "field", nullable: true },
  { id: 8, name: "word", type: STRING, semantic: "field", nullable: true },
  { id: 9, name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
];
const schema: TableSchema = {
  id: tableId(1),
  version: 1,
  database: "public",
  name: "t",
  columns,
  primaryKey: ["host"],
  engine: "mito",
  options: {},
};
const dictionary = [undefined, "host_0"];

function textsOf(rowCount: number, length: number, text: (row: number) => string): Vector {
  const bytes = new Uint8Array(rowCount * length);
  const offsets = new Uint32Array(rowCount + 1);
  for (let i = 0; i < rowCount; i++) {
    bytes.set(new TextEncoder().encode(text(i)), i * length);
    offsets[i + 1] = (i + 1) * length;
  }
  return { kind: "bytes", offsets, bytes, validity: undefined };
}

const hex = (): string =>
  Math.floor(random() * 0x7fff_ffff)
    .toString(16)
    .padStart(8, "0");

function batches(): { readonly vectors: ReadonlyMap<string, Vector>; readonly batch: Omit<ScanBatch, "vectors"> }[] {
  const made = [];
  for (let from = 0; from < ROWS; from += BATCH_ROWS) {
    const rowCount = Math.min(BATCH_ROWS, ROWS - from);
    const numbers = (value: () => number): Vector => {
      return { kind: "number", values: Float64Array.from({ length: rowCount }, value), validity: undefined };
    };
    const wide = BigInt64Array.from({ length: rowCount }, () => (BigInt(Math.floor(random() * 2 ** 31)) << 32n) - 2n ** 62n);
    const vectors = new Map<string, Vector>([
      ["host", { kind: "dictionary", codes: new Uint32Array(rowCount).fill(1), dictionary }],
      [
        "ts",
        { kind: "time", base: FIRST, offsets: Float64Array.from({ length: rowCount }, (_, i) => (from + i) * 1e9), validity: undefined },
      ],
      ["i", numbers(() => Math.floor(random() * 1e9))],
      ["few", numbers(() => Math.floor(random() * 100))],
      ["many", numbers(() => Math.floor(random() * 100_000))],
      ["f", numbers(() => random() * 100)],
      ["wide", { kind: "wide", values: wide, validity: undefined }],
      ["text", textsOf(rowCount, 32, () => hex() + hex() + hex() + hex())],
      ["word", textsOf(rowCount, 12, () => `word_${String(Math.floor(random() * 2000)).padStart(7, "0")}`)],
    ]);
    made.push({ vectors, batch: { rowCount, runs: { starts: Uint32Array.of(0, rowCount), series: Uint32Array.of(0) } } });
  }
  return made;
}

const all = batches();
const table: Table = {
  schema,
  series: {
    count: 1,
    codesOf: () => Uint32Array.of(1),
    hasValue: (_, value) => dictionary.includes(value),
    dictionaryOf: () => dictionary,
    tagOf: (_, series) => dictionary[series + 1],
  },
  files: () => [],
  async *scan({ projection }) {
    for (const { vectors, batch } of all) yield { ...batch, vectors: projection.flatMap((name) => vectors.get(name) ?? []) };
  },
  timeBounds: () => ({ start: FIRST, end: FIRST + BigInt(ROWS) * 1_000_000_000n }),
  deleteRows: () => Promise.reject(new Error("the rows of a bench stay")),
  watchOverwrites: () => ({ unwritten: () => 0, isFull: false, end: () => undefined }),
  deleteRange: () => Promise.reject(new Error("the rows of a bench stay")),
  statistics: () => ({ rowCount: ROWS, memoryBytes: 0, fileBytes: 0, fileCount: 0, seriesCount: 1 }),
};

/** Spilled blocks in memory: what is measured is the processor's work. */
function spillSpace(): SpillSpace {
  return {
    create(): Promise<SpillFile> {
      const blocks: Uint8Array<ArrayBuffer>[] = [];
      return Promise.resolve({
        append: (bytes) => Promise.resolve(blocks.push(Uint8Array.from(bytes)) - 1),
        read: (offset) => Promise.resolve(blocks[offset] ?? new Uint8Array(0)),
        close: () => Promise.resolve(),
      });
    },
  };
}

const deep = Math.floor(ROWS * 0.8);
const QUERIES: Readonly<Record<string, string>> = {
  int: "SELECT i, f FROM t ORDER BY i",
  "int LIMIT 10": "SELECT i, f FROM t ORDER BY i LIMIT 10",
  "int, OFFSET of 80 %": `SELECT i, f FROM t ORDER BY i LIMIT 10 OFFSET ${deep}`,
  "two ints, DESC": "SELECT few, i FROM t ORDER BY few DESC, i DESC",
  "wide int": "SELECT wide, f FROM t ORDER BY wide",
  float: "SELECT f, i FROM t ORDER BY f",
  "text that repeats, int, OFFSET of 80 %": `SELECT word, i FROM t ORDER BY word, i LIMIT 10 OFFSET ${deep}`,
  text: "SELECT text, i FROM t ORDER BY text",
  "text LIMIT 10": "SELECT text, i FROM t ORDER BY text LIMIT 10",
  "text, int, OFFSET of 80 %": `SELECT text, i FROM t ORDER BY text, i LIMIT 10 OFFSET ${deep}`,
  "rank by text": "SELECT rank() OVER (ORDER BY word) FROM t",
  "max(text)": "SELECT max(text) FROM t",
  "max(text), 100,000 groups": "SELECT many, max(text) FROM t GROUP BY many",
  "max(wide), 100,000 groups": "SELECT many, max(wide), sum(few) FROM t GROUP BY many",
  "count(DISTINCT), beside others": "SELECT few, count(DISTINCT many), count(DISTINCT word), stddev(f) FROM t GROUP BY few",
  "last text by time, 100,000 groups": "SELECT many, last_value(text ORDER BY ts) FROM t GROUP BY many",
  "spilled int": "SELECT i, f FROM t ORDER BY i",
  "spilled text, int": "SELECT text, i FROM t ORDER BY text, i",
};

const wanted = process.argv[2] ?? "";
for (const [name, sql] of Object.entries(QUERIES)) {
  if (!name.includes(wanted)) continue;
  let [best, rows] = [Number.POSITIVE_INFINITY, 0];
  // The least of several: other work on the machine only ever adds.
  for (let turn = 0; turn < TURNS; turn++) {
    const { plan, sources } = planOf(sql, { table: () => table });
    const budget = new MemoryBudget(4 * MIB);
    const more = name.startsWith("spilled") ? { spill: spillSpace(), budget } : {};
    const since = process.cpuUsage();
    rows = await rowsOfPlan(plan, sources, more);
    const { user, system } = process.cpuUsage(since);
    best = Math.min(best, (user + system) / 1000);
  }
  console.log(`${name.padEnd(42)} ${best.toFixed(0).padStart(7)} ms ${String(rows).padStart(8)} rows out`);
}
