/**
 * A writer to the log of a shard, by the rules of `src/engine/log/writers.ts`: one record after the other, each acknowledged before the
 * next is appended; after an append without an answer a new segment, and the same record again. A segment is given up after a minute, and
 * answers that come 90 s after it began are not believed.
 */
import { encodeRecordParts, encodeRecords, RECORDS_OVERHEAD_BYTES, recordBytes } from "../../../src/cluster/log-message/log-message.ts";
import type { ClusterPort } from "../../../src/cluster/port/cluster-port.ts";
import { PortError, portFailureOf } from "../../../src/cluster/port/port-error.ts";
import type { RecordMaker, TableRows } from "./record-maker.ts";

const SEGMENT_MILLIS = 60_000;
const BELIEVED_MILLIS = 90_000;

/** How a writer waits. */
export interface WriterTime {
  readonly sleep: (millis: number) => Promise<void>;
  readonly nowMillis: () => number;
}

/** See the file header. */
export class ShardWriter {
  readonly records: RecordMaker;
  /** Number of the message of the last record that was acknowledged. */
  acknowledged = 0;
  /** Messages of records that got no answer: they may come at any time. */
  readonly late: Uint8Array<ArrayBuffer>[] = [];
  private number = 0;
  private readonly port: ClusterPort;
  private readonly shard: number;
  private readonly time: WriterTime;
  /** When the segment's first record was made. */
  private beganMillis: number | undefined;

  constructor(port: ClusterPort, shard: number, records: RecordMaker, time: WriterTime) {
    this.port = port;
    this.shard = shard;
    this.records = records;
    this.time = time;
  }

  /** Writes rows of tables as one record; resolves when it is acknowledged. */
  async write(...entries: readonly TableRows[]): Promise<void> {
    const number = ++this.number;
    if (this.ageMillis > SEGMENT_MILLIS) this.nextSegment();
    for (;;) {
      this.beganMillis ??= this.time.nowMillis();
      const messages = this.messagesOf(this.records.record(number, entries));
      try {
        const last = await this.append(messages);
        if (this.ageMillis <= BELIEVED_MILLIS) {
          this.acknowledged = last;
          return;
        }
      } catch (error) {
        const failure = portFailureOf(error);
        if (failure !== "unknown" && failure !== "unavailable" && failure !== "full") throw error;
      }
      this.late.push(...messages);
      this.nextSegment();
      await this.time.sleep(100);
    }
  }

  private get ageMillis(): number {
    return this.beganMillis === undefined ? 0 : this.time.nowMillis() - this.beganMillis;
  }

  private nextSegment(): void {
    this.records.segment++;
    this.beganMillis = undefined;
  }

  /** Appends messages, one behind the other; returns the number of the last. */
  async append(messages: readonly Uint8Array[]): Promise<number> {
    let last = 0;
    for (const message of messages) {
      const number = await this.port.log.append(this.shard, message);
      if (number <= last) throw new PortError("unknown", "parts have to be in order");
      last = number;
    }
    return last;
  }

  messagesOf(record: readonly Uint8Array[]): Uint8Array<ArrayBuffer>[] {
    const { messageBytesMax } = this.port;
    const isShort = recordBytes(record) + RECORDS_OVERHEAD_BYTES + 4 <= messageBytesMax;
    return isShort ? [encodeRecords([record])] : encodeRecordParts(record, messageBytesMax - 64);
  }
}
