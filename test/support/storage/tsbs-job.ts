/** Flushes of rows like those of TSBS "cpu": ten text tags, ten integers. For benchmarks. */
import { tableId } from "../../../src/base/units.ts";
import { INT64, STRING, TIMESTAMP_NANOSECOND } from "../../../src/column/data-type.ts";
import { Arena, SlabPool } from "../../../src/storage/memtable/arena.ts";
import { buildChunk } from "../../../src/storage/memtable/chunk-builder.ts";
import { SeriesRegistry } from "../../../src/storage/series/series-registry.ts";
import type { FlushJob } from "../../../src/storage/sst/write/flush.ts";
import type { ColumnSchema, TableSchema } from "../../../src/table/schema.ts";
import { TSBS_FIELDS, TSBS_FIRST_FIELD, tsbsRequest } from "./tsbs.ts";

const ROWS_PER_REQUEST = 10_000;
const TAGS = 10;

const columns: ColumnSchema[] = [
  ...Array.from({ length: TAGS }, (_, c): ColumnSchema => ({ id: c + 1, name: `tag_${c}`, type: STRING, semantic: "tag", nullable: true })),
  { id: 50, name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
  ...Array.from(
    { length: TSBS_FIELDS },
    (_, c): ColumnSchema => ({ id: TSBS_FIRST_FIELD + c, name: `usage_${c}`, type: INT64, semantic: "field", nullable: true }),
  ),
];
const primaryKey = columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name);
/** The table. */
export const TSBS_SCHEMA: TableSchema = {
  id: tableId(1),
  version: 1,
  database: "public",
  name: "cpu",
  columns,
  primaryKey,
  engine: "mito",
  options: {},
};

/** A flush of `rowCount` rows from row `firstRow` on, both multiples of 10,000. */
export function tsbsJob(firstRow: number, rowCount: number, hosts: number, firstFileId: number): FlushJob {
  const registry = new SeriesRegistry("cpu");
  registry.setColumns(columns.slice(0, TAGS).map(({ id, name }) => ({ id, name })));
  for (let host = 0; host < hosts; host++) {
    registry.register([`host_${host}`, ...Array.from({ length: TAGS - 1 }, (_, c) => `value_${host % (c * 3 + 2)}`)]);
  }
  const arena = new Arena(new SlabPool(0));
  const firstRequest = firstRow / ROWS_PER_REQUEST;
  const chunks = Array.from({ length: rowCount / ROWS_PER_REQUEST }, (_, r) =>
    buildChunk(tsbsRequest(firstRequest + r, ROWS_PER_REQUEST, hosts), arena),
  );
  return { schema: TSBS_SCHEMA, chunks, tags: registry.view(), seriesCount: registry.count, firstFileId };
}
