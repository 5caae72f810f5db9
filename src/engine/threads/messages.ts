/**
 * What an ingest thread and the owner of the tables say to each other.
 *
 *   thread ──FromThread──► owner     one ordered queue: what is said before an answer is known when the answer is
 *   thread ◄──ToThread──── owner     taken between two turns of the event loop
 *   thread ──Call──► owner ──Reply──► thread     the thread stands still meanwhile; the owner never waits for a thread
 */
import type { TableId } from "../../base/units.ts";
import { DbError } from "../../base/error.ts";
import type { ToldError } from "../../base/told-error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { DatabaseInfo } from "../../table/catalog.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { SchemaStep } from "../schema/catalog-plans.ts";

/** A change of the catalog, as far as writers care. */
export type CatalogChange =
  /** A new table, or a new version of one. */
  | { readonly kind: "schema"; readonly schema: TableSchema }
  | { readonly kind: "dropped"; readonly tableId: TableId }
  /** All databases there are, with their options. */
  | { readonly kind: "databases"; readonly databases: readonly DatabaseInfo[] }
  /** The table has as many series as it may have. */
  | { readonly kind: "full"; readonly tableId: TableId };

/** What happened since a version. */
export interface CatalogNews {
  readonly version: number;
  /** Whether `changes` are everything there is, not only what is new: what they do not name is gone. */
  readonly isWhole: boolean;
  readonly changes: readonly CatalogChange[];
}

/** Asks with the thread standing still. */
export type Call =
  /** What happened since a version. */
  | { readonly kind: "news"; readonly since: number }
  /** Make what a write needs, if the catalog is still at `since`. */
  | { readonly kind: "evolve"; readonly since: number; readonly steps: readonly SchemaStep[] };

/** Answer to a call. */
export type Reply =
  | { readonly kind: "news"; readonly news: CatalogNews; readonly isApplied: boolean }
  /** It is made later: ask for the ticket. */
  | { readonly kind: "later"; readonly ticket: number }
  | { readonly kind: "refused"; readonly error: ToldError };

/** Where a chunk lies, and what the thread took for it. */
export interface ChunkPlace {
  readonly tableId: TableId;
  readonly buffer: SharedArrayBuffer;
  readonly offset: number;
  /** The piece of the thread's memory that it lies on; it comes back by `release`. */
  readonly arena: number;
  /** Bytes that the table took of the thread's memory since it last said so. */
  readonly takenBytes: number;
}

/** What a thread tells. */
export type FromThread =
  /** A record is durable: its rows are to be seen from now on. `chunks` are in the order of the record. */
  | {
      readonly kind: "logged";
      readonly sequence: number;
      readonly segment: number;
      readonly head: Uint8Array;
      readonly chunks: readonly ChunkPlace[];
      /** What the message itself takes while it waits. */
      readonly queuedBytes: number;
    }
  /** A record failed: nothing of it counts, but memory was taken. */
  | { readonly kind: "failed"; readonly sequence: number; readonly chunks: readonly ChunkPlace[] }
  /** No chunk that is yet to come lies on this arena. */
  | { readonly kind: "retired"; readonly arena: number }
  /** The answer to an `ask` of the owner. */
  | { readonly kind: "answer"; readonly id: number; readonly error: ToldError | undefined }
  /** Asks without standing still: for memory, or for the catalog to be durable. */
  | { readonly kind: "ask"; readonly id: number; readonly what: "admit" | "durable" }
  /** Asks for what a call was answered a ticket for. */
  | { readonly kind: "ask"; readonly id: number; readonly what: "made"; readonly ticket: number }
  | { readonly kind: "call"; readonly call: Call }
  /** Why the log takes no more writes, or that it does again. */
  | { readonly kind: "health"; readonly failure: string | undefined };

/** What the owner asks a thread to do; each is answered. */
export type Task =
  /** Give up the memory that a table's chunks lie on, and answer once all records that were begun are told of. */
  | { readonly kind: "barrier"; readonly tableId: TableId }
  /** Answer once all records that were begun are told of. */
  | { readonly kind: "settle" }
  /** Begin anew with the series of a table, and answer once all records are told of that were begun with the numbers before. */
  | { readonly kind: "renew"; readonly tableId: TableId }
  /**
   * Delete log segments below `needed`. `head`: the newest segment that the owner knows of; `seen`: how many records it was told of. If
   * there are no others, and `needed` is above `head`, the segment being written goes as well.
   */
  | { readonly kind: "trim"; readonly needed: number; readonly head: number; readonly seen: number }
  /** Close the log; nothing is written any more. */
  | { readonly kind: "close" };

/** What the owner tells. */
export type ToThread =
  | { readonly kind: "task"; readonly id: number; readonly task: Task }
  /** Nobody reads the memory of an arena any more. */
  | { readonly kind: "release"; readonly arena: number }
  /** The answer to an `ask` of the thread. */
  | { readonly kind: "told"; readonly id: number; readonly error: ToldError | undefined };

/** For a thread that asks while the process goes down. */
export function goingDown(): DbError {
  return new DbError(StatusCode.StorageUnavailable, "cannot write: the server is stopping", { retryAfterSeconds: 1 });
}
