/**
 * What is asked of a client's own tables in a rehearsal: the newest rows, then points of their series in the hour before, as dashboards
 * ask them. Whatever their size that is a page or two of a column: a table of many series or with files that are not open is left out
 * before (`engine/recovery/open-ahead.ts`).
 */
import type { DataType } from "./column/data-type.ts";
import { quoteName } from "./query/sql/print/print-name.ts";
import { type RehearsedRequest, sqlRequest, textOf } from "./rehearsed-requests.ts";
import { type TableSchema, timeIndexOf } from "./table/schema.ts";

/** Fields that are read at most. */
const FIELDS_MAX = 10;
/** Rows that say which series are asked for. */
const ROWS = 8;
const HOUR_MS = 3_600_000;

/** The text of a tag, or that it has none. */
type TagValue = string | null;

/** Milliseconds, then tags. */
type AnsweredRow = readonly [millis: number, ...tags: TagValue[]];

/** Rows of a table: whose they are, and the time of the newest. */
export interface NewestRows {
  /** Values of all tags of each row; not empty. */
  readonly tags: readonly (readonly TagValue[])[];
  readonly millis: number;
}

/** Asks for the newest rows; undefined for a table that is not asked: one without tags or numbers, or whose tags are not text. */
export function newestRowsRequest(schema: TableSchema): RehearsedRequest | undefined {
  if (tagsOf(schema).length === 0 || numbersOf(schema).length === 0) return undefined;
  if (tagsOf(schema).some(({ type }) => type.kind !== "string")) return undefined;
  const time = quoteName(timeIndexOf(schema).name);
  const tags = tagsOf(schema).map(({ name }) => quoteName(name));
  return sqlRequest(
    `SELECT CAST(${time} AS TIMESTAMP(3)) AS at, ${tags.join(", ")} FROM ${tableOf(schema)} ORDER BY ${time} DESC LIMIT ${ROWS}`,
    schema.database,
  );
}

/** The rows that the server answered to `newestRowsRequest`; undefined: there are none. */
export function newestRowsOf(answer: string): NewestRows | undefined {
  const parsed = JSON.parse(answer) as { readonly output: readonly { readonly records: { readonly rows: readonly AnsweredRow[] } }[] };
  const rows = parsed.output[0]?.records.rows ?? [];
  const [newest] = rows;
  return newest === undefined ? undefined : { tags: rows.map(([, ...tags]) => tags), millis: newest[0] };
}

/** Questions about the series of each of the newest rows, and about all of them together. */
export function seriesReads(schema: TableSchema, { tags, millis }: NewestRows): readonly RehearsedRequest[] {
  return tags.flatMap((_, i) => readsOf(schema, { tags: [...tags.slice(i), ...tags.slice(0, i)], millis }));
}

/** Questions about the series of the first row, and about all together. */
function readsOf(schema: TableSchema, { tags, millis }: NewestRows): readonly RehearsedRequest[] {
  const time = quoteName(timeIndexOf(schema).name);
  const from = tableOf(schema);
  const numbers = numbersOf(schema).slice(0, FIELDS_MAX);
  const [first = ""] = numbers;
  const one = tagsOf(schema).map(({ name }, i) => conditionOf(name, [tags[0]?.[i] ?? null]));
  const within = (hours: number): string => `${time} >= '${textOf(millis - hours * HOUR_MS)}' AND ${time} < '${textOf(millis)}'`;
  const where = (hours: number): string => `${one.join(" AND ")} AND ${within(hours)}`;
  const calls = numbers.map((name) => `max(${name})`).join(", ");
  const minute = `date_trunc('minute', ${time})`;
  const hour = `date_trunc('hour', ${time})`;
  return [
    `SELECT max(${first}), ${minute} FROM ${from} WHERE ${where(1)} GROUP BY ${minute}`,
    `SELECT ${calls}, ${minute} FROM ${from} WHERE ${where(0.5)} GROUP BY ${minute}`,
    `SELECT ${calls}, ${hour} FROM ${from} WHERE (${someOf(schema, tags)}) AND ${within(1)} GROUP BY ${hour}`,
    `SELECT * FROM ${from} WHERE ${first} > 90.0 AND ${where(1)}`,
  ].map((text) => sqlRequest(text, schema.database));
}

/** A condition on the tag that tells most of the rows apart. */
function someOf(schema: TableSchema, rows: NewestRows["tags"]): string {
  const values = tagsOf(schema).map(({ name }, i) => ({ name, found: [...new Set(rows.map((row) => row[i] ?? null))] }));
  const { name, found } = values.reduce((best, each) => (each.found.length > best.found.length ? each : best));
  return conditionOf(name, found);
}

function conditionOf(name: string, values: readonly TagValue[]): string {
  const texts = values.map((value) => (value === null ? "IS NULL" : `= '${value.replaceAll("'", "''")}'`));
  return texts.map((text) => `${quoteName(name)} ${text}`).join(" OR ");
}

function tableOf({ name }: TableSchema): string {
  return quoteName(name);
}

function tagsOf({ columns }: TableSchema): readonly { readonly name: string; readonly type: DataType }[] {
  return columns.filter(({ semantic }) => semantic === "tag");
}

function numbersOf({ columns }: TableSchema): readonly string[] {
  return columns.flatMap(({ name, semantic, type }) =>
    semantic === "field" && (type.kind === "int" || type.kind === "float") ? [quoteName(name)] : [],
  );
}
