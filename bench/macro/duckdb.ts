/**
 * DuckDB over Parquet files, as a process of its own: reads a request from stdin, prints one JSON line with the timings.
 *
 *   echo '{"glob":"data/**\/*.parquet","queries":[…],"rounds":{"repeats":3,"millisMin":1500}}' | bun bench/macro/duckdb.ts
 */
import { type DuckDBConnection, DuckDBInstance, DuckDBTypeId, type DuckDBValue } from "@duckdb/node-api";
import { type CanonicalCell, type CellKind, columnOrder, digestRows, type ResultDigest } from "./canonical.ts";
import { TABLE } from "./dataset.ts";
import type { Query } from "./queries.ts";
import { type QueryTiming, timeQueries, type WarmRounds } from "./query-timing.ts";

/** What the process reads from stdin. */
export interface DuckdbRequest {
  /** The files that make the table, as `read_parquet` takes them. */
  readonly glob: string;
  readonly queries: readonly Query[];
  readonly rounds: WarmRounds;
}

/** The same query in DuckDB's dialect. */
export function duckdbSql(sql: string): string {
  return sql.replaceAll("last_value(", "last(");
}

const TIMESTAMP_TYPES: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_S,
  DuckDBTypeId.TIMESTAMP_MS,
  DuckDBTypeId.TIMESTAMP_NS,
  DuckDBTypeId.TIMESTAMP_TZ,
]);

async function digest(connection: DuckDBConnection, query: Query): Promise<ResultDigest> {
  const reader = await connection.runAndReadAll(duckdbSql(query.sql));
  const kinds = reader.columnTypes().map((type): CellKind => {
    if (type.typeId === DuckDBTypeId.VARCHAR) return "text";
    return type.typeId === DuckDBTypeId.DOUBLE || type.typeId === DuckDBTypeId.FLOAT ? "float" : "integer";
  });
  const isTime = reader.columnTypes().map((type) => TIMESTAMP_TYPES.has(type.typeId));
  const rows = reader.getRows().map((row) => row.map((cell, column) => (isTime[column] === true ? epochNanos(cell) : plainCell(cell))));
  return digestRows(rows, kinds, columnOrder(query.sql, reader.columnNames()), query.isOrdered);
}

/** Nanoseconds since 1970 of any of DuckDB's timestamp values. */
function epochNanos(cell: DuckDBValue): bigint | null {
  if (typeof cell !== "object" || cell === null) return null;
  if ("nanoseconds" in cell && typeof cell.nanoseconds === "bigint") return cell.nanoseconds;
  if ("nanos" in cell && typeof cell.nanos === "bigint") return cell.nanos;
  if ("micros" in cell && typeof cell.micros === "bigint") return cell.micros * 1000n;
  if ("milliseconds" in cell && typeof cell.milliseconds === "bigint") return cell.milliseconds * 1_000_000n;
  if ("seconds" in cell && typeof cell.seconds === "bigint") return cell.seconds * 1_000_000_000n;
  throw new Error(`cannot read a timestamp with ${Object.keys(cell).join(", ")}`);
}

function plainCell(cell: DuckDBValue): CanonicalCell {
  if (cell === null || typeof cell !== "object") return cell;
  throw new Error(`cannot compare a ${cell.constructor.name}`);
}

if (import.meta.main) {
  const request = (await Bun.stdin.json()) as DuckdbRequest;
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run("SET timezone = 'UTC'");
  await connection.run(`CREATE VIEW ${TABLE} AS SELECT * FROM read_parquet('${request.glob.replaceAll("'", "''")}')`);
  const timings: readonly QueryTiming[] = await timeQueries(
    {
      run: async ({ sql }) => await connection.runAndReadAll(duckdbSql(sql)),
      digest: async (query) => await digest(connection, query),
    },
    request.queries,
    request.rounds,
  );
  process.stdout.write(`${JSON.stringify(timings)}\n`);
}
