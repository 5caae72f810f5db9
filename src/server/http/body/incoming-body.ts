/**
 * The bytes of a request body as they come in, counted as far as they have come (in-flight.ts) and at a rate that may not be too low.
 *
 *   short, or promised while promises are believed ─► reserved whole ─► the runtime gathers it: one buffer, no copy
 *   else ─► pieces ─► a buffer of at most `BODY_AHEAD_TIMES` what has come, reserved each time before it gets longer
 *
 * One piece a connection, at most 512 KiB, is there before it is counted: the runtime has read it already.
 */
import { freeBytes } from "../../../base/memory/free-bytes.ts";
import type { BodyExchange } from "./body-exchange.ts";
import { BodyPace } from "./body-pace.ts";
import { soundLengthOf } from "./content-length.ts";
import { OVER_IN_FLIGHT } from "./in-flight.ts";
import { BODY_AHEAD_TIMES, BODY_LONGER_TIMES, BODY_FIRST_BYTES, BODY_PROMISED_BYTES_MAX } from "../limits.ts";
import { emptyReply, type Reply, textReply } from "../reply.ts";

/** The answer to a body over the limit. */
export const TOO_LARGE: Reply = textReply(413, "Failed to buffer the request body: length limit exceeded");
/** Nobody reads this: the client is gone. */
export const CLIENT_GONE: Reply = emptyReply(400, { connection: "close" });
const TOO_SLOW: Reply = {
  ...textReply(408, "cannot read the request body: it comes in too slowly"),
  headers: { "content-type": "text/plain; charset=utf-8", connection: "close" },
};
const EMPTY = new Uint8Array(0);

/** What of a request its body needs. */
type Incomer = Omit<BodyExchange, "setIdleTimeout">;

const waiting = new Set<Request>();

/** Whether the server waits for the body of a request, and so does not work for it. */
export function waitsForBody(request: Request): boolean {
  return waiting.has(request);
}

/** The body as it was sent, or the answer that refuses it. The bytes belong to the caller, and are counted in the share. */
export async function incomingBody(exchange: Incomer, bytesMax: number): Promise<Uint8Array | Reply> {
  const { request, share, signal } = exchange;
  const length = soundLengthOf(request.headers);
  if (length !== undefined && length > bytesMax) return TOO_LARGE;
  if (length === 0 || (length === undefined && request.body === null)) return EMPTY;
  const isWhole = length !== undefined && isReadWhole(length, exchange);
  try {
    const first = isWhole ? length : Math.min(length ?? bytesMax, BODY_FIRST_BYTES);
    if (!(await share.begin(first, length ?? first, signal))) return signal.aborted ? CLIENT_GONE : OVER_IN_FLIGHT;
    waiting.add(request);
    return isWhole ? await readWhole(exchange, length) : await readPieces(exchange, length, bytesMax);
  } catch (error) {
    return refusalOf(error);
  } finally {
    waiting.delete(request);
    share.cameIn();
  }
}

function isReadWhole(length: number, { share }: Pick<BodyExchange, "share">): boolean {
  return length <= BODY_FIRST_BYTES || (length <= BODY_PROMISED_BYTES_MAX && share.promise(length));
}

async function readWhole({ request, pace: limits }: Incomer, length: number): Promise<Uint8Array | Reply> {
  const pace = new BodyPace(limits);
  pace.came(length); // How far it has come is not seen: it has the time of a whole one from the start.
  try {
    return await Promise.race([request.bytes(), pace.tooSlow.then(() => TOO_SLOW)]);
  } finally {
    pace.end();
  }
}

/** A body that comes in. */
interface Incoming {
  bytes: Uint8Array;
  used: number;
}

async function readPieces(exchange: Incomer, length: number | undefined, bytesMax: number): Promise<Uint8Array | Reply> {
  const { request, share } = exchange;
  const { body } = request;
  if (body === null) return EMPTY;
  share.comesIn();
  const reader = body.getReader();
  const pace = new BodyPace(exchange.pace);
  let isSlow = false;
  // Ends the read that waits. Not a race: each round would leave something behind until the body is there.
  void pace.tooSlow.then(() => {
    isSlow = true;
    return giveUp(reader);
  });
  const incoming: Incoming = { bytes: EMPTY, used: 0 };
  try {
    for (;;) {
      const next = await reader.read();
      if (isSlow) return TOO_SLOW;
      if (next.done) return await trimmed(incoming, exchange);
      if (incoming.used + next.value.length > bytesMax) return TOO_LARGE;
      pace.rest();
      const refusal = await take(incoming, next.value, length ?? bytesMax, exchange);
      if (refusal !== undefined) return refusal;
      pace.came(next.value.length);
    }
  } finally {
    pace.end();
    // Nothing more is read of it. A body that was read to its end has nothing to cancel.
    await giveUp(reader);
  }
}

async function giveUp(reader: Pick<ReadableStreamDefaultReader, "cancel">): Promise<void> {
  try {
    await reader.cancel();
  } catch (error) {
    refusalOf(error); // The client is gone: there is nothing to cancel.
  }
}

/** Puts a piece behind the others, once there is room. */
async function take(
  incoming: Incoming,
  piece: Uint8Array,
  most: number,
  { share, signal }: Pick<BodyExchange, "share" | "signal">,
): Promise<Reply | undefined> {
  const total = incoming.used + piece.length;
  if (total > incoming.bytes.length) {
    const isAll = incoming.used === 0 && total >= most;
    const ahead = Math.min(most, total * BODY_AHEAD_TIMES);
    let room = Math.max(share.bytes, ahead);
    if (!share.takeAhead(room)) {
      room = Math.min(most, Math.max(total, Math.ceil(incoming.bytes.length * BODY_LONGER_TIMES)));
      if (room > share.bytes && !(await share.resize(room, signal))) return signal.aborted ? CLIENT_GONE : OVER_IN_FLIGHT;
    }
    if (isAll) {
      incoming.bytes = piece;
      incoming.used = total;
      return undefined;
    }
    const longer = new Uint8Array(room);
    longer.set(incoming.bytes.subarray(0, incoming.used));
    freeBytes(incoming.bytes);
    incoming.bytes = longer;
  }
  incoming.bytes.set(piece, incoming.used);
  incoming.used = total;
  freeBytes(piece);
  return undefined;
}

/** The bytes on a buffer of their own length, and no more than that counted. */
async function trimmed({ bytes, used }: Incoming, { share }: Pick<BodyExchange, "share">): Promise<Uint8Array> {
  const whole = used === bytes.length ? bytes : bytes.slice(0, used);
  if (whole !== bytes) freeBytes(bytes);
  await share.resize(Math.min(share.bytes, used)); // Less: there is nothing to wait for.
  return whole;
}

/** A connection that broke or timed out is not a failure of ours; anything else is passed on. */
function refusalOf(error: unknown): Reply {
  if (error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError")) return CLIENT_GONE;
  if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return CLIENT_GONE;
  throw error;
}
