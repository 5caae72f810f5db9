/**
 * Reads a whole log back and looks whether all of it is there: each segment says how the one before it ends, and the file `ends` which must
 * be there besides. The table is in FORMAT.md.
 */
import { corrupted, type CorruptionKind, type DbError } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import type { LogDisk } from "./log-disk.ts";
import { type LogEnds, NO_ENDS } from "./log-ends.ts";
import type { LogFolder } from "./log-folder.ts";
import type { SegmentEnd } from "./record-header.ts";
import { replaySegment, type SegmentReplay } from "./replay.ts";
import { WAL_GAPS_MAX, type WalGap, type WalRecord, type WalRecovery, type WalRecoveryReport } from "./wal.ts";

/** A log to be read back. */
export interface LogSource {
  readonly folder: LogFolder;
  readonly disk: LogDisk;
  readonly recovery: WalRecovery;
  /** Segments that are there, oldest first. */
  readonly ids: readonly number[];
  /** What the log said of its ends; undefined when it says nothing, as before there was a file of them. */
  readonly ends: LogEnds | undefined;
  /** Whether somebody else knows that there was a log which said so. */
  readonly isExpected: boolean;
}

/** What a log holds. */
export interface LogReplay {
  /** How the segments end, oldest first. */
  readonly segments: readonly SegmentEnd[];
  /** The newest one, if there is any. */
  readonly newest: SegmentReplay | undefined;
  readonly report: WalRecoveryReport;
}

/** What is seen of a segment that another one, or the log's ends, name. */
export type LinkSight =
  /** Nothing names it, as in versions that did not, or it is named and nobody needs it. */
  | "unnamed"
  | "as-named"
  | "missing"
  /** It is shorter than it was, or ends with another record. */
  | "different";

/** What a look at a named segment means. */
export type LinkVerdict = "fine" | "refuse" | "lost";

/** What is seen of the segment before another, which says `previous` of it. */
export function sightOf(previous: SegmentEnd | undefined, oldest: number, found: ReadonlyMap<number, SegmentEnd>): LinkSight {
  if (previous === undefined || previous.id < oldest) return "unnamed";
  const there = found.get(previous.id);
  if (there === undefined) return "missing";
  return there.bytes === previous.bytes && there.check === previous.check ? "as-named" : "different";
}

/** The decision table of FORMAT.md for named segments. */
export function judgeLink(sight: LinkSight, recovery: WalRecovery): LinkVerdict {
  if (sight === "unnamed" || sight === "as-named") return "fine";
  return recovery === "strict" ? "refuse" : "lost";
}

/**
 * Calls `onRecord` for each record of the log, and `onLost` for each one that is skipped: its damaged payload, undefined where nobody knows
 * how many records there were.
 *
 * @throws DbError StorageUnavailable when records are missing or damaged and the recovery mode is "strict"
 */
export async function replayLog(
  source: LogSource,
  onRecord: (record: WalRecord) => Promise<void> | void,
  onLost: (payload: Uint8Array | undefined) => void,
): Promise<LogReplay> {
  return await new Replaying(source, onRecord, onLost).run();
}

/** One reading of a log. */
class Replaying {
  private readonly source: LogSource;
  private readonly onRecord: (record: WalRecord) => Promise<void> | void;
  private readonly onLost: (payload: Uint8Array | undefined) => void;
  private readonly ends: LogEnds;
  private readonly found: Map<number, SegmentEnd> = new Map();
  /** Segments of which something is known to be lost. */
  private readonly damaged: Set<number> = new Set();
  private readonly gaps: WalGap[] = [];
  /** Behind the gaps from here on no record has come yet. */
  private openGaps = 0;
  private lastId = 0;
  /** Whether it was told that the log's ends are unknown. */
  private lacksEnds = false;
  private lastSequence: number | undefined;
  private records = 0;
  private bytes = 0;
  private tornTailBytes = 0;
  private lostBytes = 0;
  private lostSegments = 0;

  constructor(source: LogSource, onRecord: Replaying["onRecord"], onLost: Replaying["onLost"]) {
    this.source = source;
    this.onRecord = onRecord;
    this.onLost = onLost;
    // Unknown ends ask for nothing before the oldest segment that is there.
    this.ends = source.ends ?? { ...NO_ENDS, oldest: source.ids[0] ?? 1 };
  }

  async run(): Promise<LogReplay> {
    const { ids, ends, isExpected } = this.source;
    if (isExpected && ends === undefined) this.checkEnds(ids[0] ?? 0);
    let newest: SegmentReplay | undefined;
    for (const [i, id] of ids.entries()) {
      newest = await this.replay(id, i === ids.length - 1);
      failPoint("recover.segment-read");
      this.found.set(id, newest.end);
      this.tornTailBytes += newest.tornTailBytes;
      this.lastId = id;
    }
    this.checkNewest();
    const { records, bytes, tornTailBytes, lostBytes, lostSegments } = this;
    const gaps = this.gaps.slice(0, WAL_GAPS_MAX);
    const report = { segments: ids.length, records, bytes, tornTailBytes, lostBytes, lostSegments, gaps };
    return { segments: [...this.found.values()], newest, report };
  }

  private replay(id: number, isNewest: boolean): Promise<SegmentReplay> {
    const { folder, disk, recovery } = this.source;
    const durableBytes = isNewest ? this.durableBytesOf(id) : 0;
    const source = { path: folder.pathOf(id), id, isNewest, durableBytes, recovery, disk };
    return replaySegment(source, {
      onHead: (previous) => {
        if (previous !== undefined) this.checkPrevious(previous, id);
      },
      onRecord: (record) => {
        this.saw(record);
        return this.onRecord(record);
      },
      onLost: async (bytes, payloads) => {
        this.lose(id, bytes);
        for await (const payload of payloads) this.onLost(payload);
      },
    });
  }

  /** Its header was on disk before the log's ends named it. */
  private durableBytesOf(id: number): number {
    const { end, newest } = this.ends;
    if (end.id === id) return end.bytes;
    return id <= newest ? 1 : 0;
  }

  private saw({ sequence, payload }: WalRecord): void {
    this.records++;
    this.bytes += payload.length;
    this.lastSequence = sequence;
    for (; this.openGaps < this.gaps.length; this.openGaps++) {
      this.gaps[this.openGaps] = { ...(this.gaps[this.openGaps] as WalGap), beforeSequence: sequence };
    }
  }

  private lose(segment: number, bytes: number): void {
    this.damaged.add(segment);
    this.lostBytes += bytes;
    if (this.gaps.length < WAL_GAPS_MAX) this.gaps.push({ segment, bytes, afterSequence: this.lastSequence, beforeSequence: undefined });
  }

  /** Nobody knows how many records a segment had that is not there. The ids up to it that are not there either may have been segments. */
  private loseSegments(segment: number, bytes: number): void {
    this.lose(segment, bytes);
    this.lostSegments += Math.max(1, segment - Math.max(this.lastId, this.ends.oldest - 1));
    this.onLost(undefined);
  }

  /** Whoever writes segments that name others says of the log's ends before. Without them the first and the last ones may be missing. */
  private checkEnds(id: number): void {
    if (this.source.recovery === "strict") {
      const isAllGone = this.source.ids.length === 0;
      throw this.refused(
        isAllGone ? "all of it is missing" : "the file `ends`, which says what segments there must be, is missing or damaged",
      );
    }
    if (this.lacksEnds) return;
    this.lacksEnds = true;
    this.lose(id, 0);
    this.damaged.delete(id); // Only the segments around those that are there are unknown.
    this.onLost(undefined);
  }

  /** Looks at the segment that another one says is before it. */
  private checkPrevious(previous: SegmentEnd, id: number): void {
    if (this.source.ends === undefined) this.checkEnds(id);
    const sight = sightOf(previous, this.ends.oldest, this.found);
    const verdict = judgeLink(sight, this.source.recovery);
    if (verdict === "fine") return;
    const there = this.found.get(previous.id);
    if (verdict === "refuse") {
      const named = `segment ${previous.id}, ${previous.bytes} bytes long when segment ${id} was begun,`;
      if (there === undefined) throw this.refused(`${named} is missing`);
      const how = there.bytes === previous.bytes ? "with another record" : `otherwise: it has ${there.bytes} bytes`;
      throw this.refused(`${named} ends ${how}`, "structure");
    }
    if (there === undefined) return this.loseSegments(previous.id, previous.bytes);
    if (there.bytes >= previous.bytes && this.damaged.has(previous.id)) return; // Told when it was read.
    this.lose(previous.id, Math.max(0, previous.bytes - there.bytes));
    this.onLost(undefined);
  }

  /** Looks whether the newest segment that was begun is there; the next one, if any, may have been cut before it could name it. */
  private checkNewest(): void {
    const { newest, oldest, end } = this.ends;
    if (newest < oldest || this.found.has(newest) || this.damaged.has(newest)) return;
    if (judgeLink("missing", this.source.recovery) === "refuse") throw this.refused(`segment ${newest}, the newest one, is missing`);
    this.loseSegments(newest, end.id === newest ? end.bytes : 0);
  }

  private refused(why: string, kind: CorruptionKind = "missing"): DbError {
    const { path } = this.source.folder;
    const advice = 'restore it, or start with wal.recovery = "skip_corrupt" to lose what it held';
    return corrupted(`cannot replay the log ${path}: ${why}; ${advice}`, { file: path, offset: undefined, kind });
  }
}
