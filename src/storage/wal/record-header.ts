/**
 * The frame around a log record; see FORMAT.md.
 */
import { crc32 } from "../../base/hash.ts";

/** Bytes of a record header. */
export const RECORD_HEADER_BYTES = 32;
/** Bytes of the header of a new segment. */
export const SEGMENT_HEADER_BYTES = 24;
/** Bytes that the headers of all versions share, with a checksum of their own; version 1 had no others. */
const COMMON_HEADER_BYTES = 16;
/** Largest payload of a record: the largest request body, decoded, stays far below. */
export const RECORD_PAYLOAD_BYTES_MAX: number = 1 << 30;

const RECORD_MAGIC = 0x31524c56; // "VLR1"
const SEGMENT_MAGIC = 0x31534c56; // "VLS1"
const VERSION = 2;

/** A record header that passed its checksum. */
export interface RecordHeader {
  /** That of its segment. */
  readonly stamp: number;
  readonly payloadBytes: number;
  readonly payloadCrc: number;
  readonly sequence: number;
  /** Bytes of the segment that were durable when the record was written; undefined in logs that did not note it. */
  readonly durableBytes: number | undefined;
}

/** Encodes what is known of a record before it is written. `sequence` is 1..2^53-1. `completeRecordHeader` adds the rest. */
export function encodeRecordHeader(header: Pick<RecordHeader, "payloadBytes" | "payloadCrc" | "sequence">): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(RECORD_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, RECORD_MAGIC, true);
  view.setUint32(8, header.payloadBytes, true);
  view.setUint32(12, header.payloadCrc, true);
  view.setUint32(16, header.sequence % 0x1_0000_0000, true);
  view.setUint32(20, Math.floor(header.sequence / 0x1_0000_0000), true);
  return bytes;
}

/** Puts the stamp of its segment into an encoded header, how many bytes of it are durable as the record is written, and the checksum. */
export function completeRecordHeader(bytes: Uint8Array, stamp: number, durableBytes: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, RECORD_HEADER_BYTES);
  view.setUint32(4, stamp, true);
  // One more than the number, since 0 was written before there was one. Beyond 4 GiB less is claimed than is true.
  view.setUint32(24, Math.min(durableBytes + 1, 0xffff_ffff), true);
  view.setUint32(28, crc32(bytes.subarray(0, 28)), true);
}

/** The header at `offset`, or undefined when the bytes there are no intact header of a record with `stamp`; undefined takes any stamp. */
export function decodeRecordHeader(bytes: Uint8Array, offset: number, stamp: number | undefined): RecordHeader | undefined {
  if (offset + RECORD_HEADER_BYTES > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, RECORD_HEADER_BYTES);
  if (view.getUint32(0, true) !== RECORD_MAGIC) return undefined;
  const found = view.getUint32(4, true);
  if (stamp !== undefined && found !== stamp) return undefined;
  if (view.getUint32(28, true) !== crc32(bytes.subarray(offset, offset + 28))) return undefined;
  const payloadBytes = view.getUint32(8, true);
  if (payloadBytes > RECORD_PAYLOAD_BYTES_MAX) return undefined;
  const high = view.getUint32(20, true);
  if (high > 0x1f_ffff) return undefined;
  const noted = view.getUint32(24, true);
  return {
    stamp: found,
    payloadBytes,
    payloadCrc: view.getUint32(12, true),
    sequence: high * 0x1_0000_0000 + view.getUint32(16, true),
    durableBytes: noted === 0 ? undefined : noted - 1,
  };
}

/**
 * Encodes the first bytes of a segment file. Ids begin again once the whole log was deleted, so a block of an old file may turn up in a
 * new one of the same id: the stamp, drawn at random, tells their records apart.
 */
export function encodeSegmentHeader(segment: number, stamp: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, SEGMENT_MAGIC, true);
  view.setUint32(4, VERSION, true);
  view.setUint32(8, segment, true);
  view.setUint32(12, crc32(bytes.subarray(0, 12)), true);
  view.setUint32(16, stamp, true);
  view.setUint32(20, crc32(bytes.subarray(0, 20)), true);
  return bytes;
}

/** What the first bytes of a segment file say. */
export type SegmentHeaderResult =
  | { readonly kind: "ok"; readonly headerBytes: number; readonly stamp: number }
  | { readonly kind: "short" | "bad" }
  | { readonly kind: "unknown"; readonly version: number };

/** Checks the first bytes of a segment file against its id. */
export function checkSegmentHeader(bytes: Uint8Array, segment: number): SegmentHeaderResult {
  if (bytes.length < COMMON_HEADER_BYTES) return { kind: "short" };
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0, true) !== SEGMENT_MAGIC) return { kind: "bad" };
  if (view.getUint32(12, true) !== crc32(bytes.subarray(0, 12))) return { kind: "bad" };
  const version = view.getUint32(4, true);
  if (version !== 1 && version !== VERSION) return { kind: "unknown", version };
  if (view.getUint32(8, true) !== segment) return { kind: "bad" };
  if (version === 1) return { kind: "ok", headerBytes: COMMON_HEADER_BYTES, stamp: segment };
  if (bytes.length < SEGMENT_HEADER_BYTES) return { kind: "short" };
  if (view.getUint32(20, true) !== crc32(bytes.subarray(0, 20))) return { kind: "bad" };
  return { kind: "ok", headerBytes: SEGMENT_HEADER_BYTES, stamp: view.getUint32(16, true) };
}
