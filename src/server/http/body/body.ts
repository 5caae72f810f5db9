/**
 * Request bodies, read under a limit (incoming-body.ts) and unfolded. What a body takes, and unfolds to, is part of the memory for bodies
 * (in-flight.ts) before it is there. Nothing is decoded to text here.
 */
import { freeBytes } from "../../../base/memory/free-bytes.ts";
import type { BodyExchange } from "./body-exchange.ts";
import { type Coding, codingOf, decompress, type Decoded, expectedBytes } from "./decompress.ts";
import { OVER_IN_FLIGHT } from "./in-flight.ts";
import { CLIENT_GONE, incomingBody, TOO_LARGE } from "./incoming-body.ts";
import { jsonReply, type Reply } from "../reply.ts";

/** How a body is read. */
export interface BodyOptions {
  /** Most bytes, as sent and decoded; 0 = unlimited. */
  readonly bytesMax: number;
  /** Decode `Content-Encoding`; codings that are not known are left as they are. */
  readonly decode: boolean;
  /** The answer to a body that is not in its coding, in the shape of the protocol. Default: `{"error": why}` with 400. */
  readonly refuse?: (why: string) => Reply;
}

/** The body, or the answer that refuses it. The bytes belong to the caller. */
export async function readBody(exchange: BodyExchange, options: BodyOptions): Promise<Uint8Array | Reply> {
  const { request } = exchange;
  const bytesMax = options.bytesMax === 0 ? Number.MAX_SAFE_INTEGER : options.bytesMax;
  const bytes = await incomingBody(exchange, bytesMax);
  if (!(bytes instanceof Uint8Array)) return bytes;
  exchange.ingest?.took(bytes.length);
  // From here on the server works and the client waits, for as long as it takes.
  exchange.setIdleTimeout(0);
  const coding = options.decode ? codingOf(request.headers.get("content-encoding")) : undefined;
  if (coding === undefined) return bytes;
  const decoded = await unfold(exchange, bytes, coding, Math.min(bytesMax, MAX_DECODED));
  if (decoded instanceof Uint8Array) return decoded;
  if ("status" in decoded) return decoded;
  if (decoded.kind === "too-large") return TOO_LARGE;
  const why = `cannot decode the ${coding} body: ${decoded.reason}`;
  return options.refuse?.(why) ?? jsonReply(400, JSON.stringify({ error: why }));
}

/** Most bytes that a decoder may make when the body limit is off: what one buffer can hold. */
const MAX_DECODED: number = 2 ** 32 - 1;

/** Decodes a body once its share holds what it is expected to unfold to; the share grows when that was too little. */
export async function unfold(
  exchange: Pick<BodyExchange, "share" | "signal">,
  bytes: Uint8Array,
  coding: Coding,
  bytesMax: number,
): Promise<Decoded | Reply> {
  const { share, signal } = exchange;
  const most = Math.min(bytesMax, share.bytesMax - bytes.length);
  if (most <= 0) return OVER_IN_FLIGHT;
  const grow = (to: number) => share.resize(bytes.length + to, signal);
  const noRoom = () => (signal.aborted ? CLIENT_GONE : OVER_IN_FLIGHT);
  const expected = Math.min(most, expectedBytes(bytes, coding));
  if (!(await grow(expected))) return noRoom();
  const decoded = await decompress(bytes, coding, { bytes: expected, bytesMax: most, grow });
  if (decoded instanceof Uint8Array) {
    if (decoded !== bytes) freeBytes(bytes);
    await share.resize(Math.min(share.bytes, decoded.length)); // Less: there is nothing to wait for.
    return decoded;
  }
  if (decoded.kind === "no-room") return noRoom();
  return decoded.kind === "too-large" && most < bytesMax ? OVER_IN_FLIGHT : decoded;
}
