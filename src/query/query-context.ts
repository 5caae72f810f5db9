import type { Clock } from "../base/clock.ts";
import type { Scheduler } from "../base/scheduler/scheduler.ts";
import type { MemoryAccount } from "../base/memory/server-memory.ts";
import type { Catalog } from "../table/catalog.ts";
import type { FileAccess } from "../table/file-access.ts";
import type { TimeRange } from "../table/scan.ts";
import type { SpillSpace } from "../table/spill-space.ts";
import type { Writer } from "../table/write-batch.ts";
import type { Connection } from "./connection.ts";
import type { Placeholders } from "./function/signature/environment.ts";
import type { PromqlEngine } from "./promql-engine.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { SystemFacts } from "./system-facts.ts";

/** What a session may change and statements read. Mutable: `USE` and `SET` write to it. */
export interface SessionVariables {
  /** Current database. */
  database: string;
  /** IANA name, "UTC" or "±HH:MM": how text without a zone is read and local calendar functions count. */
  timeZone: string;
  /** Absent: none has been set. */
  settings?: SessionSettings | undefined;
  /** Absent: a request of its own, as over HTTP. */
  readonly connection?: Connection | undefined;
  /** Values of the prepared statement that runs. */
  readonly placeholders?: Placeholders | undefined;
}

/** Operations that only the engine can do, reached through `ADMIN name(args)`. */
export interface AdminOperations {
  /** Writes the table's memtable to files; resolves when they are durable. @throws DbError TableNotFound */
  flushTable(database: string, table: string): Promise<void>;
  /**
   * Merges the table's files to one a time window, without rows that have expired. With a range, in the unit of the time index, only
   * windows with files of such times.
   *
   * @throws DbError TableNotFound
   */
  compactTable(database: string, table: string, range?: TimeRange): Promise<void>;
  /** Gives the table's files the indexes that its columns ask for, where they lack one. @throws DbError TableNotFound */
  buildIndexes(database: string, table: string): Promise<void>;
  readonly backups: BackupOperations;
}

/** What a backup of the whole store is told when it begins (`engine/backup/backups.ts`). */
export interface BackupBegun {
  readonly id: string;
  /** When, in milliseconds since the epoch. */
  readonly moment: number;
  /** Log records up to this sequence belong to it, later ones do not. */
  readonly sequence: number;
  /** A copy of the meta store of the moment, which names the data files. */
  readonly metaFile: string;
  readonly dataFolder: string;
  readonly logFolder: string;
  /** Logs by thread; `newest`: a record that is durable in it, unless its segment was trimmed before; absent where nobody knows one. */
  readonly logs: readonly { readonly thread: number; readonly newest: number | undefined }[];
  /** It ends by itself unless it is renewed within this time. */
  readonly leaseMillis: number;
}

/** Backups of the whole store. @throws DbError InvalidArguments for an id of none that is under way */
export interface BackupOperations {
  /** Begins one: files and log records of the moment stay in place until it ends. @throws DbError RateLimited, StorageUnavailable */
  begin(): Promise<BackupBegun>;
  renew(id: string): void;
  /** Says that the log was copied: it is trimmed again. */
  releaseLog(id: string): Promise<void>;
  end(id: string): Promise<void>;
}

/** What one query may take of what all queries share. */
export interface QueryRoom {
  readonly options: { readonly memory?: MemoryAccount; readonly spill?: SpillSpace };
  close(): Promise<void>;
}

/** Everything a statement runs against. */
export interface QueryContext {
  readonly catalog: Catalog;
  readonly writer: Writer;
  readonly admin: AdminOperations;
  readonly clock: Clock;
  /** Of the thread that statements run on. */
  readonly scheduler: Scheduler;
  readonly variables: SessionVariables;
  /** What the server knows of itself; tests leave it out. */
  readonly system?: SystemFacts;
  /** Fires when the client leaves or the request times out; checked once a batch. */
  readonly signal: AbortSignal;
  /** Files of COPY and of external tables. Absent: statements about them are refused. */
  readonly files?: FileAccess | undefined;
  /** Plans the PromQL of TQL. Absent: TQL is refused. */
  readonly promql?: PromqlEngine | undefined;
  /** Room of its own for a cursor, whose query outlives the statement; whoever opens it closes it. */
  readonly openRoom?: (() => QueryRoom) | undefined;
  /** Resolves when there is memory for another write: asked before each part of a long one. @throws DbError RateLimited, Cancelled */
  readonly admit?: ((signal: AbortSignal) => Promise<void>) | undefined;
}
