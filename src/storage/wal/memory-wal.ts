/**
 * The log in memory, for tests and rehearsals: the same segments and the same group commit as the local log, with a disk that can be held,
 * made to fail, and lose power.
 */
import { assert } from "../../base/assert.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { RECORD_HEADER_BYTES, RECORD_PAYLOAD_BYTES_MAX, SEGMENT_HEADER_BYTES } from "./record-header.ts";
import type { Wal, WalQueue, WalRecord, WalRecoveryReport, WalSegment } from "./wal.ts";

/** A log whose disk obeys the test. */
export interface MemoryWal extends Wal {
  /** From now on nothing becomes durable until `release`. */
  hold(): void;
  release(): void;
  /** The next group of records cannot be written. */
  failNextWrite(why: string): void;
  /** The next sync fails: the log takes no records until `heal`. */
  failNextSync(why: string): void;
  /** The disk works again. */
  heal(): void;
  /** Loses power: answers the log that the next start opens. It holds what was durable; promises of this one never settle. */
  crash(): MemoryWal;
}

interface StoredRecord {
  readonly sequence: number;
  readonly payload: Uint8Array;
}

interface Pending extends StoredRecord {
  readonly segment: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** An empty log. A segment that reached `segmentBytes` takes no more records. */
export function memoryWal(segmentBytes: number = 64 * 1024 * 1024): MemoryWal {
  return new MemoryLog(segmentBytes, new Map());
}

/** Invariant: `durable` holds whole groups only, in the order of their sequences, segments ascending. */
class MemoryLog implements MemoryWal {
  private readonly segmentBytes: number;
  private readonly durable: Map<number, StoredRecord[]>;
  private state: "new" | "open" | "closed" | "crashed" = "new";
  private headId = 0;
  private headBytes = 0;
  private queue: Pending[] = [];
  private writing: readonly Pending[] = [];
  private pumping: Promise<void> | undefined;
  private gate: PromiseWithResolvers<void> | undefined;
  private writeFailure: string | undefined;
  private syncFailure: string | undefined;
  private trouble: string | undefined;

  constructor(segmentBytes: number, durable: Map<number, StoredRecord[]>) {
    this.segmentBytes = segmentBytes;
    this.durable = durable;
  }

  async recover(onRecord: (record: WalRecord) => Promise<void> | void): Promise<WalRecoveryReport> {
    assert(this.state === "new", `a log is recovered once; got ${this.state}`);
    let records = 0;
    let bytes = 0;
    for (const [segment, stored] of this.durable) {
      this.headId = segment;
      for (const { sequence, payload } of stored) {
        records++;
        bytes += payload.length;
        await onRecord({ segment, sequence, payload });
      }
    }
    this.headBytes = Number.POSITIVE_INFINITY;
    this.state = "open";
    return { segments: this.durable.size, records, bytes, tornTailBytes: 0, lostBytes: 0, lostSegments: 0, gaps: [] };
  }

  beginRecord(): number {
    assert(this.state !== "new", "a log is recovered before records begin");
    if (this.headBytes >= this.segmentBytes) {
      this.headId++;
      this.headBytes = SEGMENT_HEADER_BYTES;
    }
    return this.headId;
  }

  endSegment(): void {
    this.headBytes = Number.POSITIVE_INFINITY;
  }

  append(sequence: number, parts: readonly Uint8Array[]): Promise<void> {
    assert(this.headId > 0, "beginRecord comes before append");
    if (this.trouble !== undefined || this.state !== "open") {
      this.headBytes = Number.POSITIVE_INFINITY;
      return Promise.reject(unavailable(this.trouble ?? `it is ${this.state}`));
    }
    const payload = new Uint8Array(Buffer.concat(parts));
    if (payload.length > RECORD_PAYLOAD_BYTES_MAX) {
      this.headBytes = Number.POSITIVE_INFINITY;
      const message = `cannot log a write of ${payload.length} bytes: ${RECORD_PAYLOAD_BYTES_MAX} is the limit`;
      return Promise.reject(invalidArguments(message));
    }
    this.headBytes += RECORD_HEADER_BYTES + payload.length;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.queue.push({ segment: this.headId, sequence, payload, resolve, reject });
    this.pumping ??= this.pump();
    return promise;
  }

  queued(): WalQueue {
    const records = [...this.writing, ...this.queue];
    return { records: records.length, bytes: records.reduce((sum, { payload }) => sum + RECORD_HEADER_BYTES + payload.length, 0) };
  }

  segments(): readonly WalSegment[] {
    return [...this.durable].map(([id, records]) => ({
      id,
      bytes: records.reduce((sum, { payload }) => sum + RECORD_HEADER_BYTES + payload.length, SEGMENT_HEADER_BYTES),
    }));
  }

  async rotate(): Promise<void> {
    if (this.pumping === undefined && this.state === "open") this.headBytes = Number.POSITIVE_INFINITY;
  }

  async trim(segment: number): Promise<void> {
    const isHeadComplete = this.headBytes === Number.POSITIVE_INFINITY;
    for (const id of this.durable.keys()) if (id < segment && (id < this.headId || isHeadComplete)) this.durable.delete(id);
  }

  failure(): string | undefined {
    return this.trouble;
  }

  async close(): Promise<void> {
    if (this.state === "open") this.state = "closed";
    while (this.pumping !== undefined && this.state !== "crashed") await this.pumping;
  }

  hold(): void {
    this.gate ??= Promise.withResolvers<void>();
  }

  release(): void {
    this.gate?.resolve();
    this.gate = undefined;
  }

  failNextWrite(why: string): void {
    this.writeFailure = why;
  }

  failNextSync(why: string): void {
    this.syncFailure = why;
  }

  heal(): void {
    this.syncFailure = undefined;
    this.trouble = undefined;
  }

  crash(): MemoryWal {
    this.state = "crashed";
    return new MemoryLog(this.segmentBytes, new Map([...this.durable].map(([id, records]) => [id, [...records]])));
  }

  private async pump(): Promise<void> {
    while (this.queue.length > 0) {
      await Promise.resolve(); // Records of one turn of the event loop form a group.
      const group = this.takeGroup();
      this.writing = group;
      while (this.gate !== undefined) await this.gate.promise;
      if (this.state === "crashed") return; // The process is gone: nobody hears of these records again.
      const failure = this.store(group);
      if (failure === undefined) for (const record of group) record.resolve();
      else this.rejectFrom(group, failure);
      this.writing = [];
    }
    this.pumping = undefined;
  }

  private takeGroup(): Pending[] {
    const segment = this.queue[0]?.segment;
    const count = this.queue.findIndex((record) => record.segment !== segment);
    return this.queue.splice(0, count < 0 ? this.queue.length : count);
  }

  private store(group: readonly Pending[]): string | undefined {
    if (this.writeFailure !== undefined) {
      const why = this.writeFailure;
      this.writeFailure = undefined;
      return why;
    }
    if (this.syncFailure !== undefined) {
      this.trouble = `cannot sync the log: ${this.syncFailure}`;
      return this.trouble;
    }
    for (const { segment, sequence, payload } of group) {
      const records = this.durable.get(segment);
      if (records === undefined) this.durable.set(segment, [{ sequence, payload }]);
      else records.push({ sequence, payload });
    }
    return undefined;
  }

  private rejectFrom(group: readonly Pending[], why: string): void {
    const segment = group[0]?.segment;
    const isLost = (record: Pending): boolean => this.trouble !== undefined || record.segment === segment;
    for (const record of [...group, ...this.queue.filter(isLost)]) record.reject(unavailable(why));
    this.queue = this.queue.filter((record) => !isLost(record));
    if (this.trouble !== undefined || this.headId === segment) this.headBytes = Number.POSITIVE_INFINITY;
  }
}

function unavailable(why: string): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot write to the log: ${why}`);
}
