/**
 * A request of OTLP from its bytes into tables, for every server that takes them.
 *
 *   signal.open (headers) ─► admit ─► decode ─► write ─► what was kept, what was refused and why
 *   protobuf of more than 4 MiB ─► parts of 1 MiB, others in between ─► all of them looked at ─► admit, decode, write: one after the other
 *
 * A large request that cannot be read is refused whole, too, but by a pipeline; what the engine refuses or the disk fails at in between
 * leaves the parts before it.
 */
import type { Counter } from "prom-client";
import { DbError } from "../../../base/error.ts";
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { ProtoError } from "../../../format/proto/reader.ts";
import { OtlpJsonError } from "../../../ingest/otlp/json.ts";
import { partsOf, type RecordForm } from "../../../ingest/otlp/parts.ts";
import { refusedPart } from "../../../table/partly-written.ts";
import type { IngestDb } from "../../../db/db.ts";
import type { AcceptedWrite } from "../accepted-write.ts";
import { decodedAndWritten } from "../../../table/decoded-and-written.ts";
import type { OtlpAsk, OtlpBody, OtlpOutcome, OtlpPath } from "./signal.ts";

/**
 * A request of more bytes is taken in parts. Reason: one of 60 MiB held the thread for 120 (metrics) to 450 ms (traces) of its own time.
 * Its parts are decoded twice, since none may be written before all can be read.
 */
const LARGE_BYTES: number = 4 * 1024 * 1024;
/** Bytes of a part: some 8 ms. */
const PART_BYTES: number = 1024 * 1024;
/** Parts of a request that wait for the disk. Reason: each holds its rows a second time; alone, each would have a sync of its own. */
const PARTS_UNDER_WAY_MAX = 8;
/** Parts whose reasons for refused records are told. */
const MESSAGES_MAX = 8;

/** What became of a request; `isAllRefused`: nothing is kept, and its signal makes that an error. */
export type ReceivedOtlp = OtlpOutcome & { readonly isAllRefused: boolean };

/** A request in protobuf: its bytes, which last until it is taken, or what makes them, called again when a table changed in between. */
export type OtlpRequest = Uint8Array | (() => Uint8Array);

/** What a write needs beside its request. */
export interface OtlpTarget {
  readonly db: IngestDb;
  readonly scheduler: Scheduler;
  readonly rows: Counter<"db">;
}

/** A request that is being taken. */
interface Taken {
  readonly ask: OtlpAsk;
  readonly path: OtlpPath;
  readonly accepted: AcceptedWrite;
  readonly target: OtlpTarget;
}

/**
 * Takes a request. Resolves when it is durable.
 *
 * @param form what its records are
 * @throws DbError InvalidArguments when it is none, and those of `Db.admit` and `Db.write`
 */
export async function receiveOtlp(taken: Taken, request: OtlpRequest, form: RecordForm): Promise<ReceivedOtlp> {
  if (request instanceof Uint8Array && request.length > LARGE_BYTES) return receiveInParts(taken, request, form);
  const { path } = taken;
  return path.kind === "whole" ? receiveWhole(taken, path, request) : receiveDecoded(taken, () => path.begin(), request);
}

async function receiveWhole(
  { ask, target }: Taken,
  path: OtlpPath & { readonly kind: "whole" },
  request: OtlpRequest,
): Promise<ReceivedOtlp> {
  const outcome = await path.write((read) => decoded(() => read(bytesOf(request))));
  target.rows.inc({ db: ask.database }, outcome.rowCount);
  return { ...outcome, isAllRefused: false };
}

/** @param begin the body, again when a table changed in between */
function receiveDecoded({ ask, accepted, target }: Taken, begin: () => OtlpBody, request: OtlpRequest): Promise<ReceivedOtlp> {
  const { db, rows } = target;
  let written: { readonly refused: Awaited<ReturnType<typeof refusedPart>> } | undefined;
  return decodedAndWritten(async () => {
    await db.admit(ask.signal);
    const write = decoded(() => begin().decode(bytesOf(request)));
    // Read before the write: the result is borrowed, and other requests decode while this one waits for the disk.
    const { rowCount, rejected } = write.result;
    // What comes after may have to be decoded again: these rows are there then.
    const writes = rowCount > 0 && written === undefined;
    written ??= { refused: writes ? await refusedPart(db.write(write.result.batch, accepted.session, write.options)) : undefined };
    const { refused } = written;
    if (write.after !== undefined && write.after.batch.tables.length > 0)
      await db.write(write.after.batch, accepted.session, write.after.options);
    rows.inc({ db: ask.database }, rowCount - (refused?.refusedRows ?? 0));
    if (refused !== undefined) rejected.add(refused.message, refused.refusedRows);
    const message = refused === undefined ? (write.message ?? rejected.message) : rejected.message;
    const isAllRefused = rowCount === 0 && rejected.count > 0 && write.refusesAllRejected === true;
    return { rowCount, rejectedCount: rejected.count, message, isAllRefused };
  });
}

async function receiveInParts(taken: Taken, request: Uint8Array, form: RecordForm): Promise<ReceivedOtlp> {
  const { ask, path, target } = taken;
  const pace = new Pace(target.scheduler, () => throwIfCancelled(ask.signal));
  const body = path.kind === "decoded" ? path.begin() : undefined;
  await eachPart(request, form, pace, (part) => decoded(() => body?.look(part)));
  const parts = new PartsUnderWay();
  try {
    await eachPart(request, form, pace, (part) =>
      parts.add(path.kind === "whole" ? receiveWhole(taken, path, part) : receiveDecoded(taken, () => body as OtlpBody, part)),
    );
  } finally {
    await parts.end();
  }
  return together(parts.received);
}

/** Parts that are decoded, in order, and on their way to the disk. `end` has to be called, whatever happens. */
class PartsUnderWay {
  readonly received: ReceivedOtlp[] = [];
  private pending: Promise<readonly [PromiseSettledResult<ReceivedOtlp>]>[] = [];

  /** Takes a part; resolves when another may begin. @throws what an earlier part failed with */
  async add(part: Promise<ReceivedOtlp>): Promise<void> {
    this.pending.push(Promise.allSettled([part]));
    if (this.pending.length === PARTS_UNDER_WAY_MAX) await this.first();
  }

  /** Resolves when all of them are durable. @throws what the first that failed has thrown */
  async end(): Promise<void> {
    try {
      while (this.pending.length > 0) await this.first();
    } finally {
      await Promise.all(this.pending);
    }
  }

  private async first(): Promise<void> {
    const [result] = (await this.pending.shift()) ?? [];
    if (result?.status === "fulfilled") this.received.push(result.value);
    else if (result !== undefined) throw result.reason;
  }
}

function together(parts: readonly ReceivedOtlp[]): ReceivedOtlp {
  const refused = parts.filter(({ rejectedCount }) => rejectedCount > 0);
  return {
    rowCount: parts.reduce((sum, { rowCount }) => sum + rowCount, 0),
    rejectedCount: parts.reduce((sum, { rejectedCount }) => sum + rejectedCount, 0),
    message: Array.from(refused.slice(0, MESSAGES_MAX), ({ message }) => message).join("; "),
    isAllRefused: parts.length > 0 && parts.every((part) => part.isAllRefused),
  };
}

async function eachPart(request: Uint8Array, form: RecordForm, pace: Pace, work: (part: Uint8Array) => unknown): Promise<void> {
  const parts = partsOf(request, form, PART_BYTES);
  for (;;) {
    const next = decoded(() => parts.next());
    if (next.done === true) return;
    if (next.value !== undefined) await work(next.value);
    await pace.turn();
  }
}

function bytesOf(request: OtlpRequest): Uint8Array {
  return request instanceof Uint8Array ? request : request();
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
