/**
 * Takes the records of a log that many write, one after the other, into the tables of this engine.
 *
 * | record                                           | by the rule of `../log/writers.ts` | what of it counts                             |
 * |--------------------------------------------------|------------------------------------|-----------------------------------------------|
 * | of a segment that was closed before its message  | –                                  | nothing, and its number counts as not seen    |
 * | any other                                        | gap, older                         | nothing                                       |
 * |                                                  | definitions                        | what it says of series                        |
 * |                                                  | rows                               | all, by table as below                        |
 *
 * | table of an entry                                | sequence is flushed | what                                                         |
 * |--------------------------------------------------|---------------------|--------------------------------------------------------------|
 * | its id was never given out, or is another        | –                   | the log is not that of this shard: an error                  |
 * | shard's                                          |                     |                                                              |
 * | does not exist                                   | –                   | skipped: it was dropped                                      |
 * | exists                                           | yes                 | what it says of series; its rows are in files, or were taken |
 * |                                                  |                     | away after the record                                        |
 * | exists                                           | no                  | rows go to the memtable, under numbers of this process       |
 *
 * Records come in the order of their sequences, and the catalogue has what they name. README.md says why whoever takes the shard over
 * finds the same.
 */
import { DbError } from "../../base/error.ts";
import { LOG_WRITERS_MAX } from "../../base/limits.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TableId, WriterId } from "../../base/units.ts";
import { placeChunk } from "../../storage/memtable/chunk-codec.ts";
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";
import type { DecodedEntry } from "../../storage/memtable/write-record.ts";
import type { MetaChange, MetaStore, MetaValue } from "../../storage/meta-store/meta-store.ts";
import type { Region } from "../../storage/region/region.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import { Writers } from "../log/writers.ts";
import type { Shards } from "../schema/shards.ts";
import { renumber } from "../series/series-translator.ts";
import { type FollowedMessage, type FollowedRecord, type FollowedResumption, SEQUENCES_A_MESSAGE } from "./followed-source.ts";
import {
  type AgedSegment,
  AGES_KEY,
  agesEntry,
  CLOSED_KEY,
  type ClosedSegment,
  closedEntry,
  type LogStart,
  readAges,
  LOSSES_KEY,
  lossesEntry,
  readClosed,
  readStart,
  START_KEY,
} from "./log-start.ts";
import { LogLosses } from "./log-losses.ts";
import { quietAges } from "./segment-ages.ts";
import { type WriterSegment, WriterSegments } from "./writer-segments.ts";
import { WriterSnapshots } from "./writer-snapshots.ts";

/** How long a hole in a writer's numbers is normal: it sends again what failed, at the latest after an election of 9 s. */
const GAP_MILLIS = 10_000;

/** What it works on. */
export interface FollowerParts {
  readonly meta: Pick<MetaStore, "get">;
  readonly sequences: SequenceCounter;
  readonly shards: Shards;
  readonly logger: Logger;
  /** As of `FollowLimits`. */
  readonly snapshotMessages: number;
  /** By the monotonic clock. */
  readonly nowMillis: () => number;
  regionOf(id: TableId): Region | undefined;
  /** Ids of tables from this one on were never given out. */
  nextTableId(): number;
}

/** Records that were skipped since the start, by why. */
export interface SkippedRecords {
  gap: number;
  older: number;
  closed: number;
  /** Their rows had counted before. */
  repeated: number;
}

/** See the file header. */
export class Follower {
  readonly segments: WriterSegments = new WriterSegments();
  readonly skipped: SkippedRecords = { gap: 0, older: 0, closed: 0, repeated: 0 };
  /** Where whoever takes the shard over begins, as far as that is committed. */
  start: LogStart;
  /** Bytes of messages that were taken since this process began. */
  takenBytes = 0;
  readonly snapshots: WriterSnapshots;
  readonly writers: Writers;
  readonly closed: Map<WriterId, ClosedSegment>;
  readonly losses: LogLosses;
  /**
   * Whether files have rows of messages that the log has lost: a message that has such a number now may be another. Then rows count though
   * their sequence is flushed: none is lost, those of append mode may be there twice.
   */
  isDoubted = false;
  /** As owners before left them. */
  private readonly agesBefore: ReadonlyMap<WriterId, AgedSegment>;
  private readonly sinceMillis: number;
  /** Writers whose last record came behind a hole, and since when. */
  private readonly gaps: Map<WriterId, number> = new Map();
  private readonly parts: FollowerParts;
  private last: FollowedMessage | undefined;
  /** The largest sequence that is flushed and lies behind what was taken; 0: none does. */
  private ahead = 0;

  /** @throws DbError StorageUnavailable when what the manifest says of the log is broken */
  constructor(parts: FollowerParts) {
    this.parts = parts;
    this.start = readStart(parts.meta);
    this.closed = readClosed(parts.meta);
    this.losses = new LogLosses(parts.meta);
    this.agesBefore = readAges(parts.meta);
    this.sinceMillis = parts.nowMillis();
    this.writers = Writers.restored(this.start.writers, START_KEY, (writer) => this.forgetWriter(writer));
    this.snapshots = new WriterSnapshots(this.start.number, parts.snapshotMessages);
    parts.sequences.sawUsed(newestOf(this.start.number));
  }

  /** Number of the last message that was taken. */
  get applied(): number {
    return this.last?.number ?? this.start.number;
  }

  /** All up to this message may go once what was taken need not be read again: records that are not whole yet begin behind it. */
  get from(): number {
    return this.last === undefined ? this.start.from : fromOf(this.last);
  }

  /** The last message that a file has rows of, as far as it lies behind what was taken: until then tables are not all of one time. */
  get wholeFrom(): number {
    return Math.max(this.applied, Math.floor(this.ahead / SEQUENCES_A_MESSAGE));
  }

  /**
   * Notes that rows up to a sequence are in files. It counts as used only once the log was taken up to there: a flush says that all rows
   * up to the newest sequence are in memory or files.
   */
  sawUsed(flushed: number): void {
    if (messageOf(flushed) <= this.applied) this.parts.sequences.sawUsed(flushed);
    else this.ahead = Math.max(this.ahead, flushed);
  }

  /** What goes with each commit: flushed rows are believed by which records count, and segments stay as old as they are. */
  uncommitted(): readonly MetaChange[] {
    const { known } = this.losses;
    return [
      ...this.unless(CLOSED_KEY, closedEntry(this.closed)),
      ...this.unless(AGES_KEY, agesEntry(this.ages(readAges(this.parts.meta)))),
      ...(known === undefined ? [] : this.unless(LOSSES_KEY, lossesEntry(known))),
    ];
  }

  /** Whether segments have become so much older since the last commit that it is worth one of its own. */
  get hasAged(): boolean {
    const told = readAges(this.parts.meta);
    for (const [writer, { segment, millis }] of this.ages(told)) {
      const before = told.get(writer);
      if (before?.segment !== segment || before.millis < millis) return true;
    }
    return false;
  }

  private ages(told: ReadonlyMap<WriterId, AgedSegment>): ReadonlyMap<WriterId, AgedSegment> {
    const { segments, closed, sinceMillis } = this;
    return quietAges({ segments, closed, told, sinceMillis }, this.parts.nowMillis());
  }

  private unless(key: string, value: MetaValue): readonly MetaChange[] {
    return JSON.stringify(this.parts.meta.get(key) ?? []) === JSON.stringify(value) ? [] : [{ key, value }];
  }

  /** Takes the next message; returns the bytes of rows that came into memory. @throws DbError: memory lacks something of it */
  take(message: FollowedMessage): number {
    const { sequences } = this.parts;
    if (message.number !== this.applied + 1) throw broken(`message ${message.number} came behind ${this.applied}`);
    let bytes = 0;
    if (message.damaged !== undefined || this.losses.isDamaged(message.number)) this.passDamaged(message);
    else {
      if (message.resumption !== undefined) this.resume(message.resumption, message.number);
      for (const record of message.records) bytes += this.takeRecord(record, message.number);
    }
    this.last = message;
    this.takenBytes += message.bytes;
    sequences.sawUsed(Math.max(message.number * SEQUENCES_A_MESSAGE, message.records.at(-1)?.sequence ?? 0));
    if (this.ahead > 0 && messageOf(this.ahead) <= message.number) {
      sequences.sawUsed(this.ahead);
      this.ahead = 0;
    }
    this.snapshots.taken(message.number, fromOf(message), this.takenBytes, this.writers);
    return bytes;
  }

  private passDamaged({ number, damaged = "an owner before could not read it" }: FollowedMessage): void {
    const isKnown = this.losses.isDamaged(number);
    if (!isKnown) this.losses.found(number);
    const what = "a message of the log is damaged, and passed over; its writer sends it again if it still holds it";
    this.parts.logger.error({ message: number, error: damaged, isKnown }, what);
  }

  private resume(resumption: FollowedResumption, message: number): void {
    const { writer, number, asks } = resumption;
    const missing = this.writers.resume(resumption);
    this.gaps.delete(writer);
    if (missing > 0) {
      const what = "records of a writer are lost: the log lost them, and their writer does not hold them any more";
      this.parts.logger.error({ writer, from: number - missing, to: number - 1, message }, what);
    }
    if (asks) this.losses.heardOf(message);
  }

  /** Whether a hole in a writer's numbers has been there for longer than it takes to send records again. */
  get hasGap(): boolean {
    const before = this.parts.nowMillis() - GAP_MILLIS;
    for (const since of this.gaps.values()) if (since <= before) return true;
    return false;
  }

  /** Asks writers of such holes, once for each. */
  askOfGaps(): void {
    const before = this.parts.nowMillis() - GAP_MILLIS;
    for (const [writer, since] of this.gaps) {
      if (since > before) continue;
      this.losses.ask(writer);
      this.gaps.set(writer, Number.POSITIVE_INFINITY);
      this.parts.logger.warn({ writer }, "records of a writer are missing from the log: it is asked for them, if it lives");
    }
  }

  /** Says that the log has nothing behind what was taken: all rows that files have count as used. */
  endOfLog(): void {
    this.parts.sequences.sawUsed(this.ahead);
    this.ahead = 0;
  }

  /** Goes on behind a message that nobody has seen. */
  goOnBehind(start: LogStart): void {
    this.start = start;
    this.isDoubted = false;
    this.last = { number: start.number, bytes: 0, records: [], open: undefined };
    this.parts.sequences.sawUsed(newestOf(start.number));
    this.snapshots.forget(start.number);
    for (const { writer } of this.segments.current()) this.segments.end(writer); // A map lets go of what it is at.
  }

  /** Whether a delete may take the next sequence; if not, it has to wait for another message. */
  get hasRoom(): boolean {
    return this.ahead === 0 && messageOf(this.parts.sequences.newest + 1) <= this.applied;
  }

  private takeRecord(record: FollowedRecord, number: number): number {
    const { origin, sequence, first, entries } = record;
    if (origin === undefined) throw broken(`record ${sequence} does not say who wrote it`);
    const closed = this.closed.get(origin.writer);
    if (closed !== undefined && origin.segment <= closed.segment && number > closed.through) return this.skip("closed", record);
    const verdict = this.writers.take(origin);
    if (verdict.kind === "gap") this.noteGap(origin.writer);
    if (verdict.kind === "gap" || verdict.kind === "older") return this.skip(verdict.kind, record);
    if (this.gaps.size > 0) this.gaps.delete(origin.writer);
    if (verdict.kind === "definitions") this.skip("repeated", record);
    const segment = this.segmentOf(origin, verdict.begins, first);
    let bytes = 0;
    for (const entry of entries) bytes += this.takeEntry(entry, record, segment, verdict.kind === "rows");
    return bytes;
  }

  private noteGap(writer: WriterId): void {
    if (this.gaps.has(writer)) return;
    this.gaps.set(writer, this.parts.nowMillis());
    if (this.gaps.size <= LOG_WRITERS_MAX) return;
    for (const oldest of this.gaps.keys()) return void this.gaps.delete(oldest);
  }

  private forgetWriter(writer: WriterId): void {
    this.segments.end(writer);
    this.gaps.delete(writer);
  }

  private skip(why: keyof SkippedRecords, { origin, sequence }: FollowedRecord): 0 {
    this.skipped[why]++;
    this.parts.logger.debug({ sequence, writer: origin?.writer, number: origin?.number, segment: origin?.segment, why }, "record skipped");
    return 0;
  }

  private segmentOf({ writer, segment }: RecordOrigin, begins: boolean, first: number): WriterSegment {
    const now = this.parts.nowMillis();
    const known = begins ? undefined : this.segments.of(writer);
    if (known !== undefined) {
      known.heardMillis = now;
      return known;
    }
    const before = this.agesBefore.get(writer);
    const millis = before?.segment === segment ? before.millis : 0;
    // One that began before this process read the log: its rows are in files, or it is closed.
    return this.segments.begin({ writer, segment, first, seenMillis: now - millis, heardMillis: now });
  }

  private takeEntry(entry: DecodedEntry, { sequence }: FollowedRecord, segment: WriterSegment, hasRows: boolean): number {
    const region = this.regionOf(entry.tableId, sequence);
    if (region === undefined) return 0;
    const known = segment.translator.define(entry, region.registry);
    const isFlushed = sequence <= region.flushedSequence && !this.isDoubted;
    if (!hasRows || isFlushed || entry.header.rowCount === 0) return 0;
    segment.rows.set(entry.tableId, sequence);
    region.follow((memtable) => {
      const placed = placeChunk(entry.header, entry.bytes, memtable.arena);
      known.complete(placed);
      const chunk = renumber(placed, known.series);
      if (chunk !== undefined) return chunk;
      throw broken(`record ${sequence} has rows of table ${region.schemaNow.name} of series that nothing has defined`);
    });
    return entry.header.payloadBytes;
  }

  /** The region of an entry; undefined: its table was dropped. @throws DbError StorageUnavailable */
  private regionOf(id: TableId, sequence: number): Region | undefined {
    const { shards } = this.parts;
    const region = this.parts.regionOf(id);
    if (region !== undefined) return region;
    const table = shards.tableOf(id);
    if (shards.own !== undefined && shards.shardOf(id) !== shards.own) {
      throw broken(`record ${sequence} has rows of shard ${shards.shardOf(id)}, and this is shard ${shards.own}`);
    }
    const nextTableId = this.parts.nextTableId();
    if (table < nextTableId) return undefined;
    throw broken(`record ${sequence} is of table ${table}, and the catalogue has given out ids below ${nextTableId} only`);
  }
}

/** As of `LogStart`, behind a message. */
function fromOf({ number, open }: FollowedMessage): number {
  return open === undefined ? number : open - 1;
}

/** The message that a sequence lies in or behind. */
function messageOf(sequence: number): number {
  return Math.floor(sequence / SEQUENCES_A_MESSAGE);
}

/** The largest sequence of a message that was taken by others. */
function newestOf(message: number): number {
  return message * SEQUENCES_A_MESSAGE;
}

function broken(why: string): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot follow the log of a shard: ${why}`);
}
