/**
 * A request of OTLP from its bytes into tables, for every server that takes them.
 *
 *   signal.open (headers) ─► admit ─► decode ─► write ─► what was kept, what was refused and why
 */
import type { Counter } from "prom-client";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { ProtoError } from "../../../format/proto/reader.ts";
import { OtlpJsonError } from "../../../ingest/otlp/json.ts";
import { refusedPart } from "../../../table/partly-written.ts";
import type { IngestDb } from "../../../db/db.ts";
import type { AcceptedWrite } from "../accepted-write.ts";
import { decodedAndWritten } from "../decoded-and-written.ts";
import type { OtlpAsk, OtlpOutcome, OtlpPath } from "./signal.ts";

/** What became of a request; `isAllRefused`: nothing is kept, and its signal makes that an error. */
export type ReceivedOtlp = OtlpOutcome & { readonly isAllRefused: boolean };

/** What a write needs beside its request. */
export interface OtlpTarget {
  readonly db: IngestDb;
  readonly rows: Counter<"db">;
}

/**
 * Takes a request. Resolves when it is durable.
 *
 * @param protobuf makes its bytes, which last until then; called again when a table changed in between
 * @throws DbError InvalidArguments when they are no request, and those of `Db.admit` and `Db.write`
 */
export async function receiveOtlp(
  ask: OtlpAsk,
  path: OtlpPath,
  accepted: AcceptedWrite,
  protobuf: () => Uint8Array,
  { db, rows }: OtlpTarget,
): Promise<ReceivedOtlp> {
  const { database: name, signal } = ask;
  if (path.kind === "whole") {
    const outcome = await path.write((read) => decoded(() => read(protobuf())));
    rows.inc({ db: name }, outcome.rowCount);
    return { ...outcome, isAllRefused: false };
  }
  return decodedAndWritten(async () => {
    await db.admit(signal);
    const write = decoded(() => path.decode(protobuf()));
    // Read before the write: the result is borrowed, and other requests decode while this one waits for the disk.
    const { rowCount, rejected } = write.result;
    const refused = rowCount > 0 ? await refusedPart(db.write(write.result.batch, accepted.session, write.options)) : undefined;
    if (write.after !== undefined && write.after.batch.tables.length > 0)
      await db.write(write.after.batch, accepted.session, write.after.options);
    rows.inc({ db: name }, rowCount - (refused?.refusedRows ?? 0));
    if (refused !== undefined) rejected.add(refused.message, refused.refusedRows);
    const message = refused === undefined ? (write.message ?? rejected.message) : rejected.message;
    const isAllRefused = rowCount === 0 && rejected.count > 0 && write.refusesAllRejected === true;
    return { rowCount, rejectedCount: rejected.count, message, isAllRefused };
  });
}

/** Runs a decoder. @throws DbError InvalidArguments when the body is no request */
function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof ProtoError || error instanceof OtlpJsonError)) throw error;
    throw new DbError(StatusCode.InvalidArguments, `Failed to decode OTLP request: ${error.message}`, { cause: error });
  }
}
