/**
 * A case, asked everywhere: the engine by generated loops and by the interpreter, rows in memory, in files or in both; the catalog in
 * memory by the interpreter; and DuckDB. All answers must be the same rows. Where there are worker threads, parts of scans also run there.
 */
import type { QueryWorkers } from "../../src/query/operator/contract/query-workers.ts";
import { DbError } from "../../src/base/error.ts";
import type { Scalar } from "../../src/column/vector.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import { EngineFixture } from "../support/engine-fixture.ts";
import { MemorySpill } from "../support/memory-spill.ts";
import { type Answer, QueryFixture } from "../support/query-fixture.ts";
import { type Cell, cellOf, differenceOf } from "./compare-rows.ts";
import type { Duckdb } from "./duckdb.ts";
import type { Query } from "./queries.ts";
import { createText, deleteTexts, duckdbTexts, insertText, type Tables } from "./tables.ts";

/** Counts of what was compared, so that a test can see that it still tests something. */
export interface Tally {
  queries: number;
  /** Answered by all, with rows. */
  answered: number;
  /** Ended in an error for everyone who was asked. */
  failed: number;
  /** Refused by DuckDB alone: nothing to compare with. */
  refused: number;
  /** Asked of the interpreter, too. */
  interpreted: number;
  /** With little memory: went over the disk, and needed more. */
  spilled: number;
  short: number;
}

/** Nothing was asked yet. */
export function emptyTally(): Tally {
  return { queries: 0, answered: 0, failed: 0, refused: 0, interpreted: 0, spilled: 0, short: 0 };
}

/** Rows, or an error, and whose they are. */
type Outcome = { readonly by: string } & (
  | { readonly rows: readonly (readonly Cell[])[] }
  | { readonly error: string; readonly isPlanning: boolean }
);

/** One of ours, and how it is asked. */
type Run = readonly [by: string, run: () => Promise<Answer>];

/** How a query is asked. */
export interface Asked {
  /** Memory of one more run, which goes over the disk where it does not suffice. */
  readonly littleBytes?: number | undefined;
  /** Whether the interpreter is asked, which tests all pairs of rows; where it is not, DuckDB says what is right. True by default. */
  readonly isInterpreted?: boolean;
}

/** An engine that has worker threads. */
export interface Threaded {
  readonly engine: EngineFixture;
  readonly pool: QueryWorkers;
  /** Divides all groups by their keys. */
  readonly byKeys: QueryWorkers;
  /** Takes parts beside the query's thread. */
  readonly besides: QueryWorkers;
}

/** Tables that are asked. */
export class Oracle {
  private readonly engine: EngineFixture;
  private readonly plain = new QueryFixture();
  private readonly tables: Tables;
  private readonly duckdb: Duckdb | undefined;
  private readonly threaded: Threaded | undefined;

  private constructor(engine: EngineFixture, tables: Tables, duckdb: Duckdb | undefined, threaded: Threaded | undefined) {
    this.engine = engine;
    this.threaded = threaded;
    this.tables = tables;
    this.duckdb = duckdb;
  }

  /** Fills the tables everywhere. @param threaded its engine is asked, and has none of the tables yet; absent: an engine of its own */
  static async start(tables: Tables, duckdb: Duckdb | undefined, threaded?: Threaded): Promise<Oracle> {
    const oracle = new Oracle(threaded?.engine ?? (await EngineFixture.start()), tables, duckdb, threaded);
    for (const rows of tables.all) {
      const create = createText(rows, tables.isAppend);
      await oracle.plain.sql(create);
      await oracle.engine.sql(create);
      const half = tables.place === "both" ? Math.ceil(rows.rows.length / 2) : rows.rows.length;
      for (const text of [insertText(rows, 0, half), insertText(rows, half)]) {
        if (text === undefined) continue;
        await oracle.plain.sql(text);
        if (tables.place === "both") await oracle.engine.sql(`ADMIN flush_table('${rows.name}')`);
        await oracle.engine.sql(text);
      }
      if (tables.place === "files") await oracle.engine.sql(`ADMIN flush_table('${rows.name}')`);
      for (const text of duckdbTexts(rows)) await duckdb?.run(text);
    }
    for (const text of deleteTexts(tables)) {
      await oracle.plain.sql(text);
      await oracle.engine.sql(text);
      await duckdb?.run(text);
    }
    return oracle;
  }

  async close(): Promise<void> {
    if (this.threaded === undefined) await this.engine.machine.engine.close();
    else for (const { name } of this.tables.all) await this.engine.sql(`DROP TABLE ${name}`);
  }

  /**
   * Asks everyone.
   * @throws Error with the tables, the query and the difference
   */
  async check(query: Query, tally: Tally, { littleBytes, isInterpreted = true }: Asked = {}): Promise<void> {
    tally.queries++;
    const { text, duck } = query.term;
    const onPlain: Run = ["generated loops on plain rows, groups in parts", () => this.plain.sql(text, { groupsInOneTable: 3 })];
    const interpreted: Run = ["the interpreter on plain rows", () => this.plain.sql(text, { forceInterpreter: true })];
    const isAsked = isInterpreted || this.duckdb === undefined;
    const wanted = await this.ours(query, isAsked ? interpreted : onPlain);
    const runs: readonly Run[] = [
      ...(isAsked ? [onPlain, ["the interpreter on the engine", () => this.engine.sql(text, { forceInterpreter: true })] as const] : []),
      ["generated loops on the engine", () => this.engine.sql(text)],
      ...this.onThreads(text),
    ];
    for (const run of runs) this.compare(query, await this.ours(query, run), wanted);
    if (littleBytes !== undefined) await this.checkLittle(query, tally, littleBytes, wanted);
    if (isAsked) tally.interpreted++;
    if ("error" in wanted) tally.failed++;
    else if (wanted.rows.length > 0) tally.answered++;
    if (this.duckdb === undefined) return;
    const theirs = await this.duckdb.ask(duck);
    if ("refusal" in theirs) {
      tally.refused++;
      if (process.env["VARVE_FUZZ_REFUSALS"] !== undefined) throw this.failure(query, `DuckDB refuses: ${theirs.refusal}`);
      return;
    }
    this.compare(query, { by: "DuckDB", ...theirs }, wanted);
  }

  /** The same with little memory. What is refused for want of it, since one value or plan is larger, is counted. */
  private async checkLittle(query: Query, tally: Tally, bytes: number, wanted: Outcome): Promise<void> {
    const spill = new MemorySpill();
    const by = `the engine with ${bytes} bytes of memory`;
    try {
      const answer = await this.engine.sql(query.term.text, { memoryBytesMax: bytes, spill });
      this.compare(query, { by, rows: cellsOf(answer) }, wanted);
      if (spill.written > 0) tally.spilled++;
    } catch (error) {
      if (!(error instanceof DbError) || error.code !== StatusCode.RuntimeResourcesExhausted) {
        throw error instanceof DbError && query.term.mayFail ? error : this.failure(query, `${by}: ${String(error)}`, error);
      }
      tally.short++;
    }
    if (spill.open !== 0) throw this.failure(query, `${by} leaves ${spill.open} files open`);
  }

  private onThreads(text: string): readonly Run[] {
    const { threaded } = this;
    if (threaded === undefined) return [];
    const { engine, pool, byKeys, besides } = threaded;
    return [
      ["worker threads", () => engine.sql(text, { workers: pool })],
      ["groups divided between threads", () => engine.sql(text, { workers: byKeys })],
      ["parts on two threads", () => engine.sql(text, { workers: besides })],
    ];
  }

  /** What one of ours answers. @throws Error for an error that is not about values */
  private async ours(query: Query, [by, run]: Run): Promise<Outcome> {
    try {
      return { by, rows: cellsOf(await run()) };
    } catch (error) {
      if (!(error instanceof DbError)) throw this.failure(query, `${by} throws what is no error for a client: ${String(error)}`, error);
      if (!query.term.mayFail) throw this.failure(query, `${by} fails: ${error.message}`, error);
      return { by, error: error.message, isPlanning: false };
    }
  }

  private compare(query: Query, got: Outcome, wanted: Outcome): void {
    // One order of work meets a failing row, another never reaches it: only rows are compared.
    if ("error" in got || "error" in wanted) return;
    const difference = differenceOf(got.rows, wanted.rows, query.isOrdered);
    if (difference !== undefined) throw this.failure(query, `${got.by} differs from ${wanted.by}:\n${difference}`);
  }

  private failure({ term }: Query, why: string, cause?: unknown): Error {
    const { all, isAppend, place } = this.tables;
    const rowsMade = all.flatMap((rows) => [createText(rows, isAppend), insertText(rows)]).filter((text) => text !== undefined);
    const made = [...rowsMade, ...deleteTexts(this.tables)];
    const text = [`rows in ${place}`, ...made.map((statement) => `${statement};`), `${term.text};`, `-- DuckDB: ${term.duck}`, why].join(
      "\n",
    );
    return new Error(text, { cause });
  }
}

function cellsOf({ rows, types }: Answer): readonly (readonly Cell[])[] {
  return rows.map((row) => row.map((value: Scalar, i) => cellOf(value, types[i] ?? "")));
}
