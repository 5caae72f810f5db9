/**
 * One message of a shard's log: records, a part of a record that is longer than a message may be, or what a writer says of what it sends
 * again. Layout: FORMAT.md.
 *
 * A follower reads messages by `message-reader.ts`, which gathers parts.
 */
import { assert } from "../../base/assert.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { type WriterId, writerId } from "../../base/units.ts";

const VERSION = 1;
const KIND = { records: 1, part: 2, resumes: 3 } as const;
/** Versions that may come; a first byte beyond them is damage. */
const NEWER_VERSIONS_MAX = 8;
const HEAD_BYTES = 2;
const CRC_BYTES = 4;
const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;
const ATTEMPT_BYTES = 16;
const INDEX_AT: number = HEAD_BYTES + ATTEMPT_BYTES;
const PART_BYTES_AT: number = INDEX_AT + 2 + 2 + 4;
const RESUMES_BYTES: number = HEAD_BYTES + 8 + 8 + 8 + 1 + CRC_BYTES;

/** Bytes that a message of records takes beside them, and for each. */
export const RECORDS_OVERHEAD_BYTES: number = HEAD_BYTES + COUNT_BYTES + CRC_BYTES;
export const RECORD_OVERHEAD_BYTES: number = LENGTH_BYTES;

/** Bytes that a part takes beside those of its record. */
export const PART_OVERHEAD_BYTES: number = PART_BYTES_AT + CRC_BYTES;

/** Most records of a message. Reason: their places fit `SEQUENCES_A_MESSAGE`; more of them gain nothing. */
export const MESSAGE_RECORDS_MAX = 2048;

/** Longest record in bytes. Reason: a follower gathers its parts in memory. Error: InvalidArguments. */
export const RECORD_BYTES_MAX: number = 64 * 1024 * 1024;

/** Most parts of a record. Reason: others' messages come between, and all have to lie within `PARTS_SPAN_MAX`. Error: InvalidArguments. */
export const RECORD_PARTS_MAX = 128;

/**
 * How far the last part of a record may lie behind its first, in messages of the log. A follower forgets parts that lie further back; a
 * writer whose answers say that they do sends the record again. Reason: so what a follower holds is bounded, and nothing is dropped that
 * its writer takes for written.
 */
export const PARTS_SPAN_MAX = 512;

assert(RECORD_PARTS_MAX * 4 <= PARTS_SPAN_MAX, "three others' messages may come for each part");

/** A message read back; bytes are views of it. */
export type LogMessage =
  | { readonly kind: "records"; readonly records: Uint8Array[] }
  | RecordPart
  | ({ readonly kind: "resumes" } & Resumption)
  /** Its bytes are not those that were written. */
  | { readonly kind: "damaged"; readonly why: string };

/** What a writer says before it sends records again that it was acknowledged. */
export interface Resumption {
  readonly writer: WriterId;
  /** Those below this number come no more. */
  readonly number: number;
  /** One that its writer has not used; records that come are of later ones. */
  readonly segment: number;
  /** The log lost records as far as this writer knows: others should send theirs again, too. */
  readonly asks: boolean;
}

/** A part of a record. */
export interface RecordPart {
  readonly kind: "part";
  /** 16 random bytes, as hexadecimal digits: which attempt to append which record. */
  readonly attempt: string;
  /** In `[0, count)`. */
  readonly index: number;
  /** In `[1, RECORD_PARTS_MAX]`. */
  readonly count: number;
  /** Bytes of the record, at most `RECORD_BYTES_MAX`. */
  readonly totalBytes: number;
  readonly bytes: Uint8Array;
}

/** Bytes of a record that is given in pieces. */
export function recordBytes(record: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const piece of record) bytes += piece.length;
  return bytes;
}

/** A message of `[1, MESSAGE_RECORDS_MAX]` records, each given in pieces; they are copied. */
export function encodeRecords(records: readonly (readonly Uint8Array[])[]): Uint8Array<ArrayBuffer> {
  const count = records.length;
  assert(count >= 1 && count <= MESSAGE_RECORDS_MAX, `1 to ${MESSAGE_RECORDS_MAX} records; got ${count}`);
  let length = RECORDS_OVERHEAD_BYTES + count * RECORD_OVERHEAD_BYTES;
  for (const record of records) length += recordBytes(record);
  const message = begun(KIND.records, length);
  const view = new DataView(message.buffer);
  view.setUint16(HEAD_BYTES, count, true);
  let lengthAt = HEAD_BYTES + COUNT_BYTES;
  let at = lengthAt + count * LENGTH_BYTES;
  for (const record of records) {
    const start = at;
    for (const piece of record) {
      message.set(piece, at);
      at += piece.length;
    }
    view.setUint32(lengthAt, at - start, true);
    lengthAt += LENGTH_BYTES;
  }
  return ended(message, view);
}

/**
 * A record as parts, each a message, to be appended one behind the other. Whoever tries again makes new ones.
 *
 * @param partBytes of the record in each part, so that there are `RECORD_PARTS_MAX` of them at most
 */
export function encodeRecordParts(record: readonly Uint8Array[], partBytes: number): Uint8Array<ArrayBuffer>[] {
  return [...recordParts(record, partBytes)];
}

/** As `encodeRecordParts`, each made when it is asked for: the record is copied as it goes. */
export function* recordParts(record: readonly Uint8Array[], partBytes: number): Generator<Uint8Array<ArrayBuffer>> {
  const totalBytes = recordBytes(record);
  const count = Math.max(1, Math.ceil(totalBytes / partBytes));
  assert(totalBytes <= RECORD_BYTES_MAX, `a record of ${RECORD_BYTES_MAX} B at most; got ${totalBytes}`);
  assert(count <= RECORD_PARTS_MAX, `${RECORD_PARTS_MAX} parts at most; got ${count}`);
  const attempt = crypto.getRandomValues(new Uint8Array(ATTEMPT_BYTES));
  const rest = piecesOf(record);
  for (let index = 0; index < count; index++) {
    const bytes = Math.min(partBytes, totalBytes - index * partBytes);
    const message = begun(KIND.part, PART_OVERHEAD_BYTES + bytes);
    const view = new DataView(message.buffer);
    message.set(attempt, HEAD_BYTES);
    view.setUint16(INDEX_AT, index, true);
    view.setUint16(INDEX_AT + 2, count, true);
    view.setUint32(INDEX_AT + 4, totalBytes, true);
    rest(message.subarray(PART_BYTES_AT, PART_BYTES_AT + bytes));
    yield ended(message, view);
  }
}

/** Returns what fills one array after the other with a record's bytes. */
function piecesOf(record: readonly Uint8Array[]): (into: Uint8Array) => void {
  let piece = 0;
  let from = 0;
  return (into) => {
    for (let at = 0; at < into.length; ) {
      const bytes = record[piece];
      assert(bytes !== undefined, "parts are no longer than their record");
      const some = bytes.subarray(from, from + into.length - at);
      into.set(some, at);
      at += some.length;
      from += some.length;
      if (from < bytes.length) continue;
      piece++;
      from = 0;
    }
  };
}

function begun(kind: number, length: number): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(length);
  message[0] = VERSION;
  message[1] = kind;
  return message;
}

function ended(message: Uint8Array<ArrayBuffer>, view: DataView): Uint8Array<ArrayBuffer> {
  const crcAt = message.length - CRC_BYTES;
  view.setUint32(crcAt, crc32(message.subarray(0, crcAt)), true);
  return message;
}

/** The message of a resumption. */
export function encodeResumption({ writer, number, segment, asks }: Resumption): Uint8Array<ArrayBuffer> {
  const message = begun(KIND.resumes, RESUMES_BYTES);
  const view = new DataView(message.buffer);
  view.setBigUint64(HEAD_BYTES, BigInt(writer), true);
  view.setBigUint64(HEAD_BYTES + 8, BigInt(number), true);
  view.setBigUint64(HEAD_BYTES + 16, BigInt(segment), true);
  message[HEAD_BYTES + 24] = asks ? 1 : 0;
  return ended(message, view);
}

/** Reads what the functions above wrote. A text says why the message is none, though its bytes are those that were written. */
export function decodeMessage(message: Uint8Array): LogMessage | string {
  const least = HEAD_BYTES + CRC_BYTES;
  if (message.length < least) return { kind: "damaged", why: `it has ${message.length} bytes, at least ${least} are needed` };
  const [version = 0, kind] = message;
  if (version > VERSION && version <= NEWER_VERSIONS_MAX) return `it is of version ${version}, only ${VERSION} is known`;
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const end = message.length - CRC_BYTES;
  if (view.getUint32(end, true) !== crc32(message.subarray(0, end))) return { kind: "damaged", why: "its checksum is wrong" };
  if (version !== VERSION) return `it is of version ${version}, only ${VERSION} is known`;
  if (kind === KIND.records) return recordsOf(message, view, end);
  if (kind === KIND.part) return partOf(message, view, end);
  if (kind === KIND.resumes) return resumptionOf(message, view);
  return `it is of kind ${kind}, which is not known`;
}

function recordsOf(message: Uint8Array, view: DataView, end: number): LogMessage | string {
  let lengthAt = HEAD_BYTES + COUNT_BYTES;
  if (end < lengthAt) return "it ends before its number of records";
  const count = view.getUint16(HEAD_BYTES, true);
  if (count < 1 || count > MESSAGE_RECORDS_MAX) return `it has ${count} records, 1 to ${MESSAGE_RECORDS_MAX} may be`;
  let at = lengthAt + count * LENGTH_BYTES;
  if (end < at) return `it ends before the lengths of its ${count} records`;
  const records: Uint8Array[] = [];
  for (let i = 0; i < count; i++, lengthAt += LENGTH_BYTES) {
    const length = view.getUint32(lengthAt, true);
    if (length > end - at) return `its record ${i} of ${length} bytes goes beyond its end`;
    records.push(message.subarray(at, at + length));
    at += length;
  }
  return at === end ? { kind: "records", records } : `it has ${end - at} bytes behind its records`;
}

function partOf(message: Uint8Array, view: DataView, end: number): LogMessage | string {
  if (end < PART_BYTES_AT) return "it ends within the head of a part";
  const index = view.getUint16(INDEX_AT, true);
  const count = view.getUint16(INDEX_AT + 2, true);
  const totalBytes = view.getUint32(INDEX_AT + 4, true);
  if (index >= count || count > RECORD_PARTS_MAX) return `it is part ${index} of ${count}`;
  const bytes = message.subarray(PART_BYTES_AT, end);
  if (totalBytes > RECORD_BYTES_MAX || bytes.length > totalBytes) return `it has ${bytes.length} of ${totalBytes} bytes`;
  return { kind: "part", attempt: message.subarray(HEAD_BYTES, INDEX_AT).toHex(), index, count, totalBytes, bytes };
}

function resumptionOf(message: Uint8Array, view: DataView): LogMessage | string {
  if (message.length !== RESUMES_BYTES) return `it has ${message.length} bytes, a resumption has ${RESUMES_BYTES}`;
  const [writer, number, segment] = [0, 8, 16].map((at) => Number(view.getBigUint64(HEAD_BYTES + at, true)));
  if (!isCount(writer) || !isCount(number) || !isCount(segment)) return "it names no writer, number or segment";
  return { kind: "resumes", writer: writerId(writer), number, segment, asks: message[HEAD_BYTES + 24] === 1 };
}

function isCount(value: number | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
