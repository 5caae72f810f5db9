/**
 * The shared memory on which an ingest thread builds chunks of one table. The owner of the tables reads them there, so memory comes back
 * only when it says so:
 *
 *   arena in use ──rotate──► retired ──its last chunk is told of──► "retired" ──no memtable reads it──► "release" ──► slabs in the pool
 */
import type { TableId } from "../../base/units.ts";
import { Arena, type SlabPool } from "../../storage/memtable/arena.ts";
import { buildChunk, type ChunkSource } from "../../storage/memtable/chunk-builder.ts";
import type { PreparedChunk } from "../../storage/region/prepared-chunk.ts";
import type { ChunkPlace, FromThread } from "./messages.ts";
import type { SharedState } from "./shared-state.ts";

interface ThreadArena {
  readonly id: number;
  readonly arena: Arena;
  /** Chunks that are built and not told of. */
  pending: number;
  /** Bytes of it that were told of. */
  toldBytes: number;
  isRetired: boolean;
}

/** What the memory of all tables of a thread shares. */
export class ThreadArenas {
  /** Chunks to be told of with the record that they belong to. */
  readonly places: ChunkPlace[] = [];
  private readonly pool: SlabPool;
  private readonly shared: SharedState;
  private readonly post: (message: FromThread) => void;
  private readonly byId: Map<number, ThreadArena> = new Map();
  private lastId = 0;

  constructor(pool: SlabPool, shared: SharedState, post: (message: FromThread) => void) {
    this.pool = pool;
    this.shared = shared;
    this.post = post;
  }

  /** The chunks that were published or abandoned since the last call, which the caller now tells of. */
  takePlaces(): ChunkPlace[] {
    return this.places.splice(0);
  }

  /** A new arena. */
  open(): ThreadArena {
    const arena = { id: ++this.lastId, arena: new Arena(this.pool), pending: 0, toldBytes: 0, isRetired: false };
    this.byId.set(arena.id, arena);
    return arena;
  }

  /** Builds a chunk. */
  prepare(tableId: TableId, arena: ThreadArena, source: ChunkSource): PreparedChunk {
    const before = arena.arena.bytes;
    arena.pending++;
    try {
      const chunk = buildChunk(source, arena.arena);
      const settle = (): void => this.settle(tableId, arena, chunk.payload);
      return { chunk, publish: settle, abandon: settle };
    } catch (error) {
      this.done(arena);
      throw error;
    } finally {
      this.shared.addUntoldBytes(arena.arena.bytes - before);
    }
  }

  /** No chunk is built on the arena from now on. */
  retire(arena: ThreadArena): void {
    arena.isRetired = true;
    this.retireIfDone(arena);
  }

  /** Gives the memory of an arena back that nobody reads any more. */
  release(id: number): void {
    this.byId.get(id)?.arena.release();
    this.byId.delete(id);
  }

  private settle(tableId: TableId, arena: ThreadArena, payload: Uint8Array): void {
    const takenBytes = arena.arena.bytes - arena.toldBytes;
    arena.toldBytes = arena.arena.bytes;
    const buffer = payload.buffer as SharedArrayBuffer; // Arenas lie on nothing else.
    this.places.push({ tableId, buffer, offset: payload.byteOffset, arena: arena.id, takenBytes });
    this.done(arena);
  }

  private done(arena: ThreadArena): void {
    arena.pending--;
    this.retireIfDone(arena);
  }

  private retireIfDone(arena: ThreadArena): void {
    if (!arena.isRetired || arena.pending > 0) return;
    this.shared.addUntoldBytes(arena.toldBytes - arena.arena.bytes); // What failed before its record was made.
    // After the record of its last chunk, which is told of first.
    queueMicrotask(() => this.post({ kind: "retired", arena: arena.id }));
  }
}

/** The memory of one table. */
export class ThreadMemory {
  private readonly arenas: ThreadArenas;
  private readonly tableId: TableId;
  private arena: ThreadArena | undefined;

  constructor(arenas: ThreadArenas, tableId: TableId) {
    this.arenas = arenas;
    this.tableId = tableId;
  }

  /** Copies rows into a chunk. Its end, either way, is told of with the next message about a record. */
  prepare(source: ChunkSource): PreparedChunk {
    this.arena ??= this.arenas.open();
    return this.arenas.prepare(this.tableId, this.arena, source);
  }

  /** Leaves the memory taken so far to the owner; the next chunk takes other memory. */
  rotate(): void {
    if (this.arena !== undefined) this.arenas.retire(this.arena);
    this.arena = undefined;
  }
}
