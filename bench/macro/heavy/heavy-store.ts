/** A store of Varve and a database of DuckDB that hold the same tables: made once, and found again in a work directory that is kept. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { waitUntilIdle } from "../process-meter.ts";
import { sqlNumber, sqlTable } from "../sql-client.ts";
import { type RunningTarget, varveTarget } from "../target.ts";
import { DuckdbSession } from "./duckdb-session.ts";
import type { HeavyTable } from "./heavy-data.ts";

/** Says that a store is whole, and what it holds. */
const MARK = "loaded.json";
/** A store that is not whole is made anew: nothing is gained by syncing its log. */
const LOAD_DURABILITY = "never";
/** Rows of one COPY. */
const COPY_ROWS = 250_000;

/** The database of a store. */
export function duckdbPath(directory: string): string {
  return join(directory, "beside.duckdb");
}

/** Makes `directory` a stopped store with all tables, flushed, DuckDB's beside it, unless it is one. @throws Error when a row is missing */
export async function loadHeavyStore(directory: string, tables: readonly HeavyTable[], print: (line: string) => void): Promise<void> {
  const mark = Bun.file(join(directory, MARK));
  const wanted = JSON.stringify(tables);
  if ((await mark.exists()) && (await mark.text()) === wanted) return;
  await rm(directory, { recursive: true, force: true });
  const copies = join(directory, "copies");
  await mkdir(copies, { recursive: true });
  const target = varveTarget(LOAD_DURABILITY, new Map([["storage.copy_root", JSON.stringify(copies)]]));
  const running = await target.start(directory);
  const duckdb = await DuckdbSession.open(duckdbPath(directory));
  try {
    for (const table of tables) {
      const started = performance.now();
      for (const statement of table.fill) await duckdb.run(statement);
      const made = performance.now();
      await copyTable(table, duckdb, running, copies);
      const rows = await sqlNumber(running.baseUrl, `SELECT count(*) FROM ${table.name}`);
      if (rows !== table.rows) throw new Error(`Varve shows ${rows} of ${table.rows} rows of ${table.name}`);
      const seconds = [made - started, performance.now() - made].map((ms) => (ms / 1000).toFixed(0));
      print(`${table.name}: ${rows} rows, made in ${seconds[0]} s, loaded in ${seconds[1]} s`);
    }
  } finally {
    duckdb.close();
  }
  await rm(copies, { recursive: true });
  await waitUntilIdle(running.server.pid);
  await running.server.stop();
  await Bun.write(mark, wanted);
}

/** DuckDB's rows to Varve, by Parquet, in pieces that each take less than a statement may. */
async function copyTable({ name, create, rows }: HeavyTable, duckdb: DuckdbSession, running: RunningTarget, copies: string): Promise<void> {
  const path = join(copies, `${name}.parquet`);
  await sqlTable(running.baseUrl, create);
  for (let from = 0; from < rows; from += COPY_ROWS) {
    const piece = `SELECT * FROM ${name} WHERE rowid >= ${from} AND rowid < ${from + COPY_ROWS}`;
    await duckdb.run(`COPY (${piece}) TO '${path}' (FORMAT parquet)`);
    await sqlTable(running.baseUrl, `COPY ${name} FROM '${path}' WITH (FORMAT = 'parquet')`);
  }
  await sqlTable(running.baseUrl, `ADMIN flush_table('${name}')`);
}
