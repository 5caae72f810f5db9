/** A scan in slices of any number of series, and of few series, answers what a scan of all at once does. */
import { describe, expect, test } from "bun:test";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { newMetrics } from "../../../test/engine/lines.ts";
import { tableId } from "../../base/units.ts";
import { INT64, STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { ScanMetrics, ScanRequest, TagPredicate } from "../../table/scan.ts";
import { ALL_TIME } from "../../table/scan.ts";
import type { ColumnSchema, MergeMode, TableSchema } from "../../table/schema.ts";
import { PageCache } from "../cache/page-cache.ts";
import { memoryFileStore } from "../file-store/memory-file-store.ts";
import { SlabPool } from "../memtable/arena.ts";
import { buildChunk } from "../memtable/chunk-builder.ts";
import { Memtable } from "../memtable/memtable.ts";
import { SeriesRegistry } from "../series/series-registry.ts";
import type { DataFile } from "../sst/data-file.ts";
import { flushChunks } from "../sst/write/flush.ts";
import { SstFile } from "../sst/read/sst-file.ts";
import { scanRows } from "./scan.ts";
import type { ResolvedScan } from "./selected-scan.ts";

const SERIES = 60;
const COLUMNS: readonly ColumnSchema[] = [
  { id: 1, name: "host", type: STRING, semantic: "tag", nullable: true },
  { id: 2, name: "zone", type: STRING, semantic: "tag", nullable: true },
  { id: 3, name: "ts", type: TIMESTAMP_MILLISECOND, semantic: "timestamp", nullable: false },
  { id: 4, name: "v", type: INT64, semantic: "field", nullable: true },
];

function schemaOf(mode: MergeMode): TableSchema {
  const options: Record<string, string> = mode === "append" ? { append_mode: "true" } : { merge_mode: mode };
  const common = { id: tableId(1), version: 1, database: "public", name: "t", primaryKey: ["host", "zone"], engine: "mito" };
  return { ...common, columns: COLUMNS, options };
}

/** A memtable of some requests. Times go up with each, with repeats. */
function memtableOf(random: Random, registry: SeriesRegistry, requests: number, sequence: number): Memtable {
  const memtable = new Memtable(new SlabPool(0));
  for (let r = 0; r < requests; r++) {
    const rowCount = 1 + random.below(80);
    const series = Uint32Array.from({ length: rowCount }, () => random.below(registry.count));
    memtable.reserve(0);
    const rows = { sequence: sequence + r, rowCount, series, seriesMax: registry.count - 1, timeBase: 1_700_000_000_000n };
    const values = Float64Array.from({ length: rowCount }, () => random.below(1000));
    const timeOffsets = Float64Array.from({ length: rowCount }, () => sequence + r * 3 + random.below(10));
    const vector = { kind: "number", values, validity: undefined } as const;
    memtable.publish(buildChunk({ ...rows, timeOffsets, columns: [{ columnId: 4, type: INT64, vector }] }, memtable.arena));
  }
  return memtable;
}

interface World {
  readonly scan: Omit<ResolvedScan, "request" | "metrics" | "files">;
  readonly files: readonly DataFile[];
  readonly store: ReturnType<typeof memoryFileStore>;
}

/** Two files and two memtables of one table, with rows that overlap. */
async function worldOf(seed: number, mode: MergeMode): Promise<World> {
  const random = seededRandom(seed);
  const registry = new SeriesRegistry("t");
  registry.setColumns(COLUMNS.slice(0, 2).map(({ id, name }) => ({ id, name })));
  for (let s = 0; s < SERIES; s++) registry.register([`h${(s * 37) % SERIES}`, s % 3 === 0 ? undefined : `z${s % 5}`]);
  const store = memoryFileStore();
  const schema = schemaOf(mode);
  const files: DataFile[] = [];
  for (const [i, sequence] of [1, 20].entries()) {
    const { chunks } = memtableOf(random, registry, 4, sequence);
    files.push(...(await flushChunks({ schema, chunks, tags: registry.view(), seriesCount: SERIES, firstFileId: i + 1 }, store)));
  }
  const memtables = [40, 60].map((sequence) => memtableOf(random, registry, 5, sequence).view());
  const scan = {
    memtables,
    registry,
    cache: new PageCache(1 << 20),
    mergeMode: mode,
    timeUnit: "millisecond",
    timeColumnId: 3,
    output: [
      { kind: "tag", position: 0 },
      { kind: "tag", position: 1 },
      { kind: "time" },
      { kind: "field", column: { id: 4, type: INT64, missing: undefined } },
    ],
    conditions: [],
  } as const;
  return { scan, files, store };
}

async function rowsOf(
  world: World,
  request: ScanRequest,
  sliceSeries: number,
  metrics?: ScanMetrics,
  files?: SstFile[],
): Promise<string[]> {
  const { scan } = world;
  const opened = files ?? world.files.map((file) => new SstFile(file, world.store));
  const rows: string[] = [];
  for await (const { rowCount, vectors, runs } of scanRows({ ...scan, files: opened, request, metrics }, sliceSeries)) {
    for (let run = 0; run < runs.series.length; run++) {
      for (let row = runs.starts[run]!; row < runs.starts[run + 1]!; row++) {
        const tags = vectors.slice(0, 2).map((vector) => scalarAt(vector, STRING, row) ?? "-");
        expect(tags).toEqual(["host", "zone"].map((name) => scan.registry.tagOf(name, runs.series[run]!) ?? "-"));
        rows.push([...tags, scalarAt(vectors[2]!, TIMESTAMP_MILLISECOND, row), scalarAt(vectors[3]!, INT64, row)].join(" "));
      }
    }
    expect(runs.starts.at(-1)).toBe(rowCount);
  }
  return rows;
}

const PREDICATES: readonly (readonly TagPredicate[])[] = [
  [],
  [{ kind: "in", column: "host", values: ["h7"] }],
  [
    { kind: "in", column: "host", values: ["h7", "h8", "nobody"] },
    { kind: "test", column: "zone", test: (zone) => zone !== "z1" },
  ],
  [{ kind: "in", column: "zone", values: [undefined, "z4"] }],
  [{ kind: "test", column: "host", test: (host) => (host ?? "").endsWith("5") }],
  [{ kind: "in", column: "host", values: [] }],
];

describe.each(["last_row", "last_non_null", "append"] as const)("in mode %s", (mode) => {
  test("the newest rows are those of the whole table, and the same when they are asked for again", async () => {
    const { scan, ...world } = await worldOf(3, mode);
    for (const memtables of [scan.memtables, scan.memtables.slice(0, 1), []]) {
      const part = { ...world, scan: { ...scan, memtables } };
      const request: ScanRequest = { projection: [], timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "series-time" };
      const newest = new Map((await rowsOf(part, request, 1 << 20)).map((row) => [row.split(" ").slice(0, 2).join(" "), row]));
      const files = world.files.map((file) => new SstFile(file, world.store));
      for (let round = 0; round < 2; round++) {
        const rows = await rowsOf(part, { ...request, order: "none", newestPerSeries: true }, 1 << 20, undefined, files);
        const timesOf = (all: Iterable<string>): string[] => Array.from(all, (row) => row.split(" ").slice(0, 3).join(" ")).sort();
        expect(timesOf(rows)).toEqual(timesOf(newest.values()));
        if (mode !== "append") expect(rows.toSorted()).toEqual([...newest.values()].sort()); // There equal times may come in any order.
      }
    }
  });

  for (const order of ["series-time", "none"] as const) {
    for (const newestPerSeries of [false, true]) {
      test(`order ${order}${newestPerSeries ? ", newest rows" : ""}: slices of any size and predicates give the same rows`, async () => {
        const world = await worldOf(7, mode);
        const inOrder = order === "series-time" && mode !== "append"; // Equal times of one series may come in any order.
        for (const timeRange of [ALL_TIME, { start: 1_700_000_000_020n, end: 1_700_000_000_050n }]) {
          const request: ScanRequest = { projection: [], timeRange, tagPredicates: [], fieldBounds: [], order, newestPerSeries };
          const all = await rowsOf(world, request, 1 << 20);
          for (const tagPredicates of PREDICATES) {
            const meets = (row: string): boolean => {
              const [host, zone] = row.split(" ").map((value) => (value === "-" ? undefined : value));
              return tagPredicates.every((predicate) => {
                const value = predicate.column === "host" ? host : zone;
                return predicate.kind === "in" ? predicate.values.includes(value) : predicate.test(value);
              });
            };
            const want = all.filter(meets);
            for (const slice of [1, 7, 59, 1 << 20]) {
              const rows = await rowsOf(world, { ...request, tagPredicates }, slice);
              expect(inOrder ? rows : rows.sort()).toEqual(inOrder ? want : want.toSorted());
            }
          }
        }
      });
    }
  }
});

test("a scan of one series reads the pages and values of that series", async () => {
  const world = await worldOf(8, "last_row");
  const metrics = newMetrics();
  const tagPredicates = [{ kind: "in", column: "host", values: ["h7"] }] as const;
  const request: ScanRequest = { projection: [], timeRange: ALL_TIME, tagPredicates, fieldBounds: [], order: "none" };
  const rows = await rowsOf(world, request, 1 << 20, metrics);
  expect(rows.length).toBeGreaterThan(0);
  expect(metrics.rowsReturned).toBe(rows.length);
  expect(metrics.pagesRead).toBeLessThanOrEqual(world.files.length * 2); // A page of times and one of values.
  for await (const { vectors } of scanRows({ ...world.scan, files: [], request, metrics: undefined })) {
    expect(vectors.map((vector) => (vector.kind === "dictionary" ? vector.dictionary.length : 0)).slice(0, 2)).toEqual([2, 2]);
  }
});
