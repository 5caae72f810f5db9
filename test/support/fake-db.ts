/**
 * A `Db` whose answers the test writes down.
 */
import { DbError } from "../../src/base/error.ts";
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import type { Batch, ColumnHeader } from "../../src/column/batch.ts";
import type { DataType } from "../../src/column/data-type.ts";
import type { Scalar } from "../../src/column/vector.ts";
import { vectorOf } from "../../src/column/vector-builder.ts";
import type { Db, Health } from "../../src/db/db.ts";
import { LocalPromql } from "../../src/db/promql/local-promql.ts";
import type { PromqlDb } from "../../src/db/promql/promql-db.ts";
import type { ReadPermit } from "../../src/db/read-permit.ts";
import type { Session } from "../../src/db/session.ts";
import type { ParameterValue, PreparedQuery } from "../../src/query/prepared-query.ts";
import { parseSql } from "../../src/query/sql/parse.ts";
import type { StatementResult } from "../../src/query/statement-result.ts";
import type { RowIntake } from "../../src/table/rows/row-intake.ts";
import type { DatabaseInfo, Table } from "../../src/table/catalog.ts";
import type { SchemaLookup, WriteBatch, WriteOptions, WriteResult } from "../../src/table/write-batch.ts";
import { MemoryCatalog } from "./memory-catalog.ts";

/** One call of `write`. */
export interface RecordedWrite {
  readonly database: string;
  readonly rowCount: number;
  readonly options: WriteOptions;
}

/** A result of rows: one column an entry of `columns`. `batches` repeats them. */
export function rowsResult(columns: readonly (readonly [string, DataType, readonly Scalar[]])[], batches = 1): StatementResult {
  const headers: ColumnHeader[] = columns.map(([name, type]) => ({ name, type }));
  const batch: Batch = { rowCount: columns[0]?.[2].length ?? 0, vectors: columns.map(([, type, values]) => vectorOf(type, values)) };
  return {
    kind: "rows",
    headers,
    batches: (async function* () {
      for (let i = 0; i < batches; i++) yield batch;
    })(),
  };
}

/** A result of affected rows. */
export function affectedResult(rowCount: number): StatementResult {
  return { kind: "affected", rowCount };
}

export class FakeDb implements Db {
  readonly names: string[] = ["information_schema", "public", "my-db"];
  readonly writes: RecordedWrite[] = [];
  readonly sessions: Session[] = [];
  readonly promql: PromqlDb = new LocalPromql(new MemoryCatalog(), new Scheduler(), (_, session) => ({
    ...this.beginRead(session),
    over: (pieces) =>
      (async function* () {
        yield* pieces;
      })(),
    gave: () => undefined,
    failed: () => undefined,
  }));
  healthNow: Health = { ok: true, reason: undefined, parts: [] };
  readonly schemas: SchemaLookup = { columnOf: () => undefined };
  /** What `sql` yields. */
  onSql: (text: string, session: Session) => AsyncIterable<StatementResult> | Iterable<StatementResult> = () => [];
  /** What `admit` waits for. */
  onAdmit: () => Promise<void> = () => Promise.resolve();
  /** What `write` waits for. */
  onWrite: () => Promise<void> = () => Promise.resolve();

  sqlAtOnce(): undefined {
    return undefined;
  }

  executeAtOnce(): undefined {
    return undefined;
  }

  repeated(): undefined {
    return undefined;
  }

  async *sql(text: string, session: Session): AsyncGenerator<StatementResult> {
    this.sessions.push(session);
    if (!this.names.includes(session.database)) {
      throw new DbError(StatusCode.DatabaseNotFound, `Database not found: ${session.database}`);
    }
    yield* this.onSql(text, session);
  }

  analyze(text: string, session: Session): AsyncIterable<StatementResult> {
    return this.sql(text, session);
  }

  async prepare(text: string): Promise<PreparedQuery> {
    const [statement] = parseSql(text);
    if (statement === undefined) throw new DbError(StatusCode.InvalidSyntax, "no statement");
    return { statement, text, parameters: [], columns: undefined };
  }

  execute(query: PreparedQuery, _: readonly ParameterValue[], session: Session): AsyncIterable<StatementResult> {
    return this.sql(query.text, session);
  }

  admit(): Promise<void> {
    return this.onAdmit();
  }

  intake(): RowIntake {
    throw new DbError(StatusCode.Unsupported, "this stand-in takes no rows");
  }

  async delete(batch: WriteBatch, _: Session): Promise<WriteResult> {
    return { rowCount: batch.tables.reduce((sum, write) => sum + write.rowCount, 0) };
  }

  async write(batch: WriteBatch, session: Session, options: WriteOptions): Promise<WriteResult> {
    const rowCount = batch.tables.reduce((sum, table) => sum + table.rowCount, 0);
    await this.onWrite();
    this.writes.push({ database: session.database, rowCount, options });
    return { rowCount };
  }

  define(): Promise<StatementResult> {
    return Promise.resolve(affectedResult(0));
  }

  createDatabase(name: string): Promise<boolean> {
    if (this.names.includes(name)) return Promise.reject(new DbError(StatusCode.DatabaseAlreadyExists, `Database already exists: ${name}`));
    this.names.push(name);
    return Promise.resolve(true);
  }

  authorize(session: Session, action: "read" | "write"): void {
    if (session.user.mode !== "rw" && session.user.mode !== (action === "read" ? "ro" : "wo")) {
      throw new DbError(StatusCode.PermissionDenied, "User is not authorized to perform this action");
    }
  }

  databases(): readonly DatabaseInfo[] {
    return this.names.map((name) => ({ name, options: {} }));
  }

  hasDatabase(name: string): boolean {
    return this.names.includes(name);
  }

  table(): Table | undefined {
    return undefined;
  }

  beginRead({ signal }: Session): ReadPermit {
    return { signal, reserve: () => undefined, release: () => undefined, done: () => undefined };
  }

  health(): Health {
    return this.healthNow;
  }
}
