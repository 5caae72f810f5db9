/**
 * Rows a second from the decoder's arrays to a chunk, and to the record that the log writes:
 * `bun src/storage/memtable/chunk-builder.bench.ts`.
 *
 * A request has 10,000 rows of 4,000 hosts with ten integers of 0 to 100. The first line has a hash of the log's bytes, so that a faster
 * builder that builds something else shows.
 *
 * Measured with Bun 1.4.5 on one of 2 shared cores: chunk alone 31-36M rows/s, with the log record 32-34M, with the definitions of 4,000
 * series in every record 6M; 13.0 B of log a row, hash 4e4d14bd.
 */
import { tableId, writerId } from "../../base/units.ts";
import { measure } from "mitata";
import { tsbsRequest } from "../../../test/support/storage/tsbs.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { SeriesRegistry } from "../series/series-registry.ts";
import type { Chunk } from "./chunk.ts";
import { Arena, SlabPool } from "./arena.ts";
import { buildChunk, type ChunkSource } from "./chunk-builder.ts";
import type { RecordOrigin } from "./record-origin.ts";
import { TagMarks } from "./series-definitions.ts";
import { encodeWriteRecord, type RecordEntry } from "./write-record.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 500 : 10_000;
const HOSTS: number = SMALL ? 100 : 4000;
/** Requests of one pass; their memory is given back after it. */
const REQUESTS = 20;

const sources: ChunkSource[] = Array.from({ length: REQUESTS }, (_, request) => tsbsRequest(request, ROWS, HOSTS));
const pool = new SlabPool(64 * 1024 * 1024);
const registry = new SeriesRegistry("cpu");
registry.setColumns(Array.from({ length: 10 }, (_, id) => ({ id, name: `tag_${id}` })));
for (let host = 0; host < HOSTS; host++)
  registry.register([`host_${host}`, ...Array.from({ length: 9 }, (_, c) => `value_${host % (c + 2)}`)]);
const allSeries: readonly number[] = Array.from({ length: HOSTS }, (_, i) => i);

const ORIGIN: RecordOrigin = { writer: writerId(2 ** 52), number: 1, segment: 1, catalogVersion: 1 };

/** A chunk to log in a segment that knows the tag values of no series. */
function entryOf(newSeries: readonly number[], chunk: Chunk): RecordEntry {
  return { tableId: tableId(1), registry, newSeries, tagMarks: new TagMarks(), chunk };
}

/** Builds all chunks, then calls `use` with each. */
function pass(use: (source: ChunkSource, arena: Arena) => void): void {
  const arena = new Arena(pool);
  for (const source of sources) use(source, arena);
  arena.release();
}

const CASES: readonly (readonly [name: string, use: (source: ChunkSource, arena: Arena) => void])[] = [
  ["chunk", (source, arena) => void buildChunk(source, arena)],
  ["chunk and log record, all series known", (source, arena) => void encodeWriteRecord(ORIGIN, [entryOf([], buildChunk(source, arena))])],
  [
    "chunk and log record, all series new",
    (source, arena) => void encodeWriteRecord(ORIGIN, [entryOf(allSeries, buildChunk(source, arena))]),
  ],
];

const first = encodeWriteRecord(ORIGIN, [entryOf([], buildChunk(sources[0]!, new Arena(pool)))]);
const bytes = first.reduce((sum, part) => sum + part.length, 0);
const hash = first.reduce((crc, part) => crc32(part, crc), 0);
process.stdout.write(`${(bytes / ROWS).toFixed(1)} B of log a row, hash ${hash.toString(16).padStart(8, "0")}\n`);
for (const [name, use] of CASES) {
  const { p50 } = await measure(() => pass(use), { min_cpu_time: 400e6, warmup_samples: 5 });
  process.stdout.write(`${name.padEnd(42)}${((ROWS * REQUESTS * 1e3) / p50).toFixed(1)}M rows/s\n`);
}
