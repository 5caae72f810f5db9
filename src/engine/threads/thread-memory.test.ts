import { tableId } from "../../base/units.ts";
import { expect, test } from "bun:test";
import { FLOAT64 } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { SlabPool } from "../../storage/memtable/arena.ts";
import type { ChunkSource } from "../../storage/memtable/chunk-builder.ts";
import type { FromThread } from "./messages.ts";
import { SharedState } from "./shared-state.ts";
import { ThreadArenas, ThreadMemory } from "./thread-memory.ts";

const SLAB_MIN = 2 * 1024;
const SLAB_MAX = 4 * 1024 * 1024;
const TABLE = tableId(7);

interface Fixture {
  readonly arenas: ThreadArenas;
  readonly memory: ThreadMemory;
  readonly shared: SharedState;
  readonly pool: SlabPool;
  readonly posted: FromThread[];
}

function fixture(): Fixture {
  const posted: FromThread[] = [];
  const shared = new SharedState(1);
  const pool = new SlabPool(2 * SLAB_MAX);
  const arenas = new ThreadArenas(pool, shared, (message) => posted.push(message));
  return { arenas, memory: new ThreadMemory(arenas, TABLE), shared, pool, posted };
}

function source(rowCount: number): ChunkSource {
  const values = Array.from({ length: rowCount }, (_, i) => i / 3);
  const columns = [{ columnId: 1, type: FLOAT64, vector: vectorOf(FLOAT64, values) }];
  const series = new Uint32Array(rowCount);
  return { sequence: 1, rowCount, series, seriesMax: 0, timeBase: 0n, timeOffsets: new Float64Array(rowCount), columns };
}

test("chunks are told of with where they lie and what was taken for them, each byte once", () => {
  const { arenas, memory, shared } = fixture();
  const chunks = [memory.prepare(source(10)), memory.prepare(source(10)), memory.prepare(source(4000))];
  const taken = SLAB_MIN + 64 * 1024; // The third chunk needs a slab of its own.
  expect(shared.memoryBytes).toBe(taken);
  for (const chunk of chunks.slice(0, 2)) chunk.publish();
  const [first, second] = arenas.takePlaces();
  expect([first?.tableId, first?.takenBytes, second?.takenBytes, second?.arena]).toEqual([TABLE, taken, 0, first?.arena]);
  expect([first?.buffer, first?.offset]).toEqual([chunks[0]?.chunk.payload.buffer as SharedArrayBuffer, 0]);
  chunks[2]?.abandon();
  expect(arenas.takePlaces().map(({ takenBytes }) => takenBytes)).toEqual([0]);
  expect(shared.memoryBytes).toBe(taken); // The owner takes it over.
});

test("an arena is retired after its last chunk is told of, and its memory goes round once it is released", async () => {
  const { arenas, memory, pool, posted } = fixture();
  const chunk = memory.prepare(source(350_000));
  const { buffer } = chunk.chunk.payload;
  expect(buffer.byteLength).toBe(SLAB_MAX);
  memory.rotate();
  memory.rotate();
  await Promise.resolve();
  expect(posted).toEqual([]);
  chunk.publish();
  const [place] = arenas.takePlaces();
  expect(posted).toEqual([]);
  await Promise.resolve();
  expect(posted).toEqual([{ kind: "retired", arena: place?.arena ?? -1 }]);
  expect(memory.prepare(source(10)).chunk.payload.buffer).not.toBe(buffer);
  arenas.release(place?.arena ?? -1);
  expect(pool.take(SLAB_MAX)).toBe(buffer as SharedArrayBuffer);
});

test("memory of a chunk that could not be built is counted while it is held, and not after", () => {
  const { memory, shared } = fixture();
  const bad = { ...source(10), timeOffsets: Float64Array.of(0, Number.MAX_SAFE_INTEGER, -10, 0, 0, 0, 0, 0, 0, 0) };
  expect(() => memory.prepare(bad)).toThrow("times of a chunk lie within 2^53 units");
  memory.prepare(source(10)).publish();
  expect(shared.memoryBytes).toBe(SLAB_MIN);
  memory.rotate();
  expect(shared.memoryBytes).toBe(SLAB_MIN);
});
