/**
 * The facade over one engine: checks who may do what, then hands on to the engine or to the query layer.
 */
import { throwIfCancelled, withDeadline } from "../base/scheduler/cancel.ts";
import type { Clock } from "../base/clock.ts";
import type { Scheduler } from "../base/scheduler/scheduler.ts";
import { DbError, toDbError } from "../base/error.ts";
import type { MetricRegistry } from "../base/metrics.ts";
import type { MemoryPool } from "../base/memory/server-memory.ts";
import { StatusCode } from "../base/status-code.ts";
import type { LongCalls } from "../query/expression/long-calls.ts";
import type { QueryWorkers } from "../query/operator/contract/query-workers.ts";
import { Pace, paced } from "../base/scheduler/pace.ts";
import { MemoryBudget } from "../base/memory/memory-budget.ts";
import { type ExecOptions, SYNTAX_TREE } from "../query/statement/shared/select.ts";
import { executeStatement, needsOf } from "../query/execute.ts";
import { rewritePostgres } from "../query/postgres/rewrite.ts";
import { placeholdersOf, prepareQuery } from "../query/statement/prepare-query.ts";
import type { ParameterValue, PreparedQuery, RepeatedQuery } from "../query/prepared-query.ts";
import type { AdminOperations, QueryContext, QueryRoom } from "../query/query-context.ts";
import { onlyStatement } from "../query/sql/parse.ts";
import { parseInTurns, type ParsePace } from "../query/sql/parse-in-turns.ts";
import { KnownPlans } from "../query/known-plans/known-plans.ts";
import { ParsedTexts } from "../query/sql/parsed-texts.ts";
import { printStatement } from "../query/sql/print/print-statement.ts";
import { maskSyntaxError } from "../query/sql/print/secret-text.ts";
import type { Statement } from "../query/sql/syntax/statement-ast.ts";
import type { HoldBytes } from "../query/sql/syntax-size.ts";

import { NO_ROWS_CHANGED, type StatementResult } from "../query/statement-result.ts";
import { NO_FACTS, type SystemFacts } from "../query/system-facts.ts";
import type { Trouble } from "../base/process/troubles.ts";
import type { Catalog, DatabaseInfo, Table } from "../table/catalog.ts";
import { databaseNotFound } from "../table/not-found.ts";
import type { FileAccess } from "../table/file-access.ts";
import type { SpillStore } from "../table/spill-space.ts";
import { repeatedInsert } from "../query/statement/rows/repeated-insert.ts";
import { openRowIntake } from "../query/statement/rows/row-intake.ts";
import type { RowIntake } from "../table/rows/row-intake.ts";
import type { SchemaLookup, WriteBatch, WriteOptions, Writer, WriteResult } from "../table/write-batch.ts";
import { authorize, authorizeStatement, may } from "./authorize.ts";
import type { Action } from "./auth/user.ts";
import { withoutValues } from "./auth/without-values.ts";
import type { DdlRequest } from "../../proto/gen/greptime/v1/ddl_pb.js";
import { statementOf } from "./definitions/statement-of.ts";
import { AtOnce } from "./at-once.ts";
import { onlyAnalysis } from "./syntax/only-analysis.ts";
import { countedWrite } from "./ingest-counts.ts";
import { bringsRows, CountedWriter, countedIntake, countText, countValues } from "./counted-rows.ts";
import type { Db, Health, RowsAtOnce } from "./db.ts";
import { openQuery } from "./query-permit.ts";
import { LocalPromql } from "./promql/local-promql.ts";
import type { PromqlLimits } from "./promql/promql-query.ts";
import type { ReadPermit } from "./read-permit.ts";
import { KnownStatements } from "./known-statements.ts";
import type { OtherFrontends } from "./other-frontends.ts";
import { RunningStatements } from "./running-statements.ts";
import type { Session } from "./session.ts";
import type { StatementWatch } from "./statement-watch.ts";
import { TimedStatement } from "./timed-statement.ts";

/** What the facade needs of the engine. */
export interface EngineFacade extends Catalog, Writer, SchemaLookup, AdminOperations {
  /** Resolves when there is memory for another write. @throws DbError RateLimited, StorageUnavailable */
  admit(signal?: AbortSignal): Promise<void>;
  /** What does not work now. */
  troubles(): { readonly now: readonly Trouble[] };
}

/** What one statement may take. */
export interface StatementLimits {
  /** 0 = no limit. */
  readonly timeoutMillis: number;
  /** Bytes held between batches; Infinity = no limit. */
  readonly memoryBytesMax: number;
  /** Memory of all statements together. Default: no limit. */
  readonly pool?: MemoryPool;
  /** Where rows go that do not fit in memory. Default: nowhere. */
  readonly spill?: SpillStore | undefined;
  /** Other threads for large scans. Default: none. */
  readonly workers?: QueryWorkers | undefined;
  /** Where calls of functions run that take long. */
  readonly calls?: LongCalls | undefined;
  /** What PromQL queries go by. Default: those of tools. */
  readonly promql?: PromqlLimits | undefined;
  /** Plans of statements that came lately. Default: none are kept. */
  readonly plans?: KnownPlans | undefined;
  /** Is told of every statement that ended. Default: nobody is. */
  readonly watch?: StatementWatch | undefined;
}

/** What one statement may take of memory and disk, and what it took. */
interface StatementRoom extends QueryRoom {
  /** Most bytes that it held. */
  readonly memoryBytes: number;
  /** Bytes that it put on disk. */
  readonly spilledBytes: number;
}

/** What the syntax trees of one text hold. */
interface SyntaxMemory {
  readonly bytes: number;
  readonly hold: HoldBytes;
  close(): void;
}

/** A text as the grammar reads it: clients of PostgreSQL have words of their own for what it has. */
function understood(text: string, { connection }: Session): string {
  return connection?.protocol === "postgres" ? rewritePostgres(text) : text;
}

/** What the build knows of itself, and a frontend of its cluster. */
export interface BuildFacts extends Pick<SystemFacts, "version" | "commit" | "branch" | "cluster"> {
  /** Of a frontend. */
  readonly others?: OtherFrontends | undefined;
}

/** Longest wait of a timer; a longer one would fire at once. */
const TIMER_MILLIS_MAX = 2 ** 31 - 1;

const HEALTHY: Health = { ok: true, reason: undefined, parts: [] };

/** The database of this process. */
export class LocalDb implements Db {
  readonly schemas: SchemaLookup;
  readonly promql: LocalPromql;
  readonly statements: KnownStatements;
  private readonly engine: EngineFacade;
  private readonly clock: Clock;
  private readonly scheduler: Scheduler;
  private readonly limits: StatementLimits;
  private readonly files: FileAccess | undefined;
  private readonly running: RunningStatements;
  private readonly system: Omit<SystemFacts, "statements" | "kill">;
  private readonly texts: ParsedTexts = new ParsedTexts();
  private readonly plans: KnownPlans;
  private readonly atOnce: AtOnce;

  /** @param files what COPY and external tables reach; absent: nothing */
  constructor(engine: EngineFacade, scheduler: Scheduler, limits: StatementLimits, build: BuildFacts = NO_FACTS, files?: FileAccess) {
    this.engine = engine;
    const { clock } = scheduler;
    this.clock = clock;
    this.scheduler = scheduler;
    this.limits = limits;
    this.files = files;
    this.schemas = engine;
    this.running = new RunningStatements(clock, build.others?.self);
    this.statements = new KnownStatements(this.running, build.others, () => limits.watch?.killed());
    this.plans = limits.plans ?? new KnownPlans(0);
    this.atOnce = new AtOnce({ catalog: engine, clock, plans: this.plans, watch: limits.watch });
    const room = { ...limits, running: this.running, clock };
    this.promql = new LocalPromql(engine, scheduler, (ask, session) => openQuery(ask, session, room), limits.promql);
    this.system = {
      version: build.version,
      commit: build.commit,
      branch: build.branch,
      startMillis: Number(clock.nowNanos() / 1_000_000n),
      ...(build.cluster === undefined ? {} : { cluster: build.cluster }),
    };
  }

  /** Shows how many statements run. Call once a registry. */
  showRunning(metrics: MetricRegistry): void {
    this.limits.watch?.showRunning(this.running, metrics);
  }

  sqlAtOnce(text: string, session: Session): RowsAtOnce | undefined {
    return this.atOnce.ofText(understood(text, session), text, session);
  }

  executeAtOnce(query: PreparedQuery, values: readonly ParameterValue[], session: Session): RowsAtOnce | undefined {
    return this.atOnce.ofPrepared(query, values, session);
  }

  async *sql(text: string, session: Session): AsyncGenerator<StatementResult> {
    this.checkDatabase(session);
    const asked = understood(text, session);
    const found = this.plans.ofText(asked, this.contextOf(session, session.signal));
    if (found?.kind === "known") {
      yield* this.run(found.statement, text, session, { known: found });
      return;
    }
    const memory = this.openSyntaxMemory();
    try {
      const statements = await this.parse(asked, text, session, memory);
      if (statements.length === 0) throw new DbError(StatusCode.InvalidArguments, "Invalid SQL, error: empty statements");
      countText(session.ingest, statements, text);
      const pace = new Pace(this.scheduler); // Thousands of short ones are long work, too.
      for (const statement of statements) {
        const isOnly = statements.length === 1 && statement.kind === "select";
        const onPlanned: ExecOptions["onPlanned"] = isOnly ? (made) => found?.keep(statement, made) : undefined;
        yield* this.run(statement, text, session, { syntaxBytes: memory.bytes, onPlanned });
        await pace.turn();
      }
    } finally {
      memory.close();
    }
  }

  async *analyze(text: string, session: Session, onRunning: (figures: () => object) => void): AsyncGenerator<StatementResult> {
    this.checkDatabase(session);
    const memory = this.openSyntaxMemory();
    try {
      const statement = onlyAnalysis(await this.parse(understood(text, session), text, session, memory));
      yield* this.run(statement, text, session, { syntaxBytes: memory.bytes, onAnalyzing: onRunning });
    } finally {
      memory.close();
    }
  }

  async prepare(text: string, session: Session): Promise<PreparedQuery> {
    this.checkDatabase(session);
    const context = this.contextOf(session, session.signal);
    const known = this.plans.preparedOf(text, context);
    if (known !== undefined) {
      authorizeStatement(session, () => needsOf(known.statement, session.connection));
      return known;
    }
    const memory = this.openSyntaxMemory();
    try {
      const tree = onlyStatement(await parseInTurns(understood(text, session), this.parsePace(session, memory)));
      authorizeStatement(session, () => needsOf(tree.statement, session.connection));
      const query = await prepareQuery(tree, text, context);
      this.plans.keepPreparedText(text, query, context);
      return query;
    } catch (thrown) {
      throw await this.withoutSecrets(thrown, text);
    } finally {
      memory.close();
    }
  }

  async *execute(query: PreparedQuery, values: readonly ParameterValue[], session: Session): AsyncGenerator<StatementResult> {
    this.checkDatabase(session);
    const placeholders = placeholdersOf(query, values, session.timeZone);
    countValues(session.ingest, query.statement, values);
    // Without values the session itself: USE and SET change it.
    const own = values.length === 0 ? session : { ...session, placeholders };
    const options: ExecOptions = query.statement.kind === "select" ? this.planOfPrepared(query, values, own) : {};
    yield* this.run(query.statement, query.text, own, options);
  }

  repeated(query: PreparedQuery, session: Session): RepeatedQuery | undefined {
    return repeatedInsert(query, this.contextOf(session, session.signal));
  }

  async define(request: DdlRequest, session: Session): Promise<StatementResult> {
    this.checkDatabase(session);
    this.authorize(session, "write"); // before texts of a message are parsed for whoever asks
    const memory = this.openSyntaxMemory();
    try {
      const parse = async (text: string): Promise<Statement> =>
        onlyStatement(await parseInTurns(text, this.parsePace(session, memory))).statement;
      const statement = await statementOf(request, parse);
      const text = printStatement(statement);
      for await (const result of this.run(statement, text, session, { syntaxBytes: memory.bytes })) return result;
      return NO_ROWS_CHANGED;
    } finally {
      memory.close();
    }
  }

  private planOfPrepared(query: PreparedQuery, values: readonly ParameterValue[], session: Session): ExecOptions {
    const context = this.contextOf(session, session.signal);
    const known = this.plans.ofPrepared(query, values, context);
    return known === undefined ? { onPlanned: (made) => this.plans.keepPrepared(query, values, context, made) } : { known };
  }

  /** @param asked `text` as the grammar reads it */
  private async parse(asked: string, text: string, session: Session, memory: SyntaxMemory): Promise<readonly Statement[]> {
    try {
      return await this.texts.parseInTurns(asked, this.parsePace(session, memory));
    } catch (thrown) {
      this.limits.watch?.unparsed(toDbError(thrown).code);
      throw await this.withoutSecrets(thrown, text);
    }
  }

  /** An error of syntax without what it quotes of a text that has secrets. */
  private async withoutSecrets(thrown: unknown, text: string): Promise<unknown> {
    if (!(thrown instanceof DbError) || (thrown.code !== StatusCode.InvalidSyntax && thrown.code !== StatusCode.Unsupported)) return thrown;
    const masked = await paced(maskSyntaxError(thrown.message, text), new Pace(this.scheduler));
    return masked === undefined ? thrown : new DbError(thrown.code, masked);
  }

  private parsePace({ signal }: Session, { hold }: SyntaxMemory): ParsePace {
    const pace = new Pace(this.scheduler, () => throwIfCancelled(signal));
    return { turn: () => pace.turn(), hold };
  }

  /** Memory for the syntax trees of one text, held until all its statements have run. */
  private openSyntaxMemory(): SyntaxMemory {
    const { pool, memoryBytesMax } = this.limits;
    const account = pool?.account();
    const budget = new MemoryBudget(memoryBytesMax, account).part(SYNTAX_TREE);
    return {
      get bytes() {
        return budget.used;
      },
      hold: budget.reserve,
      close: () => account?.close(),
    };
  }

  /** What a user sees of the server. */
  private factsFor(session: Session, signal: AbortSignal): SystemFacts {
    const { statements } = this;
    return { ...this.system, statements: () => statements.list(session, signal), kill: (id) => statements.kill(id, session, signal) };
  }

  /** Runs one statement of a text. */
  private async *run(statement: Statement, text: string, session: Session, options: ExecOptions): AsyncGenerator<StatementResult> {
    const timed = new TimedStatement(this.clock);
    session.connection?.warnings.splice(0);
    const { memoryBytesMax, workers, calls, watch } = this.limits;
    const begun = this.running.begin(text, session, session.signal, { millis: this.timeoutOf(session), key: "query.timeout" });
    const { signal } = begun;
    const room = this.openRoom();
    try {
      authorizeStatement(session, () => needsOf(statement, session.connection));
      if (statement.kind === "insert" || statement.kind === "execute") await this.engine.admit(signal);
      const given = { memoryBytesMax, workers, calls, ...options, ...room.options };
      const result = await executeStatement(statement, this.contextOf(session, signal), given);
      if (statement.kind === "delete" && result.kind === "affected") session.ingest?.deleted(result.rowCount);
      yield timed.result(result);
    } catch (thrown) {
      timed.failed(thrown);
      if (bringsRows(statement)) session.ingest?.failed();
      throw may(session.user, "read")
        ? await this.withoutSecrets(thrown, text)
        : withoutValues(thrown, needsOf(statement, session.connection), statement.kind);
    } finally {
      begun.end();
      await room.close();
      const { kind } = statement;
      const { database, client = "" } = session;
      const trace = watch?.traceOf(text, session);
      const { memoryBytes, spilledBytes } = room;
      const { workedMillis, rows } = timed;
      const took = { workedMillis, rows, memoryBytes, spilledBytes };
      watch?.ended({ kind, database, client, trace, query: begun.query, ...timed.end(signal), ...took });
    }
  }

  /** Memory and disk for one query. */
  private openRoom(): StatementRoom {
    const memory = this.limits.pool?.account();
    const spill = this.limits.spill?.session();
    const options = { ...(memory === undefined ? {} : { memory }), ...(spill === undefined ? {} : { spill }) };
    return {
      options,
      get memoryBytes() {
        return memory?.peakBytes ?? 0;
      },
      get spilledBytes() {
        return spill?.writtenBytes ?? 0;
      },
      async close() {
        memory?.close();
        await spill?.close();
      },
    };
  }

  /** Milliseconds that a statement may run: what the session says, up to the server's limit. */
  private timeoutOf({ settings }: Session): number {
    const { timeoutMillis } = this.limits;
    const own = Number(settings?.timeoutMillis ?? 0n);
    if (own === 0) return timeoutMillis;
    return Math.min(own, timeoutMillis === 0 ? TIMER_MILLIS_MAX : timeoutMillis, TIMER_MILLIS_MAX);
  }

  async write(batch: WriteBatch, session: Session, options: WriteOptions): Promise<WriteResult> {
    this.authorize(session, "write");
    return countedWrite(session.ingest, this.engine.write(session.database, batch, { ...options, signal: session.signal }));
  }

  intake(table: readonly string[], columns: readonly string[] | undefined, text: string, session: Session): RowIntake {
    this.checkDatabase(session);
    this.authorize(session, "write");
    const begun = this.running.begin(text, session, session.signal);
    const room = this.openRoom();
    const close = async (): Promise<void> => {
      begun.end();
      await room.close();
    };
    try {
      const { memoryBytesMax } = this.limits;
      const intake = openRowIntake(table, columns, this.contextOf(session, begun.signal), { memoryBytesMax, ...room.options });
      return countedIntake(intake, session.ingest, close);
    } catch (thrown) {
      session.ingest?.failed();
      void close(); // It holds nothing that could fail.
      throw thrown;
    }
  }

  async delete(batch: WriteBatch, session: Session): Promise<WriteResult> {
    this.authorize(session, "write");
    const result = await this.engine.delete(session.database, batch);
    session.ingest?.deleted(result.rowCount);
    return result;
  }

  admit(signal?: AbortSignal): Promise<void> {
    return this.engine.admit(signal);
  }

  async createDatabase(name: string, session: Session): Promise<boolean> {
    this.authorize(session, "write");
    return this.engine.createDatabase(name, {}, false);
  }

  authorize(session: Session, action: Action): void {
    authorize(session, action);
  }

  databases(): readonly DatabaseInfo[] {
    return this.engine.databases();
  }

  hasDatabase(name: string): boolean {
    return this.engine.database(name) !== undefined;
  }

  table(name: string, session: Session): Table | undefined {
    this.checkDatabase(session);
    this.authorize(session, "read");
    return this.engine.table(session.database, name);
  }

  beginRead(session: Session): ReadPermit {
    const { timeoutMillis, memoryBytesMax, pool } = this.limits;
    const { signal, done } = withDeadline(session.signal, timeoutMillis);
    const account = pool?.account();
    const { reserve, release } = new MemoryBudget(memoryBytesMax, account);
    const end = (): void => {
      done();
      account?.close();
    };
    return { signal, reserve, release, done: end };
  }

  health(): Health {
    const { now } = this.engine.troubles();
    if (now.length === 0) return HEALTHY;
    return { ok: false, reason: now.map(({ part, reason }) => `${part}: ${reason}`).join("; "), parts: now.map(({ part }) => part) };
  }

  private contextOf(session: Session, signal: AbortSignal): QueryContext {
    const { engine, clock, scheduler } = this;
    const promql = this.promql.rowEngine;
    const files = this.files?.until(signal);
    const system = this.factsFor(session, signal);
    const openRoom = (): QueryRoom => this.openRoom();
    const admit = (until: AbortSignal): Promise<void> => engine.admit(until);
    return {
      catalog: engine,
      writer: session.ingest === undefined ? engine : new CountedWriter(engine, session.ingest),
      admin: engine,
      clock,
      scheduler,
      variables: session,
      system,
      signal,
      files,
      promql,
      admit,
      openRoom,
    };
  }

  private checkDatabase(session: Session): void {
    if (this.engine.database(session.database) !== undefined) return;
    throw databaseNotFound(session.database);
  }
}
