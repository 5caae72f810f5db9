/** DuckDB in this process, with a file of its own: what stands beside a server that answers the same queries. */
import { type DuckDBConnection, DuckDBInstance, type DuckDBResultReader, DuckDBTypeId, type DuckDBValue } from "@duckdb/node-api";
import { type CanonicalCell, type CellKind, digestRows, type ResultDigest } from "../canonical.ts";
import { comparedColumns, type HeavyQuery } from "./heavy-query.ts";

/** Threads of DuckDB. */
export const DUCKDB_THREADS = 2;

const FLOATS: ReadonlySet<DuckDBTypeId> = new Set([DuckDBTypeId.DOUBLE, DuckDBTypeId.FLOAT]);

/** What a value of a time is called by its unit, and how many nanoseconds that is: both systems have units of their own for a result. */
const TICKS: readonly (readonly [name: string, nanos: bigint])[] = [
  ["seconds", 1_000_000_000n],
  ["millis", 1_000_000n],
  ["micros", 1000n],
  ["nanos", 1n],
];

/** One database; queries run one at a time. */
export class DuckdbSession {
  private readonly instance: DuckDBInstance;
  private readonly connection: DuckDBConnection;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.instance = instance;
    this.connection = connection;
  }

  /** Opens a database, made when it is not there. */
  static async open(path: string): Promise<DuckdbSession> {
    const instance = await DuckDBInstance.create(path, { threads: String(DUCKDB_THREADS) });
    const connection = await instance.connect();
    await connection.run("SET timezone = 'UTC'");
    return new DuckdbSession(instance, connection);
  }

  close(): void {
    this.connection.closeSync();
    this.instance.closeSync();
  }

  /** Runs a statement and fetches its whole result. */
  async run(sql: string): Promise<DuckDBResultReader> {
    return await this.connection.runAndReadAll(sql);
  }

  /** The whole number of a query of one row and one column. */
  async number(sql: string): Promise<number> {
    return Number((await this.run(sql)).getRows()[0]?.[0]);
  }
}

/** What is compared of DuckDB's answer. */
export function duckdbDigest(reader: DuckDBResultReader, query: HeavyQuery): ResultDigest {
  const kinds = reader.columnTypes().map((type): CellKind => (FLOATS.has(type.typeId) ? "float" : "text"));
  const rows = reader.getRows().map((row) => row.map(cellOf));
  const { order, isOrdered } = comparedColumns(query, reader.columnNames());
  return digestRows(rows, kinds, order, isOrdered);
}

function cellOf(cell: DuckDBValue): CanonicalCell {
  if (cell === null || typeof cell !== "object") return cell;
  if ("days" in cell && typeof cell.days === "number") return cell.days;
  if ("scale" in cell && "value" in cell) return String(cell);
  for (const [ticks, nanos] of TICKS) {
    const value = ticks in cell ? (cell as unknown as Record<string, unknown>)[ticks] : undefined;
    if (typeof value === "bigint") return value * nanos;
  }
  throw new Error(`cannot compare a ${cell.constructor.name}`);
}
