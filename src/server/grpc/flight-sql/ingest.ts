/**
 * CommandStatementIngest: rows of an Arrow stream into a table, which is made first, or anew, where the command says so.
 *
 * A table that is made here has the stream's columns. Its time index is the column that the option `time_index` names, else the first
 * timestamp; where there is none, `greptime_timestamp`, the time of arrival. Its tags are the columns that the option `tags` names, split
 * at commas, else those that come as dictionaries. It keeps every row (`append_mode`), unless an option says otherwise; options of other
 * names are those of the table (`ttl`, `merge_mode`).
 *
 * Rows are durable in parts: those before a stream that is cut, or a row that is wrong, stay.
 */
import {
  type CommandStatementIngest,
  CommandStatementIngest_TableDefinitionOptions_TableExistsOption as Exists,
  CommandStatementIngest_TableDefinitionOptions_TableNotExistOption as NotExist,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, displayName, sqlName, STRING } from "../../../column/data-type.ts";
import { sliceBatch } from "../../../column/slice.ts";
import type { Session } from "../../../db/session.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { tableNotFound } from "../../../table/not-found.ts";
import { quotedName } from "../../common/quoted-name.ts";
import type { ArrowInput, InputColumn } from "./arrow-input.ts";
import type { FlightCaller } from "./caller.ts";
import { type FlightSqlParts, refuseTransaction } from "./statements.ts";

/** Time index of tables whose rows bring no time. */
const TIME_OF_ARRIVAL = `greptime_timestamp TIMESTAMP(3) NOT NULL DEFAULT current_timestamp() TIME INDEX`;
/** Options that are about columns. */
const TIME_INDEX = "time_index";
const TAGS = "tags";

/** Rows that are taken at a time. Reason: their columns are made at once on the thread, 1.8 µs a row; others get a turn between. */
const STEP_ROWS = 8192;

const wrong = (why: string): DbError => new DbError(StatusCode.InvalidArguments, `cannot ingest: ${why}`);
const quotedText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Takes the rows. @returns how many @throws DbError */
export async function ingest(
  command: CommandStatementIngest,
  input: ArrowInput | undefined,
  caller: FlightCaller,
  parts: FlightSqlParts,
): Promise<number> {
  refuseTransaction(command.transactionId);
  if (command.table === "") throw wrong("the command names no table");
  if (command.temporary) throw new DbError(StatusCode.Unsupported, "cannot ingest: there are no temporary tables; name a table to keep");
  if (command.catalog !== undefined && command.catalog !== "" && command.catalog !== CATALOG_NAME)
    throw wrong(`there is one catalog, ${CATALOG_NAME}; leave the catalog out`);
  if (input === undefined) throw wrong("the stream has no schema");
  const own = parts.sessions.sessionOf(caller);
  const session = command.schema === undefined || command.schema === "" ? own : { ...own, database: command.schema };
  try {
    await prepareTable(command, input.columns, session, parts);
  } catch (thrown) {
    session.ingest?.failed();
    throw thrown;
  }
  const columns = input.columns.map(({ name }) => name);
  const { table } = command;
  const intake = parts.db.intake([session.database, table], columns, `INGEST INTO ${quotedName(table)}`, session);
  try {
    const types = input.columns.map(({ type }) => type);
    for await (const batch of input.batches) {
      for (let from = 0; from < batch.rowCount; from += STEP_ROWS) {
        const { vectors, rowCount } = sliceBatch(batch, from, Math.min(batch.rowCount, from + STEP_ROWS));
        await intake.add(vectors, types, rowCount);
      }
    }
    return await intake.finish();
  } finally {
    await intake.close();
  }
}

/** Makes the table, or refuses, as the command says. @throws DbError TableAlreadyExists, TableNotFound, InvalidArguments */
async function prepareTable(command: CommandStatementIngest, columns: readonly InputColumn[], session: Session, parts: FlightSqlParts) {
  const { table, tableDefinitionOptions: { ifExists, ifNotExist } = {} } = command;
  const { db } = parts;
  if (!Object.values(Exists).includes(ifExists ?? 0) || (ifExists ?? 0) === Exists.UNSPECIFIED)
    throw wrong("the command does not say what to do where the table exists (if_exists)");
  if (!Object.values(NotExist).includes(ifNotExist ?? 0) || (ifNotExist ?? 0) === NotExist.UNSPECIFIED)
    throw wrong("the command does not say what to do where the table does not exist (if_not_exist)");
  const name = `${quotedName(session.database)}.${quotedName(table)}`;
  const isThere = db.table(table, session) !== undefined;
  if (isThere && ifExists === Exists.FAIL)
    throw new DbError(
      StatusCode.TableAlreadyExists,
      `Table already exists: ${session.database}.${table}; append to it, or choose another name`,
    );
  if (!isThere && ifNotExist === NotExist.FAIL) throw tableNotFound(session.database, table);
  const isReplaced = isThere && ifExists === Exists.REPLACE;
  if (isThere && !isReplaced) return;
  const definition = tableText(name, columns, command.options);
  if (isReplaced) await run(`DROP TABLE ${name}`, session, parts);
  await run(definition, session, parts);
}

async function run(text: string, session: Session, { db }: FlightSqlParts): Promise<void> {
  for await (const result of db.sql(text, session)) if (result.kind === "rows") for await (const batch of result.batches) void batch;
}

/** CREATE TABLE for a stream. @throws DbError InvalidArguments for what no table can hold */
export function tableText(name: string, columns: readonly InputColumn[], options: Readonly<Record<string, string>>): string {
  const { [TIME_INDEX]: asked, [TAGS]: tagText, ...others } = options;
  const names = new Set(columns.map((column) => column.name));
  const timeIndex = asked ?? columns.find(({ type }) => type.kind === "timestamp")?.name;
  if (asked !== undefined && columns.find((column) => column.name === asked)?.type.kind !== "timestamp")
    throw wrong(`the option ${TIME_INDEX} names "${asked}", which is no timestamp column of the stream`);
  const tags =
    tagText === undefined ? columns.filter(({ isDictionary }) => isDictionary).map((column) => column.name) : splitNames(tagText);
  for (const tag of tags) if (!names.has(tag)) throw wrong(`the option ${TAGS} names "${tag}", which the stream has not`);
  const lines = columns.map((column) => {
    const type = `${quotedName(column.name)} ${sqlName(columnType(column))}`;
    return column.name === timeIndex ? `${type} NOT NULL TIME INDEX` : type;
  });
  if (timeIndex === undefined) lines.push(TIME_OF_ARRIVAL);
  if (tags.length > 0) lines.push(`PRIMARY KEY (${tags.map(quotedName).join(", ")})`);
  const modes = { append_mode: others["merge_mode"] === undefined ? "true" : "false", ...others };
  const settings = Object.entries(modes).map(([key, value]) => `${quotedText(key)} = ${quotedText(value)}`);
  return `CREATE TABLE ${name} (${lines.join(", ")}) WITH (${settings.join(", ")})`;
}

const splitNames = (text: string): readonly string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** The type of the column that takes a stream's. A column without any value is text. */
function columnType({ name, type }: InputColumn): DataType {
  switch (type.kind) {
    case "null":
      return STRING;
    case "time":
    case "duration":
    case "interval":
    case "list":
    case "struct":
    case "map":
      throw wrong(
        `column "${name}" is of type ${displayName(type)}, which tables cannot hold; cast it, or make the table and append to it`,
      );
    default:
      return type;
  }
}
