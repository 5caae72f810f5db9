/**
 * The facade that every server calls. Knows sessions and permissions; the work is done by the engine and the query layer below.
 */
import type { Batch, ColumnHeader } from "../column/batch.ts";
import type { ParameterValue, PreparedQuery, RepeatedQuery } from "../query/prepared-query.ts";
import type { StatementResult } from "../query/statement-result.ts";
import type { DatabaseInfo, Table } from "../table/catalog.ts";
import type { RowIntake } from "../table/rows/row-intake.ts";
import type { SchemaLookup, WriteBatch, WriteOptions, WriteResult } from "../table/write-batch.ts";
import type { DdlRequest } from "../../proto/gen/greptime/v1/ddl_pb.js";
import type { PromqlDb } from "./promql/promql-db.ts";
import type { ReadPermit } from "./read-permit.ts";
import type { Session } from "./session.ts";

/** State of the store for `/health`. */
export interface Health {
  readonly ok: boolean;
  /** What does not work and why, e.g. "log: cannot sync the log: EIO". It is tried again until it works. */
  readonly reason: string | undefined;
  /** What does not work, by the names of `TROUBLE_PARTS`: without the paths that `reason` may hold. */
  readonly parts: readonly string[];
}

/** What takes writes: all that an ingest thread has. */
export interface IngestDb {
  /**
   * Brings in what other processes changed of the catalogue and were told of before the call. Statements see it without. Absent where
   * there are no others.
   *
   * @throws DbError StorageUnavailable; Cancelled when the signal fires
   */
  refresh?(signal?: AbortSignal): Promise<unknown>;
  /**
   * Resolves when there is memory for another write; called before decoding.
   *
   * @throws DbError RateLimited after `write.stall_timeout`; StorageUnavailable when writes would fail; Cancelled when the signal fires
   */
  admit(signal?: AbortSignal): Promise<void>;
  /**
   * Applies a decoded batch under the session's database.
   *
   * @throws DbError PermissionDenied and those of `RowWriter.write`; RegionBusy when another thread changed a table since the batch was
   *   decoded, so that it has to be decoded again
   */
  write(batch: WriteBatch, session: Session, options: WriteOptions): Promise<WriteResult>;
  /** @throws DbError PermissionDenied unless the user may do this */
  authorize(session: Session, action: "read" | "write"): void;
  databases(): readonly Pick<DatabaseInfo, "name">[];
  /** Whether there is one of that name; asked with every request. */
  hasDatabase(name: string): boolean;
  /** Types of existing columns, for decoders. */
  readonly schemas: SchemaLookup;
}

/** Rows of a query that are there. Valid until the next statement. */
export interface RowsAtOnce {
  readonly headers: readonly ColumnHeader[];
  readonly batch: Batch;
}

/** The whole facade. */
export interface Db extends IngestDb {
  /**
   * Runs all statements of a text in order, after parsing all of them; stops at the first failure.
   * Checks the database first (DatabaseNotFound), then syntax, then permission per statement.
   * Each result must be read (or its iterator returned) before the next is asked for.
   *
   * @throws DbError
   */
  sql(text: string, session: Session): AsyncIterable<StatementResult>;
  /**
   * Runs a text that is one EXPLAIN ANALYZE VERBOSE, as `sql` does.
   *
   * @param onRunning is given, when the query begins to run, what tells how far it is: its operators with their figures, for JSON
   * @throws DbError as `sql`; InvalidArguments for any other text
   */
  analyze(text: string, session: Session, onRunning: (figures: () => object) => void): AsyncIterable<StatementResult>;
  /**
   * The rows of a small query whose plan is known, read within one turn of the thread: nothing else happens meanwhile, so it is on no list
   * of statements that run, and neither a deadline nor KILL can meet it. Undefined: ask `sql`; also for all that fails.
   */
  sqlAtOnce(text: string, session: Session): RowsAtOnce | undefined;
  /** As `sqlAtOnce`, of a prepared statement: undefined says to ask `execute`. */
  executeAtOnce(query: PreparedQuery, values: readonly ParameterValue[], session: Session): RowsAtOnce | undefined;
  /**
   * Parses one statement with placeholders, `?` or `$1`, and tells what types they take and which columns it gives.
   *
   * @throws DbError DatabaseNotFound, InvalidSyntax, PermissionDenied, TableNotFound; without placeholders also those of planning
   */
  prepare(text: string, session: Session): Promise<PreparedQuery>;
  /**
   * Runs a prepared statement with a value for each placeholder. One result, which must be read or its iterator returned.
   *
   * @throws DbError InvalidArguments for a value that its place cannot take, and those of `sql`
   */
  execute(query: PreparedQuery, values: readonly ParameterValue[], session: Session): AsyncIterable<StatementResult>;
  /**
   * A prepared INSERT as one of many rows, for clients that run it with many: the rows are written at once, whole or not at all. Undefined
   * where that is not what its runs one after the other do.
   */
  repeated(query: PreparedQuery, session: Session): RepeatedQuery | undefined;
  /**
   * Opens a table for rows that a client sends. Whoever opens it closes it.
   *
   * @param table its name, with its database or without
   * @param columns that rows have; undefined: all
   * @param text of the statement, for the list of those that run
   * @throws DbError DatabaseNotFound, PermissionDenied, TableNotFound, TableColumnNotFound, InvalidArguments
   */
  intake(table: readonly string[], columns: readonly string[] | undefined, text: string, session: Session): RowIntake;
  /** Deletes rows by tag sets and times under the session's database. @throws DbError PermissionDenied and those of `Writer.delete` */
  delete(batch: WriteBatch, session: Session): Promise<WriteResult>;
  /**
   * Runs the statement that a message of the native interface stands for (`definitions/`), as if its text had come.
   *
   * @throws DbError those of `sql`; InvalidArguments for a message that stands for none
   */
  define(request: DdlRequest, session: Session): Promise<StatementResult>;
  /** @throws DbError PermissionDenied, DatabaseAlreadyExists */
  createDatabase(name: string, session: Session): Promise<boolean>;
  databases(): readonly DatabaseInfo[];
  /**
   * A table of the session's database to be read; undefined when there is none.
   *
   * @throws DbError PermissionDenied, DatabaseNotFound
   */
  table(name: string, session: Session): Table | undefined;
  /** Begins a read of tables that is no statement, which may take what a statement may. Whoever asked calls its `done`. */
  beginRead(session: Session): ReadPermit;
  health(): Health;
  /** PromQL over the tables of the session's database. */
  readonly promql: PromqlDb;
}
