/**
 * Reads one segment back and decides what damaged bytes mean; the table is in FORMAT.md.
 *
 * The file is read by pieces (segment-bytes.ts): memory is that of the largest record and a piece, and of the newest segment what its
 * records do not say to be durable, lost bytes included: they are written once more as they were read and judged, since the system may
 * give others when it is asked again. Where bytes are damaged, a second window looks ahead for intact records, if need be to the end.
 */
import { corrupted, type CorruptionKind, DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type LogDisk, systemLogDisk } from "./log-disk.ts";
import { LogFile } from "./log-file.ts";
import {
  checkSegmentHeader,
  decodeRecordHeader,
  RECORD_HEADER_BYTES,
  RECORD_MARK,
  type RecordHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentEnd,
} from "./record-header.ts";
import { SegmentBytes } from "./segment-bytes.ts";
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
  /** Bytes that are read at once; default 4 MiB. */
  readonly pieceBytes?: number;
}

/** What reading one segment found. */
export interface SegmentReplay {
  /** How it ends: its length up to its last intact record, lost bytes before it included. */
  readonly end: SegmentEnd;
  readonly tornTailBytes: number;
  readonly lostBytes: number;
  /** Of the newest segment bytes `[doubtfulFrom, end.bytes)`, as they were read: no record says that they were durable. Of others none. */
  readonly doubtful: Uint8Array;
  readonly doubtfulFrom: number;
}

/** Who hears what a segment holds. */
export interface SegmentListener {
  /** Called first: what it says of the segment before it; undefined when it does not say. */
  onHead(previous: SegmentEnd | undefined): void;
  onRecord(record: FoundRecord): Promise<void> | void;
  /**
   * Bytes are skipped: so many, and the payloads of the damaged records among them, each valid until the next one is asked for,
   * undefined where they cannot be told apart.
   */
  onLost(bytes: number, payloads: AsyncIterable<Uint8Array | undefined>): Promise<void> | void;
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
  const bytes = await onDisk("read", path, () => SegmentBytes.open(disk, path, source.pieceBytes));
  const reading = { id, path, bytes };
  const head = await headOf(reading);
  const found: Segment = { ...reading, stamp: head.stamp };
  const ahead: Segment = { ...found, bytes: bytes.another() };
  listener.onHead(head.previous);
  let { start: at, check } = head;
  let lostBytes = 0;
  let doubtfulFrom = 0;
  const keepFrom = (): number => (isNewest ? Math.min(doubtfulFrom, at) : at);
  const replayed = async (tornTailBytes: number): Promise<SegmentReplay> => {
    const from = keepFrom();
    await hold(found, from, at);
    return { end: { id, bytes: at, check }, tornTailBytes, lostBytes, doubtful: bytes.view(from, at), doubtfulFrom: from };
  };
  while (at < bytes.length) {
    const record = await intactRecordAt(found, at, keepFrom());
    if (record !== undefined) {
      const heard = listener.onRecord(record);
      if (heard !== undefined) await heard;
      doubtfulFrom = record.durableBytes ?? 0;
      check = record.check;
      at = record.end;
      continue;
    }
    const next = await nextIntactRecord(ahead, at + 1);
    const isKnown = at < durableBytes || (isNewest && next !== undefined && (await wasDurable(ahead, at, next)));
    const verdict = judgeDamage(isKnown, isNewest, recovery);
    if (verdict === "refuse") throw refused(path, `damaged bytes at offset ${at}`, at, "checksum");
    if (verdict === "torn-tail") {
      const end = at;
      await onDisk("cut", path, () => cut(disk, path, end));
      return await replayed(bytes.length - at);
    }
    const end = next?.start ?? bytes.length;
    await listener.onLost(end - at, lostIn(ahead, at, end));
    lostBytes += end - at;
    at = end;
  }
  if (at < durableBytes) {
    // No bytes to be judged, and still some are known to have been there.
    if (recovery === "strict") throw refused(path, `it ends at offset ${at}, and ${durableBytes} bytes of it were on disk`, at, "length");
    await listener.onLost(durableBytes - at, untold());
    lostBytes += durableBytes - at;
  }
  return await replayed(0);
}

function refused(path: string, why: string, offset: number, kind: CorruptionKind): DbError {
  const advice = 'restore the file, or start with wal.recovery = "skip_corrupt" to lose them';
  return corrupted(`cannot replay log segment ${path}: ${why}; ${advice}`, { file: path, offset, kind });
}

/** The damaged payload of each record in bytes `[start, end)` whose header is intact, and undefined for what comes behind them. */
async function* lostIn(segment: Segment, start: number, end: number): AsyncGenerator<Uint8Array | undefined> {
  for (let at = start; at < end; ) {
    const header = await headerAt(segment, at, end);
    const next = at + RECORD_HEADER_BYTES + (header?.payloadBytes ?? 0);
    if (header === undefined || next > end) {
      yield undefined;
      return;
    }
    await hold(segment, at + RECORD_HEADER_BYTES, next);
    yield segment.bytes.view(at + RECORD_HEADER_BYTES, next);
    at = next;
  }
}

/** What was lost where there is nothing to look at. */
async function* untold(): AsyncGenerator<undefined> {
  yield undefined;
}

/** A segment file as it is read. */
interface Segment {
  readonly id: number;
  readonly path: string;
  readonly bytes: SegmentBytes;
  /** Undefined when its header is unreadable: records of any stamp are then taken for its own. */
  readonly stamp: number | undefined;
}

/** Sees to it that bytes `[start, end)` are in the window, and those from `keepFrom` on when it has to move. @throws DbError */
async function hold({ path, bytes }: Pick<Segment, "path" | "bytes">, start: number, end: number, keepFrom?: number): Promise<void> {
  if (!bytes.holds(start, end)) await onDisk("read", path, () => bytes.load(start, end, keepFrom));
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
async function headOf({ id, path, bytes }: Omit<Segment, "stamp">): Promise<SegmentHead> {
  const end = Math.min(SEGMENT_HEADER_BYTES, bytes.length);
  await hold({ path, bytes }, 0, end);
  const head = checkSegmentHeader(bytes.view(0, end), id);
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
export interface FoundRecord extends WalRecord {
  readonly start: number;
  readonly end: number;
  readonly durableBytes: number | undefined;
  readonly check: number;
}

/** The header at `at` of a record that could end at `end` or before, when it is intact. */
async function headerAt(segment: Segment, at: number, end: number, keepFrom?: number): Promise<RecordHeader | undefined> {
  const { bytes, stamp } = segment;
  if (at + RECORD_HEADER_BYTES > end) return undefined;
  if (!bytes.holds(at, at + RECORD_HEADER_BYTES)) await hold(segment, at, at + RECORD_HEADER_BYTES, keepFrom);
  return decodeRecordHeader(bytes.window, at - bytes.from, stamp);
}

/** The intact record at `at`, if there is one; bytes from `keepFrom` on stay in the window. */
async function intactRecordAt(segment: Segment, at: number, keepFrom: number): Promise<FoundRecord | undefined> {
  const { id, bytes } = segment;
  const header = await headerAt(segment, at, bytes.length, keepFrom);
  if (header === undefined) return undefined;
  const start = at + RECORD_HEADER_BYTES;
  const end = start + header.payloadBytes;
  if (end > bytes.length) return undefined;
  if (!bytes.holds(at, end)) await hold(segment, at, end, keepFrom);
  const payload = bytes.view(start, end);
  if (crc32(payload) !== header.payloadCrc) return undefined;
  return { segment: id, sequence: header.sequence, payload, start: at, end, durableBytes: header.durableBytes, check: header.check };
}

/** The next intact record at or after `from`. */
async function nextIntactRecord(segment: Segment, from: number): Promise<FoundRecord | undefined> {
  const { bytes } = segment;
  for (let at = from; at + RECORD_HEADER_BYTES <= bytes.length; ) {
    await hold(segment, at, at + RECORD_HEADER_BYTES);
    const mark = markIn(bytes, at);
    if (mark === undefined) at = bytes.to - RECORD_MARK.length + 1;
    else {
      const record = await intactRecordAt(segment, mark, mark);
      if (record !== undefined) return record;
      at = mark + 1;
    }
  }
  return undefined;
}

/** Where the window has the mark of a record at or after `from`. */
function markIn(bytes: SegmentBytes, from: number): number | undefined {
  const { buffer, byteOffset } = bytes.window;
  const at = Buffer.from(buffer, byteOffset, bytes.to - bytes.from).indexOf(RECORD_MARK, from - bytes.from, "latin1");
  return at === -1 ? undefined : bytes.from + at;
}

/**
 * Whether one of the intact records from `next` on was written when the bytes at `at` were durable. If none was, all of them belong to
 * groups that no sync had covered, of which a power loss leaves any part.
 */
async function wasDurable(segment: Segment, at: number, next: FoundRecord): Promise<boolean> {
  for (let record: FoundRecord | undefined = next; record !== undefined; record = await nextIntactRecord(segment, record.end)) {
    if (record.durableBytes === undefined || record.durableBytes > at) return true;
  }
  return false;
}
