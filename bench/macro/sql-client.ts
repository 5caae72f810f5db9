/** SQL over HTTP, as any client of Varve would send it. */

/** A cell as the JSON answer has it; integers beyond 2^53 are text, so that no digit is lost. */
export type Cell = string | number | boolean | null;

/** A column of an answer. */
export interface ResultColumn {
  readonly name: string;
  /** The server's name of the type, e.g. `TimestampNanosecond`. */
  readonly type: string;
}

/** The rows of one statement. */
export interface ResultTable {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly Cell[])[];
}

interface Answer {
  readonly output?: readonly {
    readonly records?: {
      readonly schema: { readonly column_schemas: readonly { readonly name: string; readonly data_type: string }[] };
      readonly rows: readonly (readonly Cell[])[];
    };
  }[];
}

/** The server answered, but not with a result. The message holds its text. */
export class SqlError extends Error {
  override readonly name = "SqlError";
}

/** Part of the message of a `SqlError` when the table does not exist. */
export const TABLE_NOT_FOUND = '"code":4001';

/**
 * Sends one statement to `/v1/sql` and returns the body of the answer.
 * @throws SqlError for any status but 200
 */
export async function sqlBody(baseUrl: string, sql: string, signal?: AbortSignal): Promise<Uint8Array> {
  const body = new URLSearchParams({ sql });
  const response = await fetch(`${baseUrl}/v1/sql?db=public`, { method: "POST", body, ...(signal === undefined ? {} : { signal }) });
  const bytes = await response.bytes();
  if (response.status === 200) return bytes;
  throw new SqlError(`cannot run ${sql.slice(0, 200)}: ${response.status} ${new TextDecoder().decode(bytes).slice(0, 500)}`);
}

/** Reads an answer of one statement; a statement without rows gives an empty table. */
export function parseAnswer(body: Uint8Array): ResultTable {
  // Nanoseconds exceed 2^53: long integers become text before the parser can round them. No string of the data looks like `,123…,`.
  const text = new TextDecoder().decode(body).replace(/(?<=[[,])(-?\d{16,})(?=[\],])/g, '"$1"');
  const records = (JSON.parse(text) as Answer).output?.[0]?.records;
  if (records === undefined) return { columns: [], rows: [] };
  return { columns: records.schema.column_schemas.map((column) => ({ name: column.name, type: column.data_type })), rows: records.rows };
}

/** Runs one statement. @throws SqlError when the server refuses it */
export async function sqlTable(baseUrl: string, sql: string, signal?: AbortSignal): Promise<ResultTable> {
  return parseAnswer(await sqlBody(baseUrl, sql, signal));
}

/** Runs a query of one row and one column that is a number. @throws Error when the answer is another */
export async function sqlNumber(baseUrl: string, sql: string): Promise<number> {
  const { rows } = await sqlTable(baseUrl, sql);
  const cell = rows[0]?.[0];
  if (typeof cell !== "number")
    throw new Error(`cannot read the answer of ${sql}: got ${JSON.stringify(rows.slice(0, 3))}, want one number`);
  return cell;
}
