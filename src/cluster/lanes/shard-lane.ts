/**
 * Writes records to the log of a shard by the rule of `engine/log/writers.ts`, whatever happens on the way.
 *
 * ```
 *            append ─► queue ──(at most IN_FLIGHT_MAX messages)──► under way ──answers, in order──► acknowledged
 *                        │                                             │
 *                        └─────────┬───────────────────────────────────┘ a failure, a late answer, numbers that do not rise
 *                                  ▼
 *                                again ──one message at a time, until it is answered──► acknowledged
 *                                  └──nothing was for waitMillis──► given up; the lane goes on as a new writer
 * ```
 *
 * | what                                                        | why                                                               |
 * |-------------------------------------------------------------|-------------------------------------------------------------------|
 * | again, a record has a segment of its own, in rising order   | it relies on no other, so those of one message may go together    |
 * | again, it keeps its number                                  | its rows count once, however often it is there                    |
 * | what was queued goes again as well                          | it relies on records before it that did not come through          |
 * | records appended meanwhile have a segment behind all those  | a follower passes over what is of an older one                    |
 * | a record that is given up takes with it all that were sent  | behind the hole in the numbers none of them counts; under another |
 * |                                                             | number their rows could count twice                               |
 * | records never sent go on under the new writer               | they are nowhere yet                                              |
 * | an answer after BELIEVED_MILLIS counts as none              | the follower may have let go of what the segment defined          |
 * | one whose number is not above the last counts as none       | another record came between that a follower needs before it       |
 *
 * A log that loses what it had acknowledged is found by a number that does not rise though nothing else was under way, by what the port
 * says, or by the shard's owner, who asks (`heard`). Then what is kept of what was acknowledged goes again, before everything else
 * (`kept-sender.ts`).
 */
import { assert, AssertionError } from "../../base/assert.ts";
import { DbError, errorText, toDbError } from "../../base/error.ts";
import type { TableId } from "../../base/units.ts";
import { LogWriter } from "../../engine/log/log-writer.ts";
import type { RecordLane } from "../../engine/log/record-lane.ts";
import { tooMany } from "../../engine/write/too-many-writes.ts";
import { encodeWriteRecord, type RecordEntry } from "../../storage/memtable/write-record.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import { PortError, portFailureOf } from "../port/port-error.ts";
import { givenUp, laneClosed, tooLong } from "./lane-errors.ts";
import { LaneAdmission } from "./lane-admission.ts";
import { LaneClock } from "./lane-clock.ts";
import type { LaneCounts, ShardLaneParts } from "./lane-parts.ts";
import { KeptRecords } from "./kept-records.ts";
import { type KeptSender, sendKept } from "./kept-sender.ts";
import { LaneRecord } from "./lane-record.ts";
import {
  AGAIN_MILLIS,
  BELIEVED_MILLIS,
  CLOSE_MILLIS,
  IN_FLIGHT_MAX,
  LANE_BYTES_MAX,
  LANE_KEPT_BYTES_MAX,
  LANE_MESSAGE_BYTES_MAX,
  SEGMENT_BYTES_MAX,
  SEGMENT_MILLIS,
  SILENT_MILLIS,
  WAIT_MILLIS,
} from "./limits.ts";
import { nextShipment, recordBytesMax, type Shipment, transmit } from "./shipment.ts";

/** See the file header. Invariant: numbers of `again`, `underWay` and `queue` rise in this order without holes, and segments do. */
export class ShardLane implements RecordLane {
  readonly counts: LaneCounts = { records: 0, bytes: 0, messages: 0, resends: 0, restored: 0, failures: 0, waits: 0 };
  private readonly parts: ShardLaneParts;
  private readonly clock: LaneClock;
  private readonly messageBytes: number;
  private readonly bytesMax: number;
  private readonly waitMillis: number;
  private readonly segmentBytesMax: number;
  private readonly kept: KeptRecords;
  private readonly admission: LaneAdmission;
  private writer: LogWriter;
  private again: LaneRecord[] = [];
  private underWay: Shipment[] = [];
  private queue: LaneRecord[] = [];
  private bytes = 0;
  /** Answers to what an earlier one sent say nothing. */
  private generation = 0;
  /** Of the last message that was acknowledged. */
  private lastNumber = 0;
  private lastAppendAt = 0;
  private segment = 0;
  private isSegmentOver = true;
  private segmentAt: number | undefined;
  private segmentBytes = 0;
  /** Whose numbers the segment's records name. */
  private readonly registries: Map<TableId, SeriesRegistry> = new Map();
  private isResending = false;
  /** Who asks for what was acknowledged to go again, until that has begun. */
  private restoring: "for the owner" | "of itself" | undefined;
  /** Whether it has to go again, or does: nothing else is sent before. */
  private isRestoring = false;
  /** How often the shard's owners had asked, as far as this lane has answered. */
  private asked: number | undefined;
  private isClosed = false;
  private lastError: unknown;
  /** Why the last append was refused by a log that is not what it has to be. */
  private fatal: string | undefined;
  private onIdle: (() => void) | undefined;

  /** Number of the last message of the log that was acknowledged; 0 before the first. */
  get newest(): number {
    return this.lastNumber;
  }

  constructor(parts: ShardLaneParts) {
    this.parts = parts;
    this.clock = new LaneClock(parts.clock);
    this.messageBytes = Math.min(parts.port.messageBytesMax, LANE_MESSAGE_BYTES_MAX);
    this.bytesMax = parts.bytesMax ?? LANE_BYTES_MAX;
    this.waitMillis = parts.waitMillis ?? WAIT_MILLIS;
    const keptBytesMax = parts.keptBytesMax ?? LANE_KEPT_BYTES_MAX;
    this.kept = new KeptRecords(keptBytesMax, parts.kept);
    this.segmentBytesMax = Math.min(SEGMENT_BYTES_MAX, Math.ceil(keptBytesMax / 2));
    this.writer = new LogWriter(parts.catalogVersion);
    this.admission = new LaneAdmission({ ...parts, refusal: () => this.refusal() });
  }

  /** Bytes of records that wait or are under way. */
  get heldBytes(): number {
    return this.bytes;
  }

  /** Bytes of messages that were acknowledged, and are kept. */
  get keptBytes(): number {
    return this.kept.bytes;
  }

  /** Lets go of what is kept: memory is short. */
  forgetKept(): void {
    if (!this.isRestoring) this.kept.forget();
  }

  /**
   * Hears how often the shard's owners have asked writers to send again what they hold. Whoever was acknowledged nothing before the first
   * time has nothing to send.
   *
   * @param writer whom they asked the last time; 0: all
   */
  heard(asked: number, writer: number): void {
    const { asked: before } = this;
    if (before !== undefined && asked <= before) return;
    this.asked = asked;
    if (asked === 0 || (before === undefined && this.counts.records === 0)) return;
    const isOfOther = before !== undefined && asked === before + 1 && writer !== 0;
    if (isOfOther && writer !== this.writer.id && !this.kept.has(writer)) return;
    this.restore("for the owner", "the owner of the shard asks for it");
  }

  /** Says that the log ends before a message that was there. */
  wentBack(why: string): void {
    this.restore("of itself", why);
  }

  beginRecord(): number {
    const now = this.now();
    if (this.isIdle && now - this.lastAppendAt > SILENT_MILLIS) this.beginWriter();
    const isOld = this.segmentAt !== undefined && now - this.segmentAt > SEGMENT_MILLIS;
    if (this.isSegmentOver || isOld || this.segmentBytes > this.segmentBytesMax) this.beginSegment();
    return this.segment;
  }

  endSegment(): void {
    this.isSegmentOver = true;
  }

  append(entries: readonly RecordEntry[]): Promise<void> {
    let record: LaneRecord;
    try {
      record = this.numbered(entries);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.endSegment(); // What the record's series were marked with says that they are defined.
      return Promise.reject(toDbError(error));
    }
    this.queue.push(record);
    this.pump();
    return record.done;
  }

  get isBusy(): boolean {
    return this.admission.isBusy;
  }

  async admit(signal?: AbortSignal): Promise<void> {
    if (!this.admission.isBusy) return;
    this.counts.waits++;
    await this.admission.wait(signal);
  }

  failure(): string | undefined {
    if (this.isClosed) return laneClosed(this.parts.shard).message;
    return this.fatal;
  }

  /** Takes no more records, and waits a while for those that are under way; what is left fails. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (!this.isIdle) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.onIdle = resolve;
      await Promise.race([promise, this.parts.sleep(CLOSE_MILLIS)]);
    }
    if (!this.isIdle) this.failAll(laneClosed(this.parts.shard));
  }

  private get isIdle(): boolean {
    return this.again.length === 0 && this.underWay.length === 0 && this.queue.length === 0 && !this.isRestoring;
  }

  private now(): number {
    return this.clock.now();
  }

  /** Why another record has to wait. */
  private refusal(): string | undefined {
    const { memory, lag, shard } = this.parts;
    if (this.bytes * 2 > this.bytesMax) return `${this.bytes} bytes wait for the log of shard ${shard}`;
    if (memory.bytes * 2 > memory.bytesMax) return `${memory.bytes} bytes wait for the logs of shards`;
    return lag();
  }

  /** @throws DbError StorageUnavailable, RateLimited, InvalidArguments */
  private numbered(entries: readonly RecordEntry[]): LaneRecord {
    const { shard, memory } = this.parts;
    if (this.isClosed) throw laneClosed(shard);
    assert(!this.isSegmentOver, "a record is begun before it is appended");
    const now = this.now();
    const isMixed = entries.some(({ tableId, registry }) => (this.registries.get(tableId) ?? registry) !== registry);
    if (isMixed) this.beginSegment();
    this.segmentAt ??= now;
    const origin = this.writer.next(this.segment);
    const record = new LaneRecord(origin, entries, isMixed ? undefined : encodeWriteRecord(origin, entries), now, this.segmentAt);
    const longest = recordBytesMax(this.messageBytes);
    if (record.countedBytes > longest) throw tooLong(shard, record.countedBytes, longest);
    if (this.bytes > 0 && this.bytes + record.countedBytes > this.bytesMax)
      throw tooMany(`${this.bytes} bytes wait for the log of shard ${shard}`);
    if (memory.bytes > 0 && memory.bytes + record.countedBytes > memory.bytesMax)
      throw tooMany(`${memory.bytes} bytes wait for the logs of shards`);
    this.writer.appended(origin);
    if (isMixed) this.endSegment(); // Series that later records leave out were marked in the segment before.
    for (const { tableId, registry } of entries) this.registries.set(tableId, registry);
    this.segmentBytes += record.countedBytes;
    this.bytes += record.countedBytes;
    memory.take(record.countedBytes);
    this.lastAppendAt = now;
    return record;
  }

  private beginSegment(): void {
    this.segment++;
    this.isSegmentOver = false;
    this.segmentAt = undefined;
    this.segmentBytes = 0;
    this.registries.clear();
  }

  private beginWriter(): void {
    this.writer = new LogWriter(this.parts.catalogVersion);
    this.isSegmentOver = true;
  }

  /** Sends what may be sent now. */
  private pump(): void {
    if (this.isRestoring) return;
    if (this.again.length > 0) {
      if (!this.isResending) void this.resend(); // It ends with the lane at the latest, and fails no other way than its records do.
      return;
    }
    while (this.queue.length > 0 && this.underWay.length < IN_FLIGHT_MAX) {
      if (this.underWay.at(-1)?.isCut === true) return; // Nothing comes between the parts of a record.
      const shipment = nextShipment(this.queue, this.messageBytes);
      this.queue.splice(0, shipment.records.length);
      this.underWay.push(shipment);
      void this.ship(shipment); // As `resend`.
    }
  }

  private async ship(shipment: Shipment): Promise<void> {
    const { generation } = this;
    let error: unknown;
    try {
      const stored = await transmit(shipment, this.parts.port.log, this.parts.shard);
      if (stored !== "again") shipment.stored = stored;
    } catch (thrown) {
      error = thrown;
    }
    if (generation !== this.generation) return;
    if (shipment.stored === undefined) return this.sendAgain(error);
    for (let [first] = this.underWay; first?.stored !== undefined; [first] = this.underWay) {
      if (!this.isBelieved(first)) return this.sendAgain(undefined);
      this.underWay.shift();
      this.acknowledge(first);
    }
    this.pump();
  }

  /** Whether a follower is sure to take the shipment's records as they are. */
  private isBelieved({ records, stored }: Shipment): boolean {
    if (stored === undefined || stored.first <= this.lastNumber) return false;
    const oldest = this.now() - BELIEVED_MILLIS;
    return records.every(({ segmentAt }) => segmentAt !== undefined && segmentAt >= oldest);
  }

  private acknowledge(shipment: Shipment): void {
    const { records, stored } = shipment;
    assert(stored !== undefined, "what is acknowledged is stored");
    this.kept.keep(shipment);
    this.lastNumber = stored.last;
    this.fatal = undefined;
    this.counts.messages += stored.messages;
    this.counts.records += records.length;
    for (const record of records) {
      this.counts.bytes += record.countedBytes;
      this.release(record);
      record.resolve();
    }
    if (this.isIdle) this.onIdle?.();
  }

  private release({ countedBytes }: LaneRecord): void {
    this.bytes -= countedBytes;
    this.parts.memory.give(countedBytes);
  }

  /** Everything goes again, each record in a segment of its own. @param error of the append that failed; undefined: none did */
  private sendAgain(error: unknown): void {
    if (error !== undefined) {
      this.parts.logger.warn({ shard: this.parts.shard, error: errorText(error) }, "an append failed; its records are sent again");
      if (portFailureOf(error) === "went-back") return this.restore("of itself", errorText(error));
      if (isFatal(error)) return this.failAll(error);
    }
    this.lastError = error;
    this.again = [...this.again, ...this.underWay.flatMap(({ records }) => records), ...this.queue];
    this.underWay = [];
    this.queue = [];
    this.generation++;
    for (const record of this.again) record.setAlone({ ...record.origin, segment: ++this.segment });
    this.isSegmentOver = true;
    this.pump();
  }

  private async resend(): Promise<void> {
    const { sleep, port, shard } = this.parts;
    this.isResending = true;
    while (this.again.length > 0 && !this.isRestoring) {
      if (this.lastError !== undefined) await sleep(AGAIN_MILLIS);
      const shipment = this.nextAgain();
      if (shipment === undefined) continue;
      const { generation } = this;
      this.lastError = undefined;
      try {
        const stored = await transmit(shipment, port.log, shard);
        if (stored !== "again") shipment.stored = stored;
      } catch (error) {
        this.lastError = error;
      }
      if (generation !== this.generation) continue;
      if (this.lastError !== undefined) this.triedInVain(this.lastError);
      else if (shipment.stored !== undefined && shipment.stored.first <= this.lastNumber) {
        // It was sent once the one before was answered.
        this.restore("of itself", `message ${shipment.stored.first} was stored behind message ${this.lastNumber}`);
      } else if (!this.isBelieved(shipment)) this.sendAgain(undefined);
      else {
        this.again.splice(0, shipment.records.length);
        this.acknowledge(shipment);
      }
    }
    this.isResending = false;
    this.pump();
  }

  /** Everything goes again, what was acknowledged first. Does nothing where nothing was, or the lane has ended. */
  private restore(who: "for the owner" | "of itself", why: string): void {
    const { shard, logger } = this.parts;
    logger.error({ shard, why, keptBytes: this.kept.bytes }, "the log of a shard has lost records: what is kept is sent again");
    const isBegun = this.isRestoring;
    this.restoring = who;
    this.isRestoring = true;
    this.lastNumber = 0;
    this.sendAgain(undefined);
    if (!isBegun) void this.runRestore(); // It never rejects.
  }

  private async runRestore(): Promise<void> {
    const { shard, logger } = this.parts;
    for (let who = this.restoring; who !== undefined; who = this.restoring) {
      this.restoring = undefined;
      const unacknowledged = this.again[0]?.origin ?? { writer: this.writer.id, number: this.writer.lastNumber + 1 };
      const current = unacknowledged.number > 1 ? unacknowledged : undefined;
      const sent = await sendKept(() => this.kept.segments(), current, this.keptSender(who));
      if (sent === undefined) break;
      this.counts.restored += sent.records;
      this.lastNumber = sent.last;
      logger.warn({ shard, records: sent.records, last: sent.last }, "records that the log may have lost were sent again");
    }
    this.isRestoring = false;
    this.restoring = undefined;
    this.sendAgain(undefined); // Under segments behind those that were used.
    if (this.isIdle) this.onIdle?.();
  }

  private keptSender(who: "for the owner" | "of itself"): KeptSender {
    const { port, shard, sleep } = this.parts;
    return {
      log: port.log,
      shard,
      messageBytes: this.messageBytes,
      asks: who === "of itself",
      now: () => this.now(),
      nextSegment: () => ++this.segment,
      failed: async (error) => {
        if (portFailureOf(error) !== "went-back" && isFatal(error)) {
          this.failAll(error);
          return false;
        }
        if (this.isClosed && this.again.length === 0 && this.queue.length === 0) return false;
        this.sendAgain(undefined); // What came meanwhile waits as long as the others.
        this.giveUpLate(error);
        await sleep(AGAIN_MILLIS);
        return true;
      },
    };
  }

  /** The next of what goes again; undefined: there was none, or it was given up, since it has become too long. */
  private nextAgain(): Shipment | undefined {
    const [first] = this.again;
    if (first === undefined) return undefined;
    const longest = recordBytesMax(this.messageBytes);
    if (first.byteLength > longest) {
      this.giveUp((record) => record === first, tooLong(this.parts.shard, first.byteLength, longest));
      return undefined;
    }
    const shipment = nextShipment(this.again, this.messageBytes);
    const now = this.now();
    for (const record of shipment.records) {
      if (record.segmentAt === undefined) this.counts.resends++;
      record.segmentAt ??= now;
    }
    return shipment;
  }

  /** What becomes of records that could not be sent again. */
  private triedInVain(error: unknown): void {
    if (portFailureOf(error) === "went-back") return this.restore("of itself", errorText(error));
    if (isFatal(error)) return this.failAll(error);
    this.giveUpLate(error);
  }

  /** Gives up what waits for too long. */
  private giveUpLate(error: unknown): void {
    const oldest = this.now() - this.waitMillis;
    if ((this.again[0]?.appendedAt ?? oldest) >= oldest) return;
    this.giveUp(({ appendedAt }) => appendedAt < oldest, error);
  }

  /** Fails records of `again`, and all of which nobody knows whether they are there; others go on under a new writer. */
  private giveUp(isGivenUp: (record: LaneRecord) => boolean, cause: unknown): void {
    const all = [...this.again, ...this.queue];
    this.again = [];
    this.queue = [];
    this.generation++;
    this.beginWriter();
    for (const record of all) {
      if (record.unsure > 0 || isGivenUp(record)) this.fail(record, cause);
      else {
        const origin = this.writer.next(++this.segment);
        this.writer.appended(origin);
        record.setAlone(origin);
        this.again.push(record);
      }
    }
    if (this.isIdle) this.onIdle?.();
  }

  private fail(record: LaneRecord, cause: unknown): void {
    this.counts.failures++;
    this.release(record);
    const isOwn = cause instanceof DbError && !(cause instanceof PortError) && record.unsure === 0;
    record.reject(isOwn ? cause : givenUp(this.parts.shard, record.unsure > 0, cause));
  }

  /** The log is not what it has to be, or the lane is closed. */
  private failAll(cause: unknown): void {
    if (!this.isClosed) {
      this.fatal = errorText(cause);
      this.parts.logger.error({ shard: this.parts.shard, error: this.fatal }, "cannot go on with the log of a shard");
    }
    this.queue = [...this.underWay.flatMap(({ records }) => records), ...this.queue];
    this.underWay = [];
    this.giveUp(() => true, cause);
  }
}

/** Whether trying again does not help. */
function isFatal(error: unknown): boolean {
  const failure = portFailureOf(error);
  return failure !== "unavailable" && failure !== "unknown" && failure !== "full" && failure !== "vanished";
}
