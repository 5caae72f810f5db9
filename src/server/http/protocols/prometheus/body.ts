/**
 * Bodies of Prometheus: a snappy block or zstd frames, told apart by their first bytes. Clients mislabel them (contract ingest.md 2.1);
 * zstd's magic number can begin no snappy block, which would have to copy from before its start.
 */
import { undecodable } from "../../../../ingest/prometheus/failure.ts";
import { SnappyError, snappyLength } from "../../../../format/snappy/decode.ts";
import { SnappyScratch } from "../../../../format/snappy/scratch.ts";
import { unfold } from "../../body/body.ts";
import type { Exchange } from "../../exchange.ts";
import { OVER_IN_FLIGHT } from "../../body/in-flight.ts";
import { TOO_LARGE } from "../../body/incoming-body.ts";
import { SNAPPY_SCRATCH_BYTES_MAX } from "../../limits.ts";
import type { Reply } from "../../reply.ts";

/** Gives the message, in `room` where one is given; it is valid until the next call on this thread. @throws DbError InvalidArguments */
export type Unfold = (room?: SnappyScratch) => Uint8Array;

const BYTES_MAX: number = 2 ** 32 - 1;
const ZSTD_MAGIC: readonly number[] = [0x28, 0xb5, 0x2f, 0xfd];

/** Reused for every snappy block of this thread. */
let scratch: SnappyScratch | undefined;

/**
 * How to unfold a body, or the answer that refuses it. Memory for what it unfolds to is taken before it is there.
 *
 * @param bytesMax most bytes of the message; 0 = unlimited
 * @throws DbError InvalidArguments for bytes that are neither
 */
export async function unfoldable(exchange: Exchange, body: Uint8Array, bytesMax: number): Promise<Unfold | Reply> {
  const most = bytesMax === 0 ? BYTES_MAX : bytesMax;
  if (ZSTD_MAGIC.every((byte, i) => body[i] === byte)) {
    const decoded = await unfold(exchange, body, "zstd", most);
    if (decoded instanceof Uint8Array) return () => decoded;
    if ("status" in decoded) return decoded;
    if (decoded.kind === "too-large") return TOO_LARGE;
    throw undecodable(`its zstd frames are broken: ${decoded.reason}`);
  }
  const { length } = lengthOf(body);
  if (length > most) return TOO_LARGE;
  if (!(await exchange.share.resize(body.length + length, exchange.signal))) return OVER_IN_FLIGHT;
  return (room) => unfoldSnappy(body, most, room);
}

function lengthOf(body: Uint8Array): { readonly length: number } {
  try {
    const { length, start } = snappyLength(body);
    // As the decoder does: no memory is waited for because of a lie.
    if (length > (body.length - start) * 64) throw new SnappyError(`${body.length} bytes cannot decode to ${length}`);
    return { length };
  } catch (error) {
    throw asRefusal(error);
  }
}

function unfoldSnappy(body: Uint8Array, bytesMax: number, room: SnappyScratch | undefined): Uint8Array {
  try {
    if (room !== undefined) return room.unfold(body, bytesMax);
    scratch ??= new SnappyScratch(SNAPPY_SCRATCH_BYTES_MAX);
    return scratch.decode(body, bytesMax);
  } catch (error) {
    throw asRefusal(error);
  }
}

function asRefusal(error: unknown): unknown {
  return error instanceof SnappyError ? undecodable(`its snappy block is broken: ${error.message}`, error) : error;
}
