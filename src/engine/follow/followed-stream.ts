/**
 * A followed log as flushes and trims see it: the log stream of an engine that writes none.
 *
 *   trim ─► close what is over ─► one commit: from where the log has to be read again, and what was known of its writers there
 *        ─► the log is let go up to there
 *
 * A segment is closed when its rows are in files and nobody acknowledges a record of it any more. Its writer believes no answer that comes
 * later than 90 s after it began the segment (`cluster/lanes`), and it began it before this process saw a record of it. So what was
 * acknowledged of it is in the log 120 s after that; when all has been taken that the log has then, a record that still comes was not
 * acknowledged, and its writer has sent it again in a newer segment.
 */
import type { Logger } from "../../base/log.ts";
import { type TableId, writerId } from "../../base/units.ts";
import type { FlushedSequences, LogHolders } from "../log/log-ledger.ts";
import type { LogStream } from "../log/log-stream.ts";
import type { SavedWriters } from "../log/writers.ts";
import type { Commits } from "../schema/commits.ts";
import type { FollowedSource, FollowLimits } from "./followed-source.ts";
import type { Follower } from "./follower.ts";
import { type LogStart, START_KEY, startEntry } from "./log-start.ts";
import { SEGMENT_OVER_MILLIS } from "./segment-ages.ts";
import { hasRows, type WriterSegment } from "./writer-segments.ts";

/**
 * What a message counts beside its bytes when it is asked whether the log is long: whoever takes the shard over reads it. Number: a
 * message of one row takes 40 µs, in which 8 KiB of large ones are read (40,000 such messages 2.9 s, 250 MiB of batches 1 s).
 */
const MESSAGE_WEIGHT_BYTES: number = 8 * 1024;
/**
 * How servers have it. A snapshot of 40 writers takes some microseconds, and so many messages are read again; flushes of many tables may
 * end one behind the other.
 */
export const FOLLOW_LIMITS: FollowLimits = { snapshotMessages: 32, trimMillis: 10_000 };

/** What it works on. */
export interface FollowedStreamParts {
  readonly follower: Follower;
  readonly source: FollowedSource;
  readonly commits: Commits;
  readonly flushed: FlushedSequences;
  readonly nowMillis: () => number;
  readonly limits: FollowLimits;
  readonly logger: Logger;
}

/** See the file header. */
export class FollowedStream implements LogStream {
  readonly id: number = 0;
  readonly ledger: LogHolders;
  private readonly parts: FollowedStreamParts;
  /** The log as it was at a time: all that was in it then is up to `last`. */
  private seen: { readonly millis: number; readonly last: number } = { millis: Number.NEGATIVE_INFINITY, last: 0 };
  /** Bytes that were taken up to where the log begins. */
  private startBytes = 0;
  private trimmed = 0;
  private triedMillis: number = Number.NEGATIVE_INFINITY;
  /** Whether a trim was asked for that has to wait. */
  private isPutOff = false;
  private isLast = false;

  constructor(parts: FollowedStreamParts) {
    this.parts = parts;
    const { segments } = parts.follower;
    this.ledger = {
      oldestNeeded: (flushed, head) => Math.min(head, segments.oldestNeeded(flushed)),
      holders: (flushed): TableId[] => [...segments.holders(flushed)],
    };
  }

  bytes(): number {
    return this.parts.follower.takenBytes - this.startBytes;
  }

  /** Of what flushes let go of: nothing else is a reason for one. */
  weight(): number {
    const { follower, flushed, nowMillis } = this.parts;
    const { segments, snapshots, applied, takenBytes } = follower;
    const now = nowMillis();
    const { from, end } = segments.heldByRows(flushed, applied, (segment) => isYoung(segment, now));
    if (end <= from) return 0;
    const bytes = (end === applied ? takenBytes : (snapshots.bytesUpTo(end) ?? 0)) - (snapshots.bytesUpTo(from) ?? this.startBytes);
    return Math.max(0, bytes) + (end - from) * MESSAGE_WEIGHT_BYTES;
  }

  head(): number {
    return this.parts.follower.applied;
  }

  newestKnown(): number | undefined {
    return undefined;
  }

  failure(): string | undefined {
    return undefined;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Whether a trim may let go of more than the last one, though nothing was flushed since. */
  get wantsTrim(): boolean {
    const now = this.parts.nowMillis();
    if (this.isTooSoon(now)) return false;
    const { follower } = this.parts;
    if (this.isPutOff || follower.hasAged || follower.hasGap) return true;
    for (const segment of follower.segments.current()) if (this.isOver(segment, now)) return true;
    return false;
  }

  /** The log ends for this engine: the next trim is the last one. */
  ending(): void {
    this.isLast = true;
  }

  /** What is needed shows when the commit has its turn. */
  async trim(): Promise<void> {
    const { follower, commits, source, nowMillis } = this.parts;
    this.isPutOff = this.isTooSoon(nowMillis());
    if (this.isPutOff) return;
    this.triedMillis = nowMillis();
    await this.look();
    let next: Start | undefined;
    await commits.make(
      () => {
        this.closeOver();
        follower.askOfGaps();
        next = this.nextStart();
        if (next === undefined) return follower.hasAged || follower.losses.isUncommitted ? [] : undefined;
        return [{ key: START_KEY, value: startEntry(next) }];
      },
      () => {
        if (next === undefined) return;
        follower.start = next;
        this.forgetClosed(next);
        follower.losses.forget(next.from);
        follower.snapshots.forget(next.number);
        this.startBytes = next.bytes;
      },
    );
    const { from } = follower.start;
    if (from <= this.trimmed) return;
    await source.trim(from);
    this.trimmed = from;
  }

  /**
   * Begins the log behind a number that no message has: what was taken is in files. No segment of before goes on: what it said of series is
   * nowhere. Writers are asked to send again what they hold.
   *
   * @throws DbError StorageUnavailable: call it again; Fenced
   */
  async goOnBehind(number: number): Promise<void> {
    const { follower, commits, logger } = this.parts;
    const { writers, closed, losses } = follower;
    let start: Start | undefined;
    await commits.make(
      () => {
        for (const [writer, , segment] of writers.saved()) closed.set(writerId(writer), { segment, through: number });
        losses.ask(0);
        start = { number, from: number, bytes: follower.takenBytes, writers: writers.saved() };
        return [{ key: START_KEY, value: startEntry(start) }];
      },
      () => {
        if (start === undefined) return;
        follower.goOnBehind(start);
        losses.forget(number);
        this.startBytes = start.bytes;
        this.trimmed = number;
        this.seen = { millis: Number.NEGATIVE_INFINITY, last: 0 };
        logger.info({ number, asked: losses.asked.count }, "the log of a shard goes on behind a number that it never had");
      },
    );
  }

  private isTooSoon(now: number): boolean {
    return !this.isLast && now - this.triedMillis < this.parts.limits.trimMillis;
  }

  /** Asks how long the log is, where a segment waits for that. */
  private async look(): Promise<void> {
    const now = this.parts.nowMillis();
    for (const segment of this.parts.follower.segments.current()) {
      if (!this.isOver(segment, now) || this.isOver(segment, this.seen.millis)) continue;
      this.seen = { millis: now, last: await this.parts.source.last() };
      return;
    }
  }

  /** Whether all that was acknowledged of a segment was in the log at a time, and its rows are in files. */
  private isOver(segment: WriterSegment, millis: number): boolean {
    return !isYoung(segment, millis) && !hasRows(segment, this.parts.flushed);
  }

  private closeOver(): void {
    const { follower, logger } = this.parts;
    if (follower.applied < this.seen.last) return; // It is not all taken yet.
    const over = Array.from(follower.segments.current()).filter((segment) => this.isOver(segment, this.seen.millis));
    for (const segment of over) {
      const { writer, segment: number } = segment;
      // One that was closed by an owner before stays so from there on.
      const isClosed = (follower.closed.get(writer)?.segment ?? 0) >= number;
      if (!isClosed) follower.closed.set(writer, { segment: number, through: follower.applied });
      follower.segments.end(writer);
      logger.debug({ writer, segment: number, through: follower.applied }, "a writer's segment is closed");
    }
  }

  /** Where the log may begin; undefined: where it does. */
  private nextStart(): Start | undefined {
    const { follower, flushed } = this.parts;
    const { applied, from, segments, snapshots, start, writers, takenBytes: bytes } = follower;
    const through = Math.min(applied, segments.oldestNeeded(flushed) - 1);
    const next = through === applied ? { number: applied, from, bytes, writers: writers.saved() } : snapshots.upTo(through);
    return next === undefined || next.number <= start.number ? undefined : next;
  }

  /** Forgets closed segments that are of no use to whoever begins there: a newer one is known there, or the writer was forgotten. */
  private forgetClosed({ number, writers }: Start): void {
    const { closed } = this.parts.follower;
    const known = new Map<number, number>(writers.map(([writer, , segment]) => [writer, segment]));
    for (const [writer, { segment, through }] of closed) {
      const newest = known.get(writer);
      if (newest === undefined ? through <= number : newest > segment) closed.delete(writer);
    }
  }
}

/** Whether a segment may still get records that are acknowledged. */
function isYoung({ seenMillis }: WriterSegment, millis: number): boolean {
  return seenMillis + SEGMENT_OVER_MILLIS > millis;
}

interface Start extends LogStart {
  readonly bytes: number;
  readonly writers: SavedWriters;
}
