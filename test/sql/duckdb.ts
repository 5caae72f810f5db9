/** DuckDB as an oracle, where it is installed. */
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { type Cell, decimalCell } from "./compare-rows.ts";

/** What DuckDB says: rows; an error of values, which another system may meet or not; a refusal of the query as such. */
export type DuckdbAnswer =
  | { readonly rows: readonly (readonly Cell[])[] }
  | { readonly error: string; readonly isPlanning: boolean }
  | { readonly refusal: string };

/** One database in memory. */
export class Duckdb {
  private readonly connection: DuckDBConnection;

  private constructor(connection: DuckDBConnection) {
    this.connection = connection;
  }

  /** undefined where DuckDB is not installed, with a line on standard error. */
  static async open(): Promise<Duckdb | undefined> {
    try {
      const { DuckDBInstance } = await import("@duckdb/node-api");
      const connection = await (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
      return new Duckdb(connection);
    } catch (error) {
      process.stderr.write(`DuckDB is not asked: ${error instanceof Error ? error.message : String(error)}\n`);
      return undefined;
    }
  }

  async run(text: string): Promise<void> {
    await this.connection.run(text);
  }

  async ask(text: string): Promise<DuckdbAnswer> {
    try {
      const reader = await this.connection.runAndReadAll(text);
      const types = reader.columnTypes().map(String);
      return { rows: reader.getRows().map((row) => row.map((value, i) => cellOf(value, types[i] ?? ""))) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // Errors of values; everything else says that DuckDB does not know the query.
      if (/^(Out of Range|Conversion|Invalid Input) Error/.test(message)) return { error: message, isPlanning: false };
      return { refusal: message };
    }
  }

  close(): void {
    this.connection.closeSync();
  }
}

function cellOf(value: DuckDBValue, type: string): Cell {
  if (value === null) return undefined;
  if (type === "FLOAT" || type === "DOUBLE") return Number(value);
  // Sums have 128 bits there.
  if (type === "HUGEINT") return String(BigInt.asIntN(64, value as bigint));
  if (typeof value !== "object") return String(value);
  if ("scale" in value && "value" in value && typeof value.value === "bigint") return decimalCell(value.value, Number(value.scale));
  if ("days" in value && typeof value.days === "number") return String(value.days);
  throw new Error(`cannot compare a ${value.constructor.name} of DuckDB`);
}
