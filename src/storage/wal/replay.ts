/**
 * Reads one segment back and decides what damaged bytes mean; the table is in FORMAT.md.
 */
import { corrupted, type CorruptionKind, DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/fail-point.ts";
import { crc32 } from "../../base/hash.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type LogDisk, systemLogDisk } from "./log-disk.ts";
import { LogFile } from "./log-file.ts";
import { checkSegmentHeader, decodeRecordHeader, RECORD_HEADER_BYTES, type SegmentEnd } from "./record-header.ts";
import type { WalRecord, WalRecovery } from "./wal.ts";

/** A segment to be read back. */
export interface SegmentSource {
  readonly path: string;
  readonly id: number;
  /** The newest one alone may have a torn tail, which is cut off. */
  readonly isNewest: boolean;
  /** Bytes that are known to have been durable: nothing before is a torn tail. */
  readonly durableBytes: number;
  readonly recovery: WalRecovery;
  readonly disk?: LogDisk;
}

/** What reading one segment found. */
export interface SegmentReplay {
  /** How it ends: its length up to its last intact record, lost bytes before it included. */
  readonly end: SegmentEnd;
  readonly tornTailBytes: number;
  readonly lostBytes: number;
  /** Bytes `[doubtfulFrom, end.bytes)`: no record says that they were durable. */
  readonly doubtful: Uint8Array;
  readonly doubtfulFrom: number;
}

/** Who hears what a segment holds. */
export interface SegmentListener {
  /** Called first: what it says of the segment before it; undefined when it does not say. */
  onHead(previous: SegmentEnd | undefined): void;
  onRecord(record: WalRecord): Promise<void> | void;
  /** Bytes are skipped: so many, and the payloads of the damaged records among them, undefined where they cannot be told apart. */
  onLost(bytes: number, payloads: Iterable<Uint8Array | undefined>): void;
}

/** What damaged bytes mean. */
export type DamageVerdict = "torn-tail" | "skip" | "refuse";

/**
 * The decision table of FORMAT.md for bytes that are not an intact record.
 *
 * @param wasDurable whether an intact record later in the segment, or the log's ends, say that these bytes were durable
 */
export function judgeDamage(wasDurable: boolean, newestSegment: boolean, recovery: WalRecovery): DamageVerdict {
  if (!wasDurable && newestSegment) return "torn-tail";
  return recovery === "strict" ? "refuse" : "skip";
}

/**
 * Calls `onRecord` for each intact record of a segment file and cuts a torn tail off the newest one.
 *
 * @throws DbError StorageUnavailable on damage in the middle in mode "strict", for a segment of another version, or one that cannot be read
 */
export async function replaySegment(source: SegmentSource, listener: SegmentListener): Promise<SegmentReplay> {
  const { path, id, isNewest, durableBytes, recovery, disk = systemLogDisk } = source;
  const bytes = await onDisk("read", path, () => disk.read(path));
  const head = headOf(path, bytes, id);
  listener.onHead(head.previous);
  const found: Segment = { id, bytes, stamp: head.stamp };
  let { start: at, check } = head;
  let lostBytes = 0;
  let doubtfulFrom = 0;
  const replayed = (tornTailBytes: number): SegmentReplay => {
    const from = Math.min(doubtfulFrom, at);
    const end = { id, bytes: at, check };
    return { end, tornTailBytes, lostBytes, doubtful: bytes.subarray(from, at), doubtfulFrom: from };
  };
  while (at < bytes.length) {
    const record = intactRecordAt(found, at);
    if (record !== undefined) {
      await listener.onRecord(record);
      doubtfulFrom = record.durableBytes ?? 0;
      check = record.check;
      at = record.end;
      continue;
    }
    const next = nextIntactRecord(found, at + 1);
    const isKnown = at < durableBytes || (next !== undefined && wasDurable(found, at, next));
    const verdict = judgeDamage(isKnown, isNewest, recovery);
    if (verdict === "refuse") throw refused(path, `damaged bytes at offset ${at}`, at, "checksum");
    if (verdict === "torn-tail") {
      const end = at;
      await onDisk("cut", path, () => cut(disk, path, end));
      return replayed(bytes.length - at);
    }
    const end = next?.start ?? bytes.length;
    listener.onLost(end - at, lostIn(found, at, end));
    lostBytes += end - at;
    at = end;
  }
  if (at < durableBytes) {
    // No bytes to be judged, and still some are known to have been there.
    if (recovery === "strict") throw refused(path, `it ends at offset ${at}, and ${durableBytes} bytes of it were on disk`, at, "length");
    listener.onLost(durableBytes - at, [undefined]);
    lostBytes += durableBytes - at;
  }
  return replayed(0);
}

function refused(path: string, why: string, offset: number, kind: CorruptionKind): DbError {
  const advice = 'restore the file, or start with wal.recovery = "skip_corrupt" to lose them';
  return corrupted(`cannot replay log segment ${path}: ${why}; ${advice}`, { file: path, offset, kind });
}

/** The damaged payload of each record in bytes `[start, end)` whose header is intact, and undefined for what comes behind them. */
function* lostIn({ bytes, stamp }: Segment, start: number, end: number): Iterable<Uint8Array | undefined> {
  const lost = bytes.subarray(0, end);
  for (let at = start; at < end; ) {
    const header = decodeRecordHeader(lost, at, stamp);
    const next = at + RECORD_HEADER_BYTES + (header?.payloadBytes ?? 0);
    if (header === undefined || next > end) {
      yield undefined;
      return;
    }
    yield lost.subarray(at + RECORD_HEADER_BYTES, next);
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

/** What the begin of a segment says. */
interface SegmentHead {
  /** Offset of the first record: 0 when the header is unreadable, so that it is judged as damage. */
  readonly start: number;
  readonly stamp: number | undefined;
  readonly check: number;
  readonly previous: SegmentEnd | undefined;
}

/** @throws DbError for another version */
function headOf(path: string, bytes: Uint8Array, id: number): SegmentHead {
  const head = checkSegmentHeader(bytes, id);
  switch (head.kind) {
    case "ok":
      return { start: head.headerBytes, stamp: head.stamp, check: head.check, previous: head.previous };
    case "short":
    case "bad":
      return { start: 0, stamp: undefined, check: 0, previous: undefined };
    case "unknown":
      throw corrupted(`cannot read log segment ${path}: it has format version ${head.version}, which this server does not know`, {
        file: path,
        offset: 0,
        kind: "version",
      });
  }
}

/** Synced: soon a newer segment exists, and then the same bytes would be damage in the middle. */
async function cut(disk: LogDisk, path: string, length: number): Promise<void> {
  await LogFile.with(disk, path, async (file) => {
    await file.truncate(length);
    failPoint("recover.tail-cut");
    await file.sync();
  });
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
  readonly check: number;
}

function intactRecordAt({ id, bytes, stamp }: Segment, at: number): FoundRecord | undefined {
  const header = decodeRecordHeader(bytes, at, stamp);
  if (header === undefined) return undefined;
  const start = at + RECORD_HEADER_BYTES;
  const end = start + header.payloadBytes;
  if (end > bytes.length) return undefined;
  const payload = bytes.subarray(start, end);
  if (crc32(payload) !== header.payloadCrc) return undefined;
  return { segment: id, sequence: header.sequence, payload, start: at, end, durableBytes: header.durableBytes, check: header.check };
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
