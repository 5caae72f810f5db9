/** What happens to a call on its way: bytes, lengths and fields of its messages, their order, and how they are framed and packed. */
import type { Random } from "../../../bench/macro/random.ts";
import { framed, type Packing } from "../../support/raw-grpc.ts";
import type { Seed } from "./seeds.ts";

/** A call as it is sent. */
export interface MutatedCall {
  readonly packing: Packing;
  /** The body in pieces. */
  readonly pieces: readonly Uint8Array[];
  /** Whether the frames around the messages are wrong, too. */
  readonly isMisframed: boolean;
}

const PACKINGS: readonly Packing[] = ["identity", "identity", "gzip", "zstd"];
const BYTES = [0x00, 0x01, 0x08, 0x0a, 0x12, 0x1a, 0x22, 0x7f, 0x80, 0xfe, 0xff] as const;
/** Counts, lengths and places at the ends of their ranges, as 64 bits. */
const WIDE = [-1n, 0n, 1n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)] as const;
const MESSAGES_MAX = 12;

type Change = (bytes: Buffer, random: Random, others: readonly Uint8Array[]) => Buffer;

const pick = <T>(list: readonly T[], random: Random): T => list[random.below(list.length)] as T; // lists here are not empty

/** A stretch of up to 24 bytes. */
function stretch(bytes: Uint8Array, random: Random): readonly [from: number, to: number] {
  const from = random.below(bytes.length + 1);
  return [from, Math.min(bytes.length, from + 1 + random.below(24))];
}

const CHANGES: readonly Change[] = [
  (bytes, random) => {
    if (bytes.length > 0) bytes[random.below(bytes.length)] = random.next() < 0.5 ? random.below(256) : pick(BYTES, random);
    return bytes;
  },
  (bytes, random) => {
    if (bytes.length === 0) return bytes;
    const at = random.below(bytes.length);
    bytes[at] = ((bytes[at] ?? 0) + (random.next() < 0.5 ? 1 : -1)) & 0xff; // a length one off
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  (bytes, random) => {
    const [from, to] = stretch(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  (bytes, random) => {
    const [from, to] = stretch(bytes, random);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
  (bytes, random, others) => {
    const other = pick(others, random);
    const [from, to] = stretch(other, random);
    const at = random.below(bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), other.subarray(from, to), bytes.subarray(at + (to - from))]);
  },
  (bytes, random) => {
    if (bytes.length >= 8) bytes.writeBigInt64LE(pick(WIDE, random), random.below(bytes.length - 7) & ~3);
    return bytes;
  },
  (bytes, random) => {
    const at = random.below(bytes.length + 1);
    const varint = Uint8Array.of(0xff, 0xff, 0xff, 0xff, random.next() < 0.5 ? 0x0f : 0x7f);
    return Buffer.concat([bytes.subarray(0, at), varint, bytes.subarray(at)]);
  },
];

function mutatedMessage(message: Uint8Array, random: Random, others: readonly Uint8Array[]): Buffer {
  let bytes: Buffer = Buffer.from(message);
  for (let left = random.next() < 0.7 ? 1 : 2 + random.below(2); left > 0; left--) bytes = pick(CHANGES, random)(bytes, random, others);
  return bytes;
}

/** Messages in another order, one less, or one twice. */
function reordered(messages: Uint8Array[], random: Random): Uint8Array[] {
  const at = random.below(messages.length);
  const kind = random.below(3);
  if (kind === 0) return messages.filter((_, i) => i !== at);
  if (kind === 1) return [...messages.slice(0, at + 1), ...messages.slice(at)];
  return messages.toReversed();
}

/** A frame that is not what it says. */
function misframed(piece: Buffer, random: Random): Buffer {
  const kind = random.below(4);
  if (kind === 0) piece[0] = random.below(256);
  else if (kind === 1) piece.writeUInt32BE(pick([0, 1, 0x7fff_ffff, 0xffff_ffff, piece.length], random), 1);
  else if (kind === 2) return piece.subarray(0, random.below(piece.length));
  else piece[random.below(piece.length)] = random.below(256);
  return piece;
}

/** Changes a call; one in ten stays as it is. @param others messages that fields are taken from */
export function mutatedCall(seed: Seed, random: Random, others: readonly Uint8Array[]): MutatedCall {
  const packing = pick(PACKINGS, random);
  let messages = [...seed.messages];
  const isGood = random.next() < 0.1;
  if (!isGood) {
    if (messages.length > 1 && random.next() < 0.2) messages = reordered(messages, random);
    const at = random.below(Math.max(1, messages.length));
    messages = messages.map((message, i) => (i === at ? mutatedMessage(message, random, others) : message));
  }
  const pieces = messages.slice(0, MESSAGES_MAX).map((message) => framed(message, packing));
  const isMisframed = !isGood && pieces.length > 0 && random.next() < 0.1;
  const bad = random.below(Math.max(1, pieces.length));
  return { packing, isMisframed, pieces: pieces.map((piece, i) => (isMisframed && i === bad ? misframed(piece, random) : piece)) };
}
