/**
 * Reads one segment back and decides what damaged bytes mean; the table is in FORMAT.md.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from "node:fs";
import { DbError } from "../../base/error.ts";
import { crc32 } from "../../base/hash.ts";
import { StatusCode } from "../../base/status-code.ts";
import { checkSegmentHeader, decodeRecordHeader, RECORD_HEADER_BYTES, SEGMENT_HEADER_BYTES } from "./record-header.ts";
import type { WalRecord, WalRecovery } from "./wal.ts";

/** What reading one segment found. */
export interface SegmentReplay {
  /** Length of the segment up to its last intact record. */
  readonly intactBytes: number;
  readonly tornTailBytes: number;
  readonly lostBytes: number;
}

/** What damaged bytes mean. */
export type DamageVerdict = "torn-tail" | "skip" | "refuse";

/** The decision table of FORMAT.md for bytes that are not an intact record. */
export function judgeDamage(laterRecord: boolean, newestSegment: boolean, recovery: WalRecovery): DamageVerdict {
  if (!laterRecord && newestSegment) return "torn-tail";
  return recovery === "strict" ? "refuse" : "skip";
}

/**
 * Calls `onRecord` for each intact record of a segment file and cuts a torn tail off the newest one. `onLost` hears of records that are
 * skipped, with their damaged payload as far as it can be told apart.
 *
 * @throws DbError StorageUnavailable on damage in the middle in mode "strict", for a segment of another version, or one that cannot be read
 */
export async function replaySegment(
  path: string,
  id: number,
  newest: boolean,
  recovery: WalRecovery,
  onRecord: (record: WalRecord) => Promise<void> | void,
  onLost: (payload: Uint8Array | undefined) => void = () => undefined,
): Promise<SegmentReplay> {
  const bytes = onDisk("read", path, "r", readWhole);
  let at = startOfRecords(path, bytes, id);
  let lostBytes = 0;
  while (at < bytes.length) {
    const record = intactRecordAt(bytes, at, id);
    if (record !== undefined) {
      await onRecord(record);
      at += RECORD_HEADER_BYTES + record.payload.length;
      continue;
    }
    const next = nextIntactRecord(bytes, at + 1, id);
    const verdict = judgeDamage(next !== undefined, newest, recovery);
    if (verdict === "refuse") {
      throw new DbError(
        StatusCode.StorageUnavailable,
        `cannot replay log segment ${path}: damaged bytes at offset ${at}` +
          `; restore the file, or start with wal.recovery = "skip_corrupt" to lose them`,
      );
    }
    if (verdict === "torn-tail") {
      const end = at;
      onDisk("cut", path, "r+", (fd) => cut(fd, end));
      return { intactBytes: at, tornTailBytes: bytes.length - at, lostBytes };
    }
    const end = next ?? bytes.length;
    tellLost(bytes.subarray(0, end), at, id, onLost);
    lostBytes += end - at;
    at = end;
  }
  return { intactBytes: at, tornTailBytes: 0, lostBytes };
}

/** Tells of each record in `bytes[start, …)` that is lost: its damaged payload where its header is intact, else undefined once. */
function tellLost(bytes: Uint8Array, start: number, id: number, onLost: (payload: Uint8Array | undefined) => void): void {
  for (let at = start; at < bytes.length; ) {
    const header = decodeRecordHeader(bytes, at, id);
    const end = at + RECORD_HEADER_BYTES + (header?.payloadBytes ?? 0);
    if (header === undefined || end > bytes.length) {
      onLost(undefined);
      return;
    }
    onLost(bytes.subarray(at + RECORD_HEADER_BYTES, end));
    at = end;
  }
}

/** Offset of the first record: 0 when the header is unreadable, so that it is judged as damage. @throws DbError for another version */
function startOfRecords(path: string, bytes: Uint8Array, id: number): number {
  const head = checkSegmentHeader(bytes, id);
  if (typeof head !== "object") return head === "ok" ? SEGMENT_HEADER_BYTES : 0;
  throw new DbError(
    StatusCode.StorageUnavailable,
    `cannot read log segment ${path}: it has format version ${head.version}, which this server does not know`,
  );
}

/** Synced: soon a newer segment exists, and then the same bytes would be damage in the middle. */
function cut(fd: number, length: number): void {
  ftruncateSync(fd, length);
  fsyncSync(fd);
}

function onDisk<T>(verb: string, path: string, flags: "r" | "r+", work: (fd: number) => T): T {
  let fd: number | undefined;
  try {
    fd = openSync(path, flags);
    return work(fd);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DbError(StatusCode.StorageUnavailable, `cannot ${verb} log segment ${path}: ${why}`, { cause });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readWhole(fd: number): Uint8Array {
  const size = fstatSync(fd).size;
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const count = readSync(fd, bytes, at, size - at, at);
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}

function intactRecordAt(bytes: Uint8Array, at: number, id: number): WalRecord | undefined {
  const header = decodeRecordHeader(bytes, at, id);
  if (header === undefined) return undefined;
  const start = at + RECORD_HEADER_BYTES;
  const end = start + header.payloadBytes;
  if (end > bytes.length) return undefined;
  const payload = bytes.subarray(start, end);
  return crc32(payload) === header.payloadCrc ? { segment: id, sequence: header.sequence, payload } : undefined;
}

/** Offset of the next intact record at or after `from`. */
function nextIntactRecord(bytes: Uint8Array, from: number, id: number): number | undefined {
  for (let at = bytes.indexOf(0x56, from); at !== -1; at = bytes.indexOf(0x56, at + 1)) {
    if (intactRecordAt(bytes, at, id) !== undefined) return at;
  }
  return undefined;
}
