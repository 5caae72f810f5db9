/**
 * The part of a log up to a sequence, while its owner may be writing what comes after: for whoever copies the log.
 *
 *   segment 3 ──────── segment 4 ───────── segment 5 ───┬── records that are newer, perhaps half written
 *   whole              whole                    its end ┘
 *
 * Nothing is changed in the folder. Damage before the end is an error, as in a start; bytes that are no record are taken for a write under
 * way only behind the record that the owner knows to be durable.
 */
import { corrupted, DbError } from "../../base/error.ts";
import { encodeStatement, NO_ENDS, STATEMENT_PLACES, STATEMENT_STRIDE } from "./log-ends.ts";
import { systemLogDisk } from "./log-disk.ts";
import { LogFolder } from "./log-folder.ts";
import type { SegmentEnd } from "./record-header.ts";
import { replaySegment } from "./replay.ts";

/** A segment's file, and how much of it belongs to the part. */
export interface SegmentPrefix {
  readonly path: string;
  readonly end: SegmentEnd;
}

/** A record is newer than what is asked for. */
class Newer extends Error {
  override readonly name = "Newer";
}

/** Records read so far. */
interface Seen {
  /** Sequence of the last one, 0 before the first. */
  sequence: number;
}

/**
 * The segments of the log in `folder` up to the last record whose sequence is at most `sequence`, oldest first; none when it has no such
 * record.
 *
 * @param newest sequence of a record that is durable in the log, unless its segment was trimmed; undefined: nobody writes the log
 * @throws DbError StorageUnavailable when it is damaged before that record, or cannot be read
 */
export async function logPrefix(folder: string, sequence: number, newest: number | undefined): Promise<readonly SegmentPrefix[]> {
  const log = new LogFolder(folder, systemLogDisk);
  const { ids } = await log.list();
  const found: SegmentPrefix[] = [];
  const seen: Seen = { sequence: 0 };
  let count = 0;
  for (const id of ids) {
    const path = log.pathOf(id);
    const before = seen.sequence;
    const { end, isCut } = await readUpTo({ path, id }, sequence, newest, seen);
    if (end !== undefined) found.push({ path, end });
    if (seen.sequence > before) count = found.length;
    if (isCut) break;
  }
  if (newest !== undefined && newest <= sequence && seen.sequence > 0 && seen.sequence < newest) {
    const why = `its last record is ${seen.sequence}, and ${newest} was acknowledged`;
    throw corrupted(`cannot copy the log ${folder}: ${why}`, { file: folder, offset: undefined, kind: "missing" });
  }
  return found.slice(0, count); // Segments behind that have no record yet, or newer ones only.
}

async function readUpTo(
  { path, id }: { readonly path: string; readonly id: number },
  sequence: number,
  newest: number | undefined,
  seen: Seen,
): Promise<{ readonly end: SegmentEnd | undefined; readonly isCut: boolean }> {
  let last: SegmentEnd | undefined;
  try {
    const source = { path, id, isNewest: false, durableBytes: 0, recovery: "strict", disk: systemLogDisk } as const;
    const { end } = await replaySegment(source, {
      onHead: () => undefined,
      onRecord: (record) => {
        if (record.sequence > sequence) throw new Newer();
        last = { id, bytes: record.end, check: record.check };
        seen.sequence = record.sequence;
      },
      onLost: () => undefined,
    });
    return { end, isCut: false };
  } catch (error) {
    if (error instanceof Newer) return { end: last, isCut: true };
    const isUnderWay = newest !== undefined && seen.sequence >= newest;
    if (error instanceof DbError && isUnderWay) return { end: last, isCut: true };
    throw error;
  }
}

/** The file `ends` of a log that has these segments and no others. */
export function encodeEnds(segments: readonly SegmentPrefix[]): Uint8Array {
  const bytes = new Uint8Array(STATEMENT_PLACES * STATEMENT_STRIDE);
  const first = segments[0];
  const last = segments.at(-1);
  const ends = first === undefined || last === undefined ? NO_ENDS : { oldest: first.end.id, newest: last.end.id, end: last.end };
  bytes.set(encodeStatement({ ...ends, number: 1 }));
  return bytes;
}
