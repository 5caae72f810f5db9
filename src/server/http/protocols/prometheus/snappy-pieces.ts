/**
 * A snappy block, made piece by piece. A block is its length, then elements; one that begins behind another's end copies only from itself,
 * so that blocks without their lengths can stand one behind the other (format_description.txt of google/snappy).
 */
import { compress } from "snappyjs";
import { ByteWriter } from "../../../../base/bytes/byte-writer.ts";

/** Bytes that are compressed at once: as many as snappy's own window. */
const PIECE_BYTES: number = 64 * 1024;

/** A message that is known before it is written. */
export interface PiecedMessage {
  readonly length: number;
  readonly parts: Iterable<Uint8Array>;
}

/** A message of messages of messages, all in field 1: `prometheus.ReadResponse` of its results' series. */
export function messagePieces(results: readonly (readonly Uint8Array[])[]): PiecedMessage {
  const lengths = results.map((messages) => messages.reduce((sum, { length }) => sum + fieldLength(length), 0));
  return { length: lengths.reduce((sum, length) => sum + fieldLength(length), 0), parts: partsOf(results, lengths) };
}

/** The block of a message. */
export function* snappyPieces({ length, parts }: PiecedMessage): Generator<Uint8Array<ArrayBuffer>> {
  const head = new ByteWriter(16);
  head.varint(length);
  yield head.copy();
  const pending = new ByteWriter(PIECE_BYTES);
  for (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const taken = Math.min(part.length - at, PIECE_BYTES - pending.length);
      pending.raw(part.subarray(at, at + taken));
      at += taken;
      if (pending.length === PIECE_BYTES) yield elementsOf(pending);
    }
  }
  if (pending.length > 0) yield elementsOf(pending);
}

function elementsOf(pending: ByteWriter): Uint8Array<ArrayBuffer> {
  const bytes = compress(pending.bytes());
  pending.reset();
  let at = 0;
  while ((bytes[at] as number) >= 0x80) at++;
  return new Uint8Array(bytes.subarray(at + 1)); // `Uint8Array.from` walks an iterator: 0.3 us a byte.
}

function* partsOf(results: readonly (readonly Uint8Array[])[], lengths: readonly number[]): Generator<Uint8Array> {
  const head = new ByteWriter(16);
  const headOf = (length: number): Uint8Array => {
    head.reset();
    head.u8(0x0a); // field 1, bytes
    head.varint(length);
    return head.bytes();
  };
  for (const [index, messages] of results.entries()) {
    yield headOf(lengths[index] as number);
    for (const message of messages) {
      yield headOf(message.length);
      yield message;
    }
  }
}

function fieldLength(length: number): number {
  let bytes = 2;
  for (let rest = length; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes + length;
}
