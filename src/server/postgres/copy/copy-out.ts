/** COPY … TO STDOUT: rows of a table or a query as text, CSV or binary, in CopyData messages. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { StatementResult } from "../../../query/statement-result.ts";
import { beginMessage, endMessage, tell, tellText } from "../codec.ts";
import { Tell } from "../packets.ts";
import { Format, rowsAs, rowStream } from "../results.ts";
import type { Talk } from "../talk.ts";
import type { CopyStatement } from "./copy-syntax.ts";
import { copyRowWriter, writeHeader } from "./copy-rows.ts";

/** What a binary copy begins with: a signature, flags, the length of an extension. */
export const BINARY_HEADER: Uint8Array = new TextEncoder().encode(`PGCOPY\n#\r\n\0${"\0".repeat(8)}`);
BINARY_HEADER[BINARY_HEADER.indexOf(0x23)] = 0xff; // which no text has

/** The query whose rows are copied. */
function queryOf({ source, isQuery, columns }: CopyStatement): string {
  return isQuery ? source : `SELECT ${columns === undefined ? "*" : columns.join(", ")} FROM ${source}`;
}

/** Runs a COPY. @throws DbError, WireFailure */
export async function copyOut(statement: CopyStatement, talk: Talk): Promise<void> {
  const { session, parts } = talk;
  const run = session.begin();
  const results = parts.db.sql(queryOf(statement), session)[Symbol.asyncIterator]();
  try {
    const { value: result } = await results.next();
    await sendRows(result, statement, talk, run.signal);
  } finally {
    run.pause();
    await results.return?.();
  }
}

async function sendRows(result: StatementResult | undefined, { form }: CopyStatement, talk: Talk, signal: AbortSignal): Promise<void> {
  const { outgoing, session, parts } = talk;
  if (result?.kind !== "rows") throw new DbError(StatusCode.InvalidArguments, "Invalid SQL, error: COPY TO takes a query that gives rows");
  const { headers } = result;
  const isBinary = form.format === "binary";
  const rows = rowStream(result, [isBinary ? Format.Binary : Format.Text], session.settings);
  try {
    const place = beginMessage(outgoing, Tell.CopyOut);
    outgoing.u8(isBinary ? 1 : 0);
    outgoing.u16be(headers.length);
    for (const _ of headers) outgoing.u16be(isBinary ? 1 : 0);
    endMessage(outgoing, place);
    if (isBinary) data(talk, BINARY_HEADER);
    else writeHeader(outgoing, headers, form);
    const writer = isBinary ? rowsAs(Tell.CopyData) : copyRowWriter(form, headers);
    const { rowCount } = await rows.send({ outgoing, scheduler: parts.scheduler }, signal, 0, writer);
    if (isBinary) data(talk, Uint8Array.of(0xff, 0xff));
    tell(outgoing, Tell.CopyDone);
    talk.notices();
    tellText(outgoing, Tell.CommandComplete, `COPY ${rowCount}`);
  } finally {
    await rows.close();
  }
}

function data({ outgoing }: Talk, bytes: Uint8Array): void {
  const place = beginMessage(outgoing, Tell.CopyData);
  outgoing.raw(bytes);
  endMessage(outgoing, place);
}
