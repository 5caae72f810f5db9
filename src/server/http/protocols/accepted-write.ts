/**
 * What every write endpoint does around its decoder: who may write, to which database, with which hints, how a missing table is made.
 *
 *   acceptWrite (permission, database) ─► body ─► admit ─► decode ─► write, in the turn of the decoding (decoded-and-written.ts)
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { IngestDb } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import type { WriteOptions } from "../../../table/write-batch.ts";
import { readBody } from "../body/body.ts";
import { sessionOf } from "../context.ts";
import { databaseExists } from "../../common/database-name.ts";
import type { Exchange } from "../exchange.ts";
import { autoCreateOf, hintedTableOptions, type Hints, readHints } from "../hints.ts";
import type { IngestServerOptions } from "../options.ts";
import type { Reply } from "../reply.ts";

/** How tables are made (contract ingest.md 0.7). "log" and "trace" tables keep every row, "logical" ones the newest. */
export type Creation = "physical" | "logical" | "last_non_null" | "log" | "trace";

/** A request that may write. */
export interface AcceptedWrite {
  readonly session: Session;
  readonly hints: Hints;
}

/**
 * Checks permission and database.
 *
 * @throws DbError PermissionDenied, DatabaseNotFound
 */
export function acceptWrite(exchange: Exchange, db: IngestDb): AcceptedWrite {
  const session = sessionOf(exchange);
  db.authorize(session, "write");
  checkDatabase(exchange.database, db);
  return { session, hints: readHints(exchange.request.headers) };
}

/** @throws DbError DatabaseNotFound */
function checkDatabase(database: string, db: IngestDb): void {
  // In lower case, since Telegraf looks for these words before it makes the database and tries again.
  if (!databaseExists(database, db)) throw new DbError(StatusCode.DatabaseNotFound, `database not found: ${database}`);
}

/**
 * The body under the server's limit, in its turn to be decoded, or the answer that refuses it. It lasts until the handler has answered.
 *
 * @param refuse the answer to a body that cannot be read, in the protocol's own shape
 */
export async function writeBody(
  exchange: Exchange,
  options: IngestServerOptions,
  decode: boolean,
  refuse?: (why: string) => Reply,
): Promise<Uint8Array | Reply> {
  const limits = { bytesMax: options.bodyBytesMax, decode, ...(refuse === undefined ? {} : { refuse }) };
  const body = await readBody(exchange, limits);
  if (!(body instanceof Uint8Array)) return body;
  exchange.share.hold(body);
  await options.scheduler.decode(body.length);
  return body;
}

/**
 * How the write makes tables.
 *
 * @param semantics `greptime.semantic.*` options, in front of which hints go
 * @throws DbError InvalidArguments for a hint whose value cannot be used
 */
export function writeOptionsOf(
  hints: Hints,
  options: IngestServerOptions,
  creation: Creation,
  semantics: Readonly<Record<string, string>>,
): WriteOptions {
  const tableOptions: Record<string, string> = { comment: "Created on insertion", ...semantics, ...hintedTableOptions(hints) };
  if (creation === "log" || creation === "trace") tableOptions["append_mode"] = "true";
  else if (creation !== "logical")
    Object.assign(tableOptions, mergingOf(hints, creation === "physical" ? undefined : options.influx.defaultMergeMode));
  return { autoCreate: autoCreateOf(hints, options.autoCreateTable), tableOptions };
}

function mergingOf(hints: Hints, fallback: string | undefined): Record<string, string> {
  const append = hints.get("append_mode");
  if (append !== undefined && append !== "true" && append !== "false") {
    throw new DbError(StatusCode.InvalidArguments, `cannot use the hint append_mode=${append}: it must be true or false`);
  }
  if (append === "true") return { append_mode: "true" }; // rows are never merged, so a merge mode would say nothing
  const merge = hints.get("merge_mode") ?? fallback;
  if (merge === undefined) return {};
  if (merge !== "last_row" && merge !== "last_non_null") {
    throw new DbError(StatusCode.InvalidArguments, `cannot use the hint merge_mode=${merge}: it must be last_row or last_non_null`);
  }
  return { merge_mode: merge };
}
