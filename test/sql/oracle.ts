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
  /** With little memory: went over the disk, and needed more. */
  spilled: number;
  short: number;
}

/** Nothing was asked yet. */
export function emptyTally(): Tally {
  return { queries: 0, answered: 0, failed: 0, refused: 0, spilled: 0, short: 0 };
}

/** Rows, or an error. */
type Outcome = { readonly rows: readonly (readonly Cell[])[] } | { readonly error: string; readonly isPlanning: boolean };

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
   * Asks everyone. @param littleBytes memory of one more run, which goes over the disk where it does not suffice
   * @throws Error with the tables, the query and the difference
   */
  async check(query: Query, tally: Tally, littleBytes?: number): Promise<void> {
    tally.queries++;
    const { term } = query;
    const wanted = await this.ours("the interpreter on plain rows", query, () => this.plain.sql(term.text, { forceInterpreter: true }));
    const runs: readonly (readonly [string, () => Promise<Answer>])[] = [
      ["generated loops on plain rows, groups in parts", () => this.plain.sql(term.text, { groupsInOneTable: 3 })],
      ["the interpreter on the engine", () => this.engine.sql(term.text, { forceInterpreter: true })],
      ["generated loops on the engine", () => this.engine.sql(term.text)],
      ...this.onThreads(term.text),
    ];
    for (const [name, run] of runs) this.compare(query, name, await this.ours(name, query, run), wanted);
    if (littleBytes !== undefined) await this.checkLittle(query, tally, littleBytes, wanted);
    if ("error" in wanted) tally.failed++;
    else if (wanted.rows.length > 0) tally.answered++;
    if (this.duckdb === undefined) return;
    const theirs = await this.duckdb.ask(term.duck);
    if ("refusal" in theirs) {
      tally.refused++;
      if (process.env["VARVE_FUZZ_REFUSALS"] !== undefined) throw this.failure(query, `DuckDB refuses: ${theirs.refusal}`);
      return;
    }
    this.compare(query, "DuckDB", theirs, wanted);
  }

  /** The same with little memory. What is refused for want of it, since one value or plan is larger, is counted. */
  private async checkLittle(query: Query, tally: Tally, bytes: number, wanted: Outcome): Promise<void> {
    const spill = new MemorySpill();
    const name = `the engine with ${bytes} bytes of memory`;
    try {
      const answer = await this.engine.sql(query.term.text, { memoryBytesMax: bytes, spill });
      this.compare(query, name, { rows: cellsOf(answer) }, wanted);
      if (spill.written > 0) tally.spilled++;
    } catch (error) {
      if (!(error instanceof DbError) || error.code !== StatusCode.RuntimeResourcesExhausted) {
        throw error instanceof DbError && query.term.mayFail ? error : this.failure(query, `${name}: ${String(error)}`, error);
      }
      tally.short++;
    }
    if (spill.open !== 0) throw this.failure(query, `${name} leaves ${spill.open} files open`);
  }

  private onThreads(text: string): readonly (readonly [string, () => Promise<Answer>])[] {
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
  private async ours(name: string, query: Query, run: () => Promise<Answer>): Promise<Outcome> {
    try {
      return { rows: cellsOf(await run()) };
    } catch (error) {
      if (!(error instanceof DbError)) throw this.failure(query, `${name} throws what is no error for a client: ${String(error)}`, error);
      if (!query.term.mayFail) throw this.failure(query, `${name} fails: ${error.message}`, error);
      return { error: error.message, isPlanning: false };
    }
  }

  private compare(query: Query, name: string, got: Outcome, wanted: Outcome): void {
    // One order of work meets a failing row, another never reaches it: only rows are compared.
    if ("error" in got || "error" in wanted) return;
    const difference = differenceOf(got.rows, wanted.rows, query.isOrdered);
    if (difference !== undefined) throw this.failure(query, `${name} differs from the interpreter on plain rows:\n${difference}`);
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
