/** What tests send to a server: lines in, SQL out. */

/** A cell of an answer; an integer that a number cannot hold is a bigint. */
export type Cell = string | number | bigint | boolean | null;

/** The rows of one statement. */
export interface Rows {
  readonly columns: readonly string[];
  /** Names of types, e.g. `TimestampNanosecond`. */
  readonly types: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface SqlAnswer {
  readonly output: readonly {
    readonly affectedrows?: number;
    readonly records?: {
      readonly schema: { readonly column_schemas: readonly { readonly name: string; readonly data_type: string }[] };
      readonly rows: readonly (readonly Cell[])[];
    };
  }[];
}

/** What goes with a request. */
export interface RequestOptions {
  /** Besides those that the request needs. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request and reads the whole answer. */
export async function send(url: string, init?: BunFetchRequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Posts lines to the line-protocol endpoint. */
export async function postLines(base: string, lines: string | Uint8Array, options: RequestOptions = {}): Promise<Answer> {
  const { query = {}, headers = {} } = options;
  return await send(`${base}/v1/influxdb/write?${new URLSearchParams(query).toString()}`, {
    method: "POST",
    headers: { ...headers },
    body: lines,
  });
}

/** Posts lines that have to be taken. @throws Error for any answer but 204 */
export async function writeLines(base: string, lines: string | Uint8Array, options: RequestOptions = {}): Promise<void> {
  const { status, text } = await postLines(base, lines, options);
  if (status !== 204) throw new Error(`a write answered ${status}: ${text}`);
}

/** Posts SQL to `/v1/sql`. */
export async function postSql(base: string, sql: string, options: RequestOptions = {}): Promise<Answer> {
  const { query = {}, headers = {} } = options;
  const body = new URLSearchParams({ sql });
  return await send(`${base}/v1/sql?${new URLSearchParams(query).toString()}`, { method: "POST", headers: { ...headers }, body });
}

/** Runs one statement that gives rows. @throws Error when the server refuses it */
export async function queryRows(base: string, sql: string, options: RequestOptions = {}): Promise<Rows> {
  const [output] = await outputs(base, sql, options);
  const records = output?.records;
  if (records === undefined) throw new Error(`${sql} gave no rows: ${JSON.stringify(output)}`);
  const schemas = records.schema.column_schemas;
  return { columns: schemas.map(({ name }) => name), types: schemas.map(({ data_type }) => data_type), rows: records.rows.map(bigCells) };
}

/** Runs one statement that changes something; returns the number of rows it touched. @throws Error when the server refuses it */
export async function execute(base: string, sql: string, options: RequestOptions = {}): Promise<number | undefined> {
  const [output] = await outputs(base, sql, options);
  return output?.affectedrows;
}

async function outputs(base: string, sql: string, options: RequestOptions): Promise<SqlAnswer["output"]> {
  const { status, text } = await postSql(base, sql, options);
  if (status !== 200) throw new Error(`${sql} answered ${status}: ${text}`);
  // Integers that a number may not hold are marked before JSON.parse can round them. No text in the tests looks like one between commas.
  return (JSON.parse(text.replace(/(?<=[[,])(-?\d{16,})(?=[\],])/g, '"\\u0000$1"')) as SqlAnswer).output;
}

function bigCells(row: readonly Cell[]): readonly Cell[] {
  return row.map((cell) => (typeof cell === "string" && cell.startsWith("\0") ? BigInt(cell.slice(1)) : cell));
}
