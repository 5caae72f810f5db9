/**
 * Reads one segment back and decides what damaged bytes mean; the table is in FORMAT.md.
 */
import { DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/fail-point.ts";
import { crc32 } from "../../base/hash.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type LogDisk, systemLogDisk } from "./log-disk.ts";
import { checkSegmentHeader, decodeRecordHeader, RECORD_HEADER_BYTES } from "./record-header.ts";
import type { WalRecord, WalRecovery } from "./wal.ts";

/** What reading one segment found. */
export interface SegmentReplay {
  /** Length of the segment up to its last intact record. */
  readonly intactBytes: number;
  readonly tornTailBytes: number;
  readonly lostBytes: number;
  /** Bytes `[doubtfulFrom, intactBytes)`: no record says that they were durable. */
  readonly doubtful: Uint8Array;
  readonly doubtfulFrom: number;
}

/** What damaged bytes mean. */
export type DamageVerdict = "torn-tail" | "skip" | "refuse";

/**
 * The decision table of FORMAT.md for bytes that are not an intact record.
 *
 * @param wasDurable whether an intact record later in the segment says that these bytes were durable when it was written
 */
export function judgeDamage(wasDurable: boolean, newestSegment: boolean, recovery: WalRecovery): DamageVerdict {
  if (!wasDurable && newestSegment) return "torn-tail";
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
  disk: LogDisk = systemLogDisk,
): Promise<SegmentReplay> {
  const bytes = await onDisk("read", path, () => disk.read(path));
  const { start, stamp } = startOfRecords(path, bytes, id);
  const found: Segment = { id, bytes, stamp };
  let at = start;
  let lostBytes = 0;
  let doubtfulFrom = 0;
  const replayed = (tornTailBytes: number): SegmentReplay => {
    const from = Math.min(doubtfulFrom, at);
    return { intactBytes: at, tornTailBytes, lostBytes, doubtful: bytes.subarray(from, at), doubtfulFrom: from };
  };
  while (at < bytes.length) {
    const record = intactRecordAt(found, at);
    if (record !== undefined) {
      await onRecord(record);
      doubtfulFrom = record.durableBytes ?? 0;
      at = record.end;
      continue;
    }
    const next = nextIntactRecord(found, at + 1);
    const verdict = judgeDamage(next !== undefined && wasDurable(found, at, next), newest, recovery);
    if (verdict === "refuse") {
      throw new DbError(
        StatusCode.StorageUnavailable,
        `cannot replay log segment ${path}: damaged bytes at offset ${at}` +
          `; restore the file, or start with wal.recovery = "skip_corrupt" to lose them`,
      );
    }
    if (verdict === "torn-tail") {
      const end = at;
      await onDisk("cut", path, () => cut(disk, path, end));
      return replayed(bytes.length - at);
    }
    const end = next?.start ?? bytes.length;
    tellLost(found, at, end, onLost);
    lostBytes += end - at;
    at = end;
  }
  return replayed(0);
}

/** Tells of each record in bytes `[start, end)` that is lost: its damaged payload where its header is intact, else undefined once. */
function tellLost({ bytes, stamp }: Segment, start: number, end: number, onLost: (payload: Uint8Array | undefined) => void): void {
  const lost = bytes.subarray(0, end);
  for (let at = start; at < end; ) {
    const header = decodeRecordHeader(lost, at, stamp);
    const next = at + RECORD_HEADER_BYTES + (header?.payloadBytes ?? 0);
    if (header === undefined || next > end) {
      onLost(undefined);
      return;
    }
    onLost(lost.subarray(at + RECORD_HEADER_BYTES, next));
    at = next;
  }
}

/** A segment file as it is read. */
interface Segment {
  readonly id: number;
  readonly bytes: Uint8Array;
  /** Undefined when its header is unreadable: records of any stamp are then taken for its own. */
  readonly stamp: number | undefined;
}

/** Offset of the first record: 0 when the header is unreadable, so that it is judged as damage. @throws DbError for another version */
function startOfRecords(path: string, bytes: Uint8Array, id: number): { readonly start: number; readonly stamp: number | undefined } {
  const head = checkSegmentHeader(bytes, id);
  switch (head.kind) {
    case "ok":
      return { start: head.headerBytes, stamp: head.stamp };
    case "short":
    case "bad":
      return { start: 0, stamp: undefined };
    case "unknown":
      throw new DbError(
        StatusCode.StorageUnavailable,
        `cannot read log segment ${path}: it has format version ${head.version}, which this server does not know`,
      );
  }
}

/** Synced: soon a newer segment exists, and then the same bytes would be damage in the middle. */
async function cut(disk: LogDisk, path: string, length: number): Promise<void> {
  const fd = await disk.open(path);
  try {
    await disk.truncate(fd, length);
    failPoint("recover.tail-cut");
    await disk.sync(fd);
  } finally {
    await disk.close(fd);
  }
}

async function onDisk<T>(verb: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const why = errorText(cause);
    throw new DbError(StatusCode.StorageUnavailable, `cannot ${verb} log segment ${path}: ${why}`, { cause });
  }
}

/** A record and where it lies: bytes `[start, end)` of its segment. */
interface FoundRecord extends WalRecord {
  readonly start: number;
  readonly end: number;
  readonly durableBytes: number | undefined;
}

function intactRecordAt({ id, bytes, stamp }: Segment, at: number): FoundRecord | undefined {
  const header = decodeRecordHeader(bytes, at, stamp);
  if (header === undefined) return undefined;
  const start = at + RECORD_HEADER_BYTES;
  const end = start + header.payloadBytes;
  if (end > bytes.length) return undefined;
  const payload = bytes.subarray(start, end);
  if (crc32(payload) !== header.payloadCrc) return undefined;
  return { segment: id, sequence: header.sequence, payload, start: at, end, durableBytes: header.durableBytes };
}

/** The next intact record at or after `from`. */
function nextIntactRecord(segment: Segment, from: number): FoundRecord | undefined {
  const { bytes } = segment;
  for (let at = bytes.indexOf(0x56, from); at !== -1; at = bytes.indexOf(0x56, at + 1)) {
    const record = intactRecordAt(segment, at);
    if (record !== undefined) return record;
  }
  return undefined;
}

/**
 * Whether one of the intact records from `next` on was written when the bytes at `at` were durable. If none was, all of them belong to
 * groups that no sync had covered, of which a power loss leaves any part.
 */
function wasDurable(segment: Segment, at: number, next: FoundRecord): boolean {
  for (let record: FoundRecord | undefined = next; record !== undefined; record = nextIntactRecord(segment, record.end)) {
    if (record.durableBytes === undefined || record.durableBytes > at) return true;
  }
  return false;
}
