/** A table for tests of storage: two tags, a time index and a field of every kind, its flush jobs, and its files read back row by row. */
import { tableId } from "../../../src/base/units.ts";
import { STRING, type TimeUnit } from "../../../src/column/data-type.ts";
import { scalarAt } from "../../../src/column/scalar.ts";
import type { Scalar } from "../../../src/column/vector.ts";
import { PageCache } from "../../../src/storage/cache/page-cache.ts";
import type { FileStore } from "../../../src/storage/file-store/file-store.ts";
import { Arena, SlabPool } from "../../../src/storage/memtable/arena.ts";
import { SeriesRegistry } from "../../../src/storage/series/series-registry.ts";
import type { DataFile } from "../../../src/storage/sst/data-file.ts";
import type { FlushJob } from "../../../src/storage/sst/write/flush.ts";
import { SstFile } from "../../../src/storage/sst/read/sst-file.ts";
import type { ColumnSchema, MergeMode, TableSchema } from "../../../src/table/schema.ts";
import { FIELDS } from "./arbitrary-rows.ts";
import { chunkOf, mergedRows, type Request } from "./rows.ts";

/** Id of the time index. */
export const TIME_ID = 3;

/** Tags of series 0 to 7, not in their order. */
export const SERIES_TAGS: readonly (readonly [string | undefined, string | undefined])[] = [
  ["host_2", "eu"],
  ["host_1", undefined],
  [undefined, undefined],
  ["host_10", "eu"],
  ["", "us"],
  ["\u{1f600}", "eu"],
  ["\uffff", "eu"],
  ["host_1", "eu"],
];

/** A row of a file: two tags, the time, and a scalar a field. */
export type FileRow = readonly Scalar[];

/** The table, with times in `unit`. */
export function tableOf(unit: TimeUnit, mergeMode: MergeMode): TableSchema {
  const options: Record<string, string> = mergeMode === "append" ? { append_mode: "true" } : { merge_mode: mergeMode };
  const columns: ColumnSchema[] = [
    { id: 1, name: "host", type: STRING, semantic: "tag", nullable: true },
    { id: 2, name: "region", type: STRING, semantic: "tag", nullable: true },
    { id: TIME_ID, name: "ts", type: { kind: "timestamp", unit }, semantic: "timestamp", nullable: false },
    ...FIELDS.map(({ id, type }): ColumnSchema => ({ id: id, name: `f_${id}`, type, semantic: "field", nullable: true })),
  ];
  return { id: tableId(42), version: 3, database: "public", name: "t", columns, primaryKey: ["host", "region"], engine: "mito", options };
}

/** An empty registry with the table's tags. */
export function registryOf(): SeriesRegistry {
  const registry = new SeriesRegistry("t");
  registry.setColumns([
    { id: 1, name: "host" },
    { id: 2, name: "region" },
  ]);
  return registry;
}

/** The flush of some requests, oldest first; the first has sequence 101. */
export function jobOf(schema: TableSchema, requests: readonly Request[], firstFileId = 1): FlushJob {
  const registry = registryOf();
  for (const tags of SERIES_TAGS) registry.register(tags);
  const arena = new Arena(new SlabPool(0));
  const chunks = requests.map((request, i) => chunkOf(101 + i, request, FIELDS, arena));
  return { schema, chunks, tags: registry.view(), seriesCount: registry.count, firstFileId };
}

/** Series numbers in the order of their tags, the slow way. */
function seriesInOrder(): number[] {
  const bytes = (text: string | undefined): Buffer => (text === undefined ? Buffer.alloc(0) : Buffer.from(`\u0001${text}`));
  return [...SERIES_TAGS.keys()].sort((a, b) => {
    const [x, y] = [SERIES_TAGS[a]!, SERIES_TAGS[b]!];
    return Buffer.compare(bytes(x[0]), bytes(y[0])) || Buffer.compare(bytes(x[1]), bytes(y[1]));
  });
}

/** The rows that files of these requests hold, in file order. */
export function wantedRows(requests: readonly Request[], mergeMode: MergeMode): FileRow[] {
  return mergedRows(requests, FIELDS, seriesInOrder(), mergeMode).map((row) => [...SERIES_TAGS[row.series]!, row.time, ...row.values]);
}

/** Rows of a file in their order, read page by page as scans do. Tags come from the series index. */
export async function readFileRows(file: DataFile, store: FileStore, schema: TableSchema): Promise<FileRow[]> {
  const registry = registryOf();
  const sst = new SstFile(file, store);
  const open = await sst.open(registry, new PageCache(1 << 20));
  const rows: Scalar[][] = [];
  let end = 0;
  for (let run = 0; run < open.series.length; run++) {
    const tags = [0, 1].map((c) => registry.dictionaryAt(c)[registry.codesAt(c)[open.series[run]!]!]);
    for (; end < open.index.ends[run]!; end++) rows.push([...tags]);
  }
  for (const { id, type, semantic } of schema.columns) {
    if (semantic === "tag") continue;
    const column = open.columnOf(id);
    for (let page = 0; page + 1 < open.pageStarts.length; page++) {
      const vector = await open.page(column, page, undefined);
      const start = open.pageStarts[page]!;
      for (let row = start; row < open.pageStarts[page + 1]!; row++) rows[row]!.push(scalarAt(vector, type, row - start));
    }
  }
  await sst.release();
  return rows;
}
