/** Runs an export: one table or query into a file, or whole databases into a folder. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Batch } from "../../column/batch.ts";
import type { AnsweredRows } from "../common/arrow-answer.ts";
import type { Client } from "../common/client.ts";
import { quotedName, quotedText } from "../common/names.ts";
import { ProgressLine } from "../common/progress.ts";
import { shownCount } from "../common/shown.ts";
import { tableFacts } from "../common/table-facts.ts";
import type { ToolIo } from "../tool.ts";
import { encodedRows, type ExportFormat } from "./formats.ts";
import { outputTo } from "./output.ts";

/** Databases of the server's own, which are made anew by a server. */
const OWN_DATABASES: ReadonlySet<string> = new Set(["information_schema", "pg_catalog", "greptime_private", "mysql", "sys"]);

/** What is exported. */
export interface ExportParts {
  readonly database: string;
  /** Undefined: rows are those of `statement`. */
  readonly table: string | undefined;
  readonly statement: string;
  readonly format: ExportFormat;
  readonly path: string;
}

/** Writes rows to a file. @returns how many @throws Refusal, DbError; there is no such file then, or the one that was */
export async function exportRows(client: Client, parts: ExportParts, io: ToolIo): Promise<number> {
  const { database, table, statement, format, path } = parts;
  const facts = table === undefined || format !== "lines" ? undefined : await tableFacts(client, database, table);
  const answer = await client.run(statement, io.interrupted, database);
  if (answer.kind === "done") throw new Error("cannot export: the statement gives no rows");
  const progress = new ProgressLine(io, table ?? "query");
  const counted = { rows: 0 };
  const rows = { headers: answer.headers, batches: counting(answer, counted, progress) };
  const output = await outputTo(path, io);
  try {
    const line = table === undefined || facts === undefined ? undefined : { name: table, facts };
    for await (const bytes of encodedRows(rows, format, line, io.interrupted)) await output.write(bytes);
    await output.finish();
  } catch (thrown) {
    await output.abort();
    progress.end("not exported");
    throw thrown;
  }
  progress.end(`${table ?? "query"}: ${shownCount(counted.rows)} rows`);
  return counted.rows;
}

async function* counting({ batches }: AnsweredRows, counted: { rows: number }, progress: ProgressLine): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    counted.rows += batch.rowCount;
    progress.update({ rowCount: counted.rows, part: undefined });
    yield batch;
  }
}

/**
 * Writes databases into a folder: `<folder>/<database>/schema.sql`, and a Parquet file a table beside it. Tables whose file is there are
 * left out, so that a second run goes on where the first one ended.
 *
 * @param database undefined: all
 */
export async function exportDatabases(client: Client, database: string | undefined, folder: string, io: ToolIo): Promise<void> {
  const databases = database === undefined ? (await client.rows("SHOW DATABASES")).map(([name]) => String(name)) : [database];
  for (const name of databases) {
    if (database === undefined && OWN_DATABASES.has(name)) continue;
    await exportDatabase(client, name, join(folder, encodeURIComponent(name)), io);
  }
}

/** A table, and how it is made. */
interface Made {
  readonly name: string;
  readonly create: string;
  readonly kind: "physical" | "table" | "logical" | "view";
}

const KINDS = ["physical", "table", "logical", "view"] as const;

async function exportDatabase(client: Client, database: string, folder: string, io: ToolIo): Promise<void> {
  const where = `table_schema = ${quotedText(database)}`;
  const listed = await client.rows(`SELECT table_name, table_type FROM information_schema.tables WHERE ${where} ORDER BY 1`);
  const tables: Made[] = [];
  for (const [name, type] of listed) {
    const isView = String(type).toUpperCase().includes("VIEW");
    if (!isView && String(type).toUpperCase() !== "BASE TABLE") continue;
    const create = await createText(client, database, String(name), isView);
    if (create !== undefined) tables.push({ name: String(name), create, kind: isView ? "view" : kindOf(create) });
  }
  // Each stands on what comes before: logical tables on physical ones, views on tables.
  const ordered = KINDS.flatMap((kind) => tables.filter((table) => table.kind === kind));
  const schema = await outputTo(join(folder, "schema.sql"), io);
  await schema.write(new TextEncoder().encode(ordered.map(({ create }) => `${create.trim()};\n`).join("\n")));
  await schema.finish();
  for (const { name, kind } of ordered) {
    if (kind === "view" || kind === "physical") continue; // Rows of a physical table are those of its logical ones.
    io.interrupted.throwIfAborted();
    const path = join(folder, `${encodeURIComponent(name)}.parquet`);
    if (await isThere(path)) continue;
    await exportRows(client, { database, table: name, statement: `SELECT * FROM ${quotedName(name)}`, format: "parquet", path }, io);
  }
}

async function createText(client: Client, database: string, name: string, isView: boolean): Promise<string | undefined> {
  const rows = await client.rows(`SHOW CREATE ${isView ? "VIEW" : "TABLE"} ${quotedName(name)}`, undefined, database);
  const text = rows[0]?.[1];
  return typeof text === "string" ? text : undefined;
}

function kindOf(create: string): Made["kind"] {
  if (/physical_metric_table/.test(create)) return "physical";
  return /on_physical_table/.test(create) ? "logical" : "table";
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return false;
    throw thrown;
  }
}
