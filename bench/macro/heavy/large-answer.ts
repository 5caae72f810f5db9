/** Answers too large to be compared value by value here: DuckDB reads them, and counts the rows that its own answer does not have. */
import { rm } from "node:fs/promises";
import type { DuckdbSession } from "./duckdb-session.ts";
import type { AnswerFormat } from "./heavy-query.ts";

/** What `format=` of `/v1/sql` is called. */
const FORMAT_NAMES: Readonly<Record<AnswerFormat, string>> = { json: "json", csv: "csvWithNames", arrow: "arrow" };

/** Sends a query and reads its answer, in the default format unless one is named. @throws Error for a status but 200, after `secondsMax` */
export async function fetchAnswer(baseUrl: string, sql: string, format: AnswerFormat | undefined, secondsMax: number): Promise<Uint8Array> {
  const response = await asked(baseUrl, sql, format, secondsMax);
  return await response.bytes();
}

/**
 * The same for its time: each piece is let go as it comes. Keeping 187 MB costs the client 180 ms of processor time that are no query's.
 *
 * @returns bytes of the answer
 */
export async function drainAnswer(baseUrl: string, sql: string, format: AnswerFormat | undefined, secondsMax: number): Promise<number> {
  const response = await asked(baseUrl, sql, format, secondsMax);
  let bytes = 0;
  for await (const piece of response.body ?? []) bytes += piece.length;
  return bytes;
}

async function asked(baseUrl: string, sql: string, format: AnswerFormat | undefined, secondsMax: number): Promise<Response> {
  const body = new URLSearchParams(format === undefined ? { sql } : { sql, format: FORMAT_NAMES[format] });
  const signal = AbortSignal.timeout(secondsMax * 1000);
  const response = await fetch(`${baseUrl}/v1/sql`, { method: "POST", body, signal });
  if (response.status !== 200) throw new Error(`${response.status} ${(await response.text()).slice(0, 300)}`);
  return response;
}

/**
 * How the answer differs from DuckDB's to the same text; undefined when it has the same rows, in any order. Of Arrow only the number of
 * rows is compared. `path` is a file that may be written meanwhile.
 */
export async function largeDifference(
  duckdb: DuckdbSession,
  sql: string,
  format: AnswerFormat,
  answer: Uint8Array,
  path: string,
): Promise<string | undefined> {
  const want = await duckdb.number(`SELECT count(*) FROM (${sql})`);
  if (format === "arrow") {
    const got = arrowRows(answer);
    return got === want ? undefined : `${got} rows, DuckDB ${want}`;
  }
  await Bun.write(path, format === "json" ? jsonLines(answer) : answer);
  const read = format === "json" ? `read_json('${path}', format = 'newline_delimited')` : `read_csv('${path}', header = true)`;
  try {
    const got = await duckdb.number(`SELECT count(*) FROM ${read}`);
    if (got !== want) return `${got} rows, DuckDB ${want}`;
    const own = await duckdb.run(`DESCRIBE ${sql}`);
    const columns = own.getRows().map(([name, type]) => [String(name), String(type)] as const);
    const names = columns.map(([name]) => name).join(", ");
    const plain = columns.map(([name, type]) => (type.startsWith("TIMESTAMP") ? `epoch_ms(${name}) AS ${name}` : name)).join(", ");
    const missing = await duckdb.number(`SELECT count(*) FROM (SELECT ${plain} FROM (${sql}) EXCEPT ALL SELECT ${names} FROM ${read})`);
    return missing === 0 ? undefined : `${missing} of ${want} rows differ`;
  } finally {
    await rm(path, { force: true });
  }
}

/** `{"data":[{…},{…}],…}` with a row a line. No text of the data looks like the seam of two rows. */
function jsonLines(answer: Uint8Array): string {
  const text = new TextDecoder().decode(answer);
  const [start, end] = [text.indexOf("["), text.lastIndexOf("]")];
  return text.slice(start + 1, end).replaceAll("},{", "}\n{");
}

const CONTINUATION = 0xffff_ffff;
/** `MessageHeader.RecordBatch`. */
const RECORD_BATCH = 3;

/** Rows of a stream of Arrow: the lengths of its record batches. Source: the format's Message.fbs. */
export function arrowRows(answer: Uint8Array): number {
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength);
  let rows = 0;
  for (let at = 0; at + 8 <= view.byteLength; ) {
    if (view.getUint32(at, true) !== CONTINUATION) throw new Error(`no message of Arrow begins at byte ${at}`);
    const length = view.getUint32(at + 4, true);
    if (length === 0) break;
    const message = at + 8 + view.getUint32(at + 8, true);
    const type = fieldAt(view, message, 1);
    const header = fieldAt(view, message, 2);
    const body = fieldAt(view, message, 3);
    if (type !== undefined && header !== undefined && view.getUint8(type) === RECORD_BATCH) {
      const count = fieldAt(view, header + view.getUint32(header, true), 0);
      rows += count === undefined ? 0 : Number(view.getBigInt64(count, true));
    }
    at += 8 + length + (body === undefined ? 0 : Number(view.getBigInt64(body, true)));
  }
  return rows;
}

/** Where a field of a flatbuffer's table lies; undefined when it has its default. */
function fieldAt(view: DataView, table: number, field: number): number | undefined {
  const fields = table - view.getInt32(table, true);
  const slot = 4 + 2 * field;
  if (slot >= view.getUint16(fields, true)) return undefined;
  const offset = view.getUint16(fields + slot, true);
  return offset === 0 ? undefined : table + offset;
}
