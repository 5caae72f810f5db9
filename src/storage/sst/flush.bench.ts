/**
 * Rows a second of a flush: chunks of 10,000 rows to one sorted file, on one thread: `bun src/storage/sst/flush.bench.ts`.
 *
 * 1M rows of 4,000 series with ten integers of 0 to 100, into memory, so that no disk is measured.
 *
 * Measured with Bun 1.4.5 on one of 2 shared cores: 6.2-6.9M rows/s (146-162 ms), 2.26 B a row, sha256 4bfa725281b1.
 */
import { measure } from "mitata";
import { tsbsRequest, TSBS_FIELDS, TSBS_FIRST_FIELD } from "../../../test/support/storage/tsbs.ts";
import { columnId, tableId } from "../../base/units.ts";
import { INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import { memoryFileStore } from "../file-store/memory-file-store.ts";
import { Arena, SlabPool } from "../memtable/arena.ts";
import { buildChunk } from "../memtable/chunk-builder.ts";
import { tagsOfSeries } from "../series/series-ranks.ts";
import { SeriesRegistry } from "../series/series-registry.ts";
import { type FlushJob, flushChunks } from "./flush.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 20_000 : 1_000_000;
const HOSTS: number = SMALL ? 100 : 4000;
const ROWS_PER_REQUEST = 10_000;
const TAGS = 10;

const columns: ColumnSchema[] = [
  ...Array.from(
    { length: TAGS },
    (_, c): ColumnSchema => ({ id: columnId(c + 1), name: `tag_${c}`, type: STRING, semantic: "tag", nullable: true }),
  ),
  { id: columnId(50), name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
  ...Array.from(
    { length: TSBS_FIELDS },
    (_, c): ColumnSchema => ({ id: columnId(TSBS_FIRST_FIELD + c), name: `usage_${c}`, type: INT64, semantic: "field", nullable: true }),
  ),
];
const primaryKey = columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name);
const schema: TableSchema = {
  id: tableId(1),
  version: 1,
  database: "public",
  name: "cpu",
  columns,
  primaryKey,
  engine: "mito",
  options: {},
};

function jobOf(): FlushJob {
  const registry = new SeriesRegistry("cpu");
  registry.setColumns(columns.slice(0, TAGS).map(({ id, name }) => ({ id, name })));
  for (let host = 0; host < HOSTS; host++) {
    registry.register([`host_${host}`, ...Array.from({ length: TAGS - 1 }, (_, c) => `value_${host % (c * 3 + 2)}`)]);
  }
  const arena = new Arena(new SlabPool(0));
  const chunks = Array.from({ length: ROWS / ROWS_PER_REQUEST }, (_, r) => buildChunk(tsbsRequest(r, ROWS_PER_REQUEST, HOSTS), arena));
  const seriesNumbers = Uint32Array.from({ length: HOSTS }, (_, i) => i);
  return { schema, chunks, seriesNumbers, tags: tagsOfSeries(registry, seriesNumbers), firstFileId: 1 };
}

const job = jobOf();
const store = new Map<string, Uint8Array>();
const files = await flushChunks(job, memoryFileStore(store));
const bytes = files.reduce((sum, file) => sum + file.byteLength, 0);
const hash = new Bun.CryptoHasher("sha256");
for (const file of files) hash.update(store.get(file.name)!);
process.stdout.write(`${files.length} file(s), ${(bytes / ROWS).toFixed(2)} B a row, sha256 ${hash.digest("hex").slice(0, 12)}\n`);
const { p50 } = await measure(async () => void (await flushChunks(job, memoryFileStore())), {
  min_cpu_time: 1e9,
  min_samples: 5,
  warmup_samples: 1,
});
process.stdout.write(`flush: ${((ROWS * 1e3) / p50).toFixed(2)}M rows/s, ${(p50 / 1e6).toFixed(0)} ms for ${ROWS} rows\n`);
