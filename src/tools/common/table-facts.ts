/** What a tool knows of a table: its columns as they are, their roles, and whether it keeps every row. */
import type { DataType } from "../../column/data-type.ts";
import type { Client } from "./client.ts";
import { quotedName, quotedText } from "./names.ts";

/** A column of a table. */
export interface TableColumn {
  readonly name: string;
  readonly type: DataType;
  readonly role: "tag" | "field" | "timestamp";
}

/** See the file header. */
export interface TableFacts {
  readonly columns: readonly TableColumn[];
  /** Rows of equal tags and time are kept beside each other. */
  readonly keepsEveryRow: boolean;
}

/** The table of that name; undefined: there is none. @throws Refusal */
export async function tableFacts(client: Client, database: string, table: string): Promise<TableFacts | undefined> {
  const where = `table_schema = ${quotedText(database)} AND table_name = ${quotedText(table)}`;
  const rows = await client.rows(`SELECT column_name, semantic_type FROM information_schema.columns WHERE ${where}`);
  if (rows.length === 0) return undefined;
  const roles = new Map(rows.map(([name, role]) => [String(name), String(role).toLowerCase()]));
  const answer = await client.run(`SELECT * FROM ${quotedName(table)} LIMIT 0`, undefined, database);
  if (answer.kind === "done") return undefined;
  await answer.batches.return(undefined);
  const columns = answer.headers.map(({ name, type }): TableColumn => {
    const role = roles.get(name);
    return { name, type, role: role === "tag" || role === "timestamp" ? role : "field" };
  });
  return { columns, keepsEveryRow: (await appendTables(client, database)).has(table) };
}

/** Tables of a database that keep every row. @throws Refusal */
export async function appendTables(client: Client, database: string): Promise<ReadonlySet<string>> {
  const where = `table_schema = ${quotedText(database)} AND create_options LIKE '%append_mode=true%'`;
  const rows = await client.rows(`SELECT table_name FROM information_schema.tables WHERE ${where}`);
  return new Set(rows.map(([name]) => String(name)));
}
