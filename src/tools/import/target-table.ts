/** The table that rows of a file go into: the one that is there, or one made of the file's columns. */
import { type DataType, isNested, sqlName, STRING } from "../../column/data-type.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import type { CopyOptions } from "../../query/copy/copy-options.ts";
import { fileColumns } from "../../query/copy/file-reader.ts";
import type { FoundColumn } from "../../query/copy/file-rows.ts";
import type { OpenFile } from "../../table/file-access.ts";
import type { Client } from "../common/client.ts";
import { quotedName } from "../common/names.ts";
import { ownPace } from "../common/pace.ts";
import { type TableColumn, type TableFacts, tableFacts } from "../common/table-facts.ts";

/** What flags say of a table that has to be made. */
export interface TableWishes {
  /** Its time index; undefined: the first column of times. */
  readonly time: string | undefined;
  /** Its tags; undefined: nothing was said. */
  readonly tags: readonly string[] | undefined;
  /** Whether it keeps every row. */
  readonly append: boolean;
  /** Unit of whole numbers that are times: digits of the fraction of seconds. */
  readonly timeDigits: 0 | 3 | 6 | 9;
}

/** The columns of the table that a file's rows go into. The table is made where it is missing. @throws Refusal, DbError, ConfigError */
export async function targetColumns(
  client: Client,
  database: string,
  table: string,
  file: OpenFile,
  options: CopyOptions,
  wishes: TableWishes,
): Promise<readonly TableColumn[]> {
  const found = await fileColumns(file, options, ownPace());
  let facts = await tableFacts(client, database, table);
  if (facts === undefined) {
    await client.run(createText(table, found, wishes), undefined, database);
    facts = await tableFacts(client, database, table);
  }
  if (facts === undefined) throw new Error(`cannot make table ${table}: it is not there after it was made`);
  return columnsOf(facts, found, table, file.location);
}

function columnsOf(facts: TableFacts, found: readonly FoundColumn[], table: string, location: string): readonly TableColumn[] {
  const columns = new Map(facts.columns.map((column) => [column.name, column]));
  const strange = found.find(({ name }) => !columns.has(name));
  if (strange !== undefined) {
    throw new ConfigError(
      `cannot import ${location}: table ${table} has no column ${strange.name}; it has ${[...columns.keys()].join(", ").slice(0, 300)}`,
    );
  }
  const names = new Set(found.map(({ name }) => name));
  const time = facts.columns.find(({ role }) => role === "timestamp");
  if (time !== undefined && !names.has(time.name)) {
    throw new ConfigError(`cannot import ${location}: it has no column ${time.name}, the time index of ${table}`);
  }
  return facts.columns.filter(({ name }) => names.has(name));
}

function createText(table: string, found: readonly FoundColumn[], { time, tags, append, timeDigits }: TableWishes): string {
  const usage = (why: string): ConfigError => new ConfigError(`there is no table ${table}, and it cannot be made: ${why}`, EXIT_USAGE);
  const index = found.find((column) => (time === undefined ? column.type.kind === "timestamp" : column.name === time));
  if (index === undefined) throw usage(time === undefined ? "no column holds times; name one by --time" : `the file has no column ${time}`);
  const stranger = tags?.find((tag) => !found.some(({ name }) => name === tag));
  if (stranger !== undefined) throw usage(`the file has no column ${stranger}, which --tags names`);
  if (tags === undefined && !append) {
    throw usage(
      "say by --tags <columns> which columns tell series apart (of rows with equal tags and time one stays), or keep all by --append",
    );
  }
  const indexType = index.type.kind === "timestamp" ? sqlName(index.type) : `TIMESTAMP(${timeDigits})`;
  const lines = found.map((column) =>
    column === index
      ? `${quotedName(column.name)} ${indexType} TIME INDEX`
      : `${quotedName(column.name)} ${sqlName(madeType(column.type))}`,
  );
  if (tags !== undefined && tags.length > 0) lines.push(`PRIMARY KEY (${tags.map(quotedName).join(", ")})`);
  return `CREATE TABLE ${quotedName(table)} (${lines.join(", ")})${append ? " WITH ('append_mode' = 'true')" : ""}`;
}

/** The type of a column for what a file holds: lists, structs and maps are JSON, what has no type is text. */
function madeType(type: DataType): DataType {
  if (isNested(type)) return { kind: "json" };
  return type.kind === "null" || type.kind === "interval" ? STRING : type;
}
