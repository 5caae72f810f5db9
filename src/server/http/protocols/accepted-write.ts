/**
 * What every write endpoint does around its decoder: who may write, to which database, with which hints, how a missing table is made.
 *
 *   acceptWrite (permission, database) ─► body ─► admit ─► decode ─► write, in the turn of the decoding (decoded-and-written.ts)
 */
import type { IngestDb } from "../../../db/db.ts";
import { readBody } from "../body/body.ts";
import { sessionOf } from "../context.ts";
import type { Exchange } from "../exchange.ts";
import { type AcceptedWrite, acceptedWrite } from "../../common/accepted-write.ts";
import type { IngestServerOptions } from "../options.ts";
import type { Reply } from "../reply.ts";

/**
 * Checks permission and database.
 *
 * @throws DbError PermissionDenied, DatabaseNotFound
 */
export function acceptWrite(exchange: Exchange, db: IngestDb): AcceptedWrite {
  return acceptedWrite(sessionOf(exchange), exchange.request.headers, db);
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
