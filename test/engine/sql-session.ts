/** SQL on a machine in memory, answers as the texts of JSON cells. */
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { DbError } from "../../src/base/error.ts";
import type { Db } from "../../src/db/db.ts";
import { LocalDb, type StatementLimits } from "../../src/db/local-db.ts";
import { CellColumn, JSON_DIALECT } from "../../src/server/common/kernels/cell-column.ts";
import { Machine } from "./machine.ts";

const decoder = new TextDecoder();

/** Statements take as long and as much as they want. */
export const NO_STATEMENT_LIMITS: StatementLimits = { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY };

/** One machine and short ways to ask it. */
export class SqlSession {
  readonly machine: Machine;

  private constructor(machine: Machine) {
    this.machine = machine;
  }

  static async start(): Promise<SqlSession> {
    return new SqlSession(await Machine.start());
  }

  /** Rows of the last statement as JSON texts; of a statement without rows, `[["affected", "n"]]`. */
  async rows(text: string): Promise<string[][]> {
    return sqlRows(new LocalDb(this.machine.engine, new Scheduler(), NO_STATEMENT_LIMITS), text);
  }

  /** The error of a statement as `code message`. */
  async refusal(text: string): Promise<string> {
    try {
      await this.rows(text);
    } catch (error) {
      if (error instanceof DbError) return `${error.code} ${error.message}`;
      throw error;
    }
    return "no error";
  }

  /** Writes all rows of a table to files. */
  async flush(table: string): Promise<void> {
    await this.rows(`ADMIN flush_table('${table}')`);
  }

  /** Merges all files of a table. */
  async compact(table: string): Promise<void> {
    await this.rows(`ADMIN compact_table('${table}')`);
  }
}

/** Runs a text. Rows of the last statement as JSON texts; of a statement without rows, `[["affected", "n"]]`. */
export async function sqlRows(db: Pick<Db, "sql">, text: string): Promise<string[][]> {
  const user = { name: "someone", mode: "rw" } as const;
  let rows: string[][] = [];
  for await (const result of db.sql(text, { database: "public", timeZone: "UTC", user, signal: new AbortController().signal })) {
    if (result.kind === "affected") {
      rows = [["affected", String(result.rowCount)]];
      continue;
    }
    rows = [];
    const columns = result.headers.map(({ type }) => new CellColumn(type, JSON_DIALECT));
    for await (const { rowCount, vectors } of result.batches) {
      for (const [c, vector] of vectors.entries()) columns[c]?.encode(vector, rowCount);
      for (let row = 0; row < rowCount; row++)
        rows.push(columns.map(({ bytes, starts, ends }) => decoder.decode(bytes.subarray(starts[row], ends[row]))));
    }
  }
  return rows;
}
