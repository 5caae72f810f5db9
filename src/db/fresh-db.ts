/**
 * The facade where other processes change the catalogue, too: before a question is planned, what others were told to be made is in force
 * here. Whoever creates a table through one process can ask another for it at once.
 *
 * What is answered within the turn in which it is asked (`databases`, `hasDatabase`, `table`, `schemas`) is as known here, which is
 * milliseconds behind; `refresh` first is the way to be sure. Writes do not wait: what they need they make, and where others were first
 * they are decoded again.
 */
import type { DdlRequest } from "../../proto/gen/greptime/v1/ddl_pb.js";
import type { ParameterValue, PreparedQuery, RepeatedQuery } from "../query/prepared-query.ts";
import type { PromqlRequest } from "../query/promql-engine.ts";
import type { StatementResult } from "../query/statement-result.ts";
import type { DatabaseInfo, Table } from "../table/catalog.ts";
import type { RowIntake } from "../table/rows/row-intake.ts";
import type { SchemaLookup, WriteBatch, WriteOptions, WriteResult } from "../table/write-batch.ts";
import type { Db, Health } from "./db.ts";
import type { Labels, MetricMetadata, PromqlDb, QueryAnswer, QueryAsk, SeriesAsk } from "./promql/promql-db.ts";
import type { StoreFigures } from "./promql/store-figures.ts";
import type { ReadPermit } from "./read-permit.ts";
import type { Session } from "./session.ts";

/** Brings in what others changed. @throws DbError StorageUnavailable; Cancelled when the signal fires */
export type Refresh = (signal?: AbortSignal) => Promise<unknown>;

/** See the file header. */
export class FreshDb implements Db {
  readonly schemas: SchemaLookup;
  readonly promql: PromqlDb;
  readonly refresh: Refresh;
  private readonly db: Db;

  constructor(db: Db, refresh: Refresh) {
    this.db = db;
    this.refresh = refresh;
    this.schemas = db.schemas;
    this.promql = new FreshPromql(db.promql, refresh);
  }

  async *sql(text: string, session: Session): AsyncGenerator<StatementResult> {
    await this.refresh(session.signal);
    yield* this.db.sql(text, session);
  }

  async *analyze(text: string, session: Session, onRunning: (figures: () => object) => void): AsyncGenerator<StatementResult> {
    await this.refresh(session.signal);
    yield* this.db.analyze(text, session, onRunning);
  }

  /** Never: nobody knows at once what others have done. */
  sqlAtOnce(): undefined {
    return undefined;
  }

  /** As `sqlAtOnce`. */
  executeAtOnce(): undefined {
    return undefined;
  }

  async prepare(text: string, session: Session): Promise<PreparedQuery> {
    await this.refresh(session.signal);
    return this.db.prepare(text, session);
  }

  async *execute(query: PreparedQuery, values: readonly ParameterValue[], session: Session): AsyncGenerator<StatementResult> {
    await this.refresh(session.signal);
    yield* this.db.execute(query, values, session);
  }

  repeated(query: PreparedQuery, session: Session): RepeatedQuery | undefined {
    return this.db.repeated(query, session);
  }

  intake(table: readonly string[], columns: readonly string[] | undefined, text: string, session: Session): RowIntake {
    return this.db.intake(table, columns, text, session);
  }

  admit(signal?: AbortSignal): Promise<void> {
    return this.db.admit(signal);
  }

  write(batch: WriteBatch, session: Session, options: WriteOptions): Promise<WriteResult> {
    return this.db.write(batch, session, options);
  }

  async delete(batch: WriteBatch, session: Session): Promise<WriteResult> {
    await this.refresh(session.signal);
    return this.db.delete(batch, session);
  }

  async define(request: DdlRequest, session: Session): Promise<StatementResult> {
    await this.refresh(session.signal);
    return this.db.define(request, session);
  }

  async createDatabase(name: string, session: Session): Promise<boolean> {
    await this.refresh(session.signal);
    return this.db.createDatabase(name, session);
  }

  authorize(session: Session, action: "read" | "write"): void {
    this.db.authorize(session, action);
  }

  databases(): readonly DatabaseInfo[] {
    return this.db.databases();
  }

  hasDatabase(name: string): boolean {
    return this.db.hasDatabase(name);
  }

  table(name: string, session: Session): Table | undefined {
    return this.db.table(name, session);
  }

  beginRead(session: Session): ReadPermit {
    return this.db.beginRead(session);
  }

  health(): Health {
    return this.db.health();
  }
}

class FreshPromql implements PromqlDb {
  private readonly promql: PromqlDb;
  private readonly refresh: Refresh;

  constructor(promql: PromqlDb, refresh: Refresh) {
    this.promql = promql;
    this.refresh = refresh;
  }

  async *series(ask: SeriesAsk, session: Session): AsyncGenerator<Labels> {
    await this.refresh(session.signal);
    yield* this.promql.series(ask, session);
  }

  async labelNames(ask: SeriesAsk, session: Session): Promise<readonly string[]> {
    await this.refresh(session.signal);
    return this.promql.labelNames(ask, session);
  }

  async labelValues(label: string, ask: SeriesAsk, session: Session): Promise<readonly string[]> {
    await this.refresh(session.signal);
    return this.promql.labelValues(label, ask, session);
  }

  async query(ask: QueryAsk, session: Session): Promise<QueryAnswer> {
    await this.refresh(session.signal);
    return this.promql.query(ask, session);
  }

  async *rows(request: PromqlRequest, session: Session): AsyncGenerator<StatementResult> {
    await this.refresh(session.signal);
    yield* this.promql.rows(request, session);
  }

  metadata(metric: string | undefined, session: Session): readonly MetricMetadata[] {
    return this.promql.metadata(metric, session);
  }

  async figures(session: Session): Promise<StoreFigures> {
    await this.refresh(session.signal);
    return this.promql.figures(session);
  }
}
