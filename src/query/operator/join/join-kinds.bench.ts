/**
 * CPU time of joins of equally large sides by kind of key: `bun src/query/operator/join/join-kinds.bench.ts [part of a name]`. All in
 * memory; columns are numbers, beyond 2^53 and texts without a dictionary, in batches as scans give them.
 */
import { planOf, rowsOfPlan } from "../../../../test/support/plan-run.ts";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { tableId } from "../../../base/units.ts";
import { INT64, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Table } from "../../../table/catalog.ts";
import type { ColumnSchema } from "../../../table/schema.ts";

const SMOKE = process.env["VARVE_BENCH_SMOKE"] !== undefined;
const ROWS = SMOKE ? 2000 : 500_000;
const BATCH_ROWS = SMOKE ? 500 : 65_536;
const TURNS = SMOKE ? 1 : 7;
const MIB = 1024 * 1024;

const columns: ColumnSchema[] = [
  { id: 1, name: "k", type: INT64, semantic: "field", nullable: true },
  { id: 2, name: "d", type: INT64, semantic: "field", nullable: true },
  { id: 3, name: "w", type: INT64, semantic: "field", nullable: true },
  { id: 4, name: "s", type: STRING, semantic: "field", nullable: true },
  { id: 5, name: "v", type: INT64, semantic: "field", nullable: true },
  { id: 6, name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
];

/** One to one on 32 bits, so that keys come in no order. */
function mixed(row: number): number {
  let hash = Math.imul(row, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

const encoder = new TextEncoder();

function texts(from: number, rowCount: number): Vector {
  const length = 24;
  const bytes = new Uint8Array(rowCount * length);
  for (let i = 0; i < rowCount; i++) {
    encoder.encodeInto(String(mixed(from + i)).padStart(length, "user-0123456789abcdef-"), bytes.subarray(i * length));
  }
  return { kind: "bytes", offsets: Uint32Array.from({ length: rowCount + 1 }, (_, i) => i * length), bytes, validity: undefined };
}

/** Rows `[first, first + ROWS)` of an endless table. */
function tableFrom(id: number, name: string, first: number): Table {
  const batches: { readonly rowCount: number; readonly vectors: ReadonlyMap<string, Vector> }[] = [];
  const numbers = (length: number, at: (i: number) => number): Vector => ({
    kind: "number",
    values: Float64Array.from({ length }, (_, i) => at(i)),
    validity: undefined,
  });
  for (let from = first; from < first + ROWS; from += BATCH_ROWS) {
    const rowCount = Math.min(BATCH_ROWS, first + ROWS - from);
    const vectors = new Map<string, Vector>([
      ["k", numbers(rowCount, (i) => mixed(from + i))],
      ["d", numbers(rowCount, (i) => mixed(from + i) % (ROWS / 10))],
      [
        "w",
        {
          kind: "wide",
          values: BigInt64Array.from({ length: rowCount }, (_, i) => 2n ** 60n + BigInt(mixed(from + i))),
          validity: undefined,
        },
      ],
      ["s", texts(from, rowCount)],
      ["v", numbers(rowCount, (i) => from + i)],
    ]);
    batches.push({ rowCount, vectors });
  }
  return {
    schema: { id: tableId(id), version: 1, database: "public", name, columns, primaryKey: [], engine: "mito", options: {} },
    series: { count: 0, codesOf: () => new Uint32Array(0), hasValue: () => false, dictionaryOf: () => [undefined], tagOf: () => undefined },
    files: () => [],
    async *scan({ projection }) {
      for (const { rowCount, vectors } of batches)
        yield {
          rowCount,
          runs: { starts: Uint32Array.of(0, rowCount), series: Uint32Array.of(0) },
          vectors: projection.flatMap((column) => vectors.get(column) ?? []),
        };
    },
    timeBounds: () => undefined,
    deleteRows: () => Promise.reject(new Error("the rows of a bench stay")),
    watchOverwrites: () => ({ unwritten: () => 0, isFull: false, end: () => undefined }),
    deleteRange: () => Promise.reject(new Error("the rows of a bench stay")),
    statistics: () => ({ rowCount: ROWS, memoryBytes: 0, fileBytes: 0, fileCount: 0, seriesCount: 0 }),
  };
}

// Half of the rows of each have a partner in the other.
const tables: Readonly<Record<string, Table>> = { l: tableFrom(1, "l", 0), r: tableFrom(2, "r", ROWS / 2) };

const QUERIES: Readonly<Record<string, string>> = {
  "unique integers": "SELECT l.v, r.v FROM l JOIN r ON l.k = r.k",
  "integers, ten of each": "SELECT l.v, r.v FROM l JOIN r ON l.d = r.d AND r.v % 10 < 5",
  "integers beyond 2^53": "SELECT l.v, r.v FROM l JOIN r ON l.w = r.w",
  "an integer and a wide one": "SELECT l.v, r.v FROM l JOIN r ON l.w = r.w AND l.k = r.k",
  text: "SELECT l.v, r.v FROM l JOIN r ON l.s = r.s",
  "text, the text given": "SELECT l.v, r.s FROM l JOIN r ON l.k = r.k",
  left: "SELECT l.v, r.v FROM l LEFT JOIN r ON l.k = r.k",
  full: "SELECT l.v, r.v FROM l FULL JOIN r ON l.k = r.k",
  semi: "SELECT l.v FROM l LEFT SEMI JOIN r ON l.k = r.k",
  "anti, text": "SELECT l.v FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.s = l.s)",
  "semi with a condition": "SELECT l.v FROM l LEFT SEMI JOIN r ON l.k = r.k AND l.v < r.v + 1",
  "IN, integers": "SELECT l.v FROM l WHERE l.k IN (SELECT k FROM r)",
  "NOT IN, text": "SELECT l.v FROM l WHERE l.s NOT IN (SELECT s FROM r)",
  INTERSECT: "SELECT k FROM l INTERSECT SELECT k FROM r",
};

const [only = ""] = process.argv.slice(2);
for (const [spilled, limit] of [
  ["", undefined],
  [", spilled", 16 * MIB],
] as const) {
  for (const [name, sql] of Object.entries(QUERIES)) {
    if (!`${name}${spilled}`.includes(only)) continue;
    const { plan, sources } = planOf(sql, { table: (_, table) => tables[table] });
    let [best, rows] = [Number.POSITIVE_INFINITY, 0];
    // The least of several: other work on the machine only ever adds.
    for (let turn = 0; turn < TURNS; turn++) {
      Bun.gc(true);
      const since = process.cpuUsage();
      rows = await rowsOfPlan(plan, sources, { budget: new MemoryBudget(limit ?? 1024 * MIB), spill: new MemorySpill() });
      const { user, system } = process.cpuUsage(since);
      best = Math.min(best, (user + system) / 1000);
    }
    console.log(`${best.toFixed(0).padStart(6)} ms of CPU  ${name}${spilled}, ${rows} rows out`);
  }
}
