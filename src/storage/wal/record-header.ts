/**
 * The frame around a log record; see FORMAT.md.
 */
import { crc32 } from "../../base/bytes/hash.ts";

/** Bytes of a record header. */
export const RECORD_HEADER_BYTES = 32;
/** Bytes of the header of a new segment. */
export const SEGMENT_HEADER_BYTES = 40;
/** Bytes that the headers of all versions share, with a checksum of their own; version 1 had no others. */
const COMMON_HEADER_BYTES = 16;
/** Bytes of a header of version 2. */
const STAMPED_HEADER_BYTES = 24;
/** Largest payload of a record: the largest request body, decoded, stays far below. */
export const RECORD_PAYLOAD_BYTES_MAX: number = 1 << 30;

/** What a record begins with, and the same as a number. */
export const RECORD_MARK = "VLR1";
const RECORD_MAGIC = 0x31524c56;
const SEGMENT_MAGIC = 0x31534c56; // "VLS1"
const VERSION = 3;

/** How a segment ends, by which a later one, or the file `ends`, knows it. */
export interface SegmentEnd {
  readonly id: number;
  readonly bytes: number;
  /** Checksum of its last record's header, or of its own header when it has no record. */
  readonly check: number;
}

/** In the place of a segment before the first. */
export const NO_SEGMENT: SegmentEnd = { id: 0, bytes: 0, check: 0 };

/** A record header that passed its checksum. */
export interface RecordHeader {
  /** That of its segment. */
  readonly stamp: number;
  readonly payloadBytes: number;
  readonly payloadCrc: number;
  readonly sequence: number;
  /** Bytes of the segment that were durable when the record was written; undefined in logs that did not note it. */
  readonly durableBytes: number | undefined;
  /** The checksum of this header. */
  readonly check: number;
}

/** Encodes what is known of a record before it is written. `sequence` is 1..2^53-1. `completeRecordHeader` adds the rest. */
export function encodeRecordHeader(header: Pick<RecordHeader, "payloadBytes" | "payloadCrc" | "sequence">): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(RECORD_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, RECORD_MAGIC, true);
  view.setUint32(8, header.payloadBytes, true);
  view.setUint32(12, header.payloadCrc, true);
  writeU53(view, 16, header.sequence);
  return bytes;
}

/**
 * Puts the stamp of its segment into an encoded header, how many bytes of it are durable as the record is written, and the checksum, which
 * it returns.
 */
export function completeRecordHeader(bytes: Uint8Array, stamp: number, durableBytes: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, RECORD_HEADER_BYTES);
  view.setUint32(4, stamp, true);
  // One more than the number, since 0 was written before there was one. Beyond 4 GiB less is claimed than is true.
  view.setUint32(24, Math.min(durableBytes + 1, 0xffff_ffff), true);
  const check = crc32(bytes.subarray(0, 28));
  view.setUint32(28, check, true);
  return check;
}

/** The header at `offset`, or undefined when the bytes there are no intact header of a record with `stamp`; undefined takes any stamp. */
export function decodeRecordHeader(bytes: Uint8Array, offset: number, stamp: number | undefined): RecordHeader | undefined {
  if (offset + RECORD_HEADER_BYTES > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, RECORD_HEADER_BYTES);
  if (view.getUint32(0, true) !== RECORD_MAGIC) return undefined;
  const found = view.getUint32(4, true);
  if (stamp !== undefined && found !== stamp) return undefined;
  const check = view.getUint32(28, true);
  if (check !== crc32(bytes.subarray(offset, offset + 28))) return undefined;
  const payloadBytes = view.getUint32(8, true);
  if (payloadBytes > RECORD_PAYLOAD_BYTES_MAX) return undefined;
  const sequence = readU53(view, 16);
  if (sequence === undefined) return undefined;
  const noted = view.getUint32(24, true);
  return {
    stamp: found,
    payloadBytes,
    payloadCrc: view.getUint32(12, true),
    sequence,
    durableBytes: noted === 0 ? undefined : noted - 1,
    check,
  };
}

/** Puts how a segment ends into sixteen bytes. */
export function writeSegmentEnd(view: DataView, offset: number, { id, bytes, check }: SegmentEnd): void {
  view.setUint32(offset, id, true);
  writeU53(view, offset + 4, bytes);
  view.setUint32(offset + 12, check, true);
}

/** What `writeSegmentEnd` put there; undefined when no segment ends so. */
export function readSegmentEnd(view: DataView, offset: number): SegmentEnd | undefined {
  const bytes = readU53(view, offset + 4);
  return bytes === undefined ? undefined : { id: view.getUint32(offset, true), bytes, check: view.getUint32(offset + 12, true) };
}

/** Puts a whole number up to 2^53 - 1 into eight bytes. */
function writeU53(view: DataView, offset: number, value: number): void {
  view.setUint32(offset, value % 0x1_0000_0000, true);
  view.setUint32(offset + 4, Math.floor(value / 0x1_0000_0000), true);
}

/** The whole number in eight bytes; undefined when it is larger than 2^53 - 1. */
function readU53(view: DataView, offset: number): number | undefined {
  const high = view.getUint32(offset + 4, true);
  return high > 0x1f_ffff ? undefined : high * 0x1_0000_0000 + view.getUint32(offset, true);
}

/** What the first bytes of a new segment say. */
export interface NewSegment {
  readonly id: number;
  readonly stamp: number;
  /** The segment before it, which is complete. */
  readonly previous: SegmentEnd;
}

/**
 * Encodes the first bytes of a segment file. Ids begin again once the whole log was deleted, so a block of an old file may turn up in a
 * new one of the same id: the stamp, drawn at random, tells their records apart.
 */
export function encodeSegmentHeader({ id, stamp, previous }: NewSegment): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, SEGMENT_MAGIC, true);
  view.setUint32(4, VERSION, true);
  view.setUint32(8, id, true);
  view.setUint32(12, crc32(bytes.subarray(0, 12)), true);
  view.setUint32(16, stamp, true);
  writeSegmentEnd(view, 20, previous);
  view.setUint32(36, crc32(bytes.subarray(0, 36)), true);
  return bytes;
}

/** The checksum of an encoded segment header: how a segment without records ends. */
export function checkOfHeader(header: Uint8Array): number {
  return new DataView(header.buffer, header.byteOffset).getUint32(header.length - 4, true);
}

/** What the first bytes of a segment file say. */
export type SegmentHeaderResult =
  | {
      readonly kind: "ok";
      readonly headerBytes: number;
      readonly stamp: number;
      /** How the segment ends while it has no record. */
      readonly check: number;
      /** The segment before it; undefined in versions that did not say. */
      readonly previous: SegmentEnd | undefined;
    }
  | { readonly kind: "short" | "bad" }
  | { readonly kind: "unknown"; readonly version: number };

/** Bytes of the header of each version. */
const HEADER_BYTES: Readonly<Record<number, number>> = { 1: COMMON_HEADER_BYTES, 2: STAMPED_HEADER_BYTES, [VERSION]: SEGMENT_HEADER_BYTES };

/** Checks the first bytes of a segment file against its id. */
export function checkSegmentHeader(bytes: Uint8Array, segment: number): SegmentHeaderResult {
  if (bytes.length < COMMON_HEADER_BYTES) return { kind: "short" };
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0, true) !== SEGMENT_MAGIC) return { kind: "bad" };
  if (view.getUint32(12, true) !== crc32(bytes.subarray(0, 12))) return { kind: "bad" };
  const version = view.getUint32(4, true);
  const headerBytes = HEADER_BYTES[version];
  if (headerBytes === undefined) return { kind: "unknown", version };
  if (view.getUint32(8, true) !== segment) return { kind: "bad" };
  if (bytes.length < headerBytes) return { kind: "short" };
  const check = view.getUint32(headerBytes - 4, true);
  if (check !== crc32(bytes.subarray(0, headerBytes - 4))) return { kind: "bad" };
  const stamp = version === 1 ? segment : view.getUint32(16, true);
  if (version !== VERSION) return { kind: "ok", headerBytes, stamp, check, previous: undefined };
  const previous = readSegmentEnd(view, 20);
  return previous === undefined ? { kind: "bad" } : { kind: "ok", headerBytes, stamp, check, previous };
}
