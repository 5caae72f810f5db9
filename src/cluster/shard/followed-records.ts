/** Messages of a shard's log as its engine takes them: whole records, decoded. */
import { assert } from "../../base/assert.ts";
import { type FollowedMessage, type FollowedRecord, SEQUENCES_A_MESSAGE } from "../../engine/follow/followed-source.ts";
import { decodeWriteRecord } from "../../storage/memtable/write-record.ts";
import { MessageReader, type ReadMessage as MessageOfLog } from "../log-message/message-reader.ts";
import { SEQUENCES_A_MESSAGE as SEQUENCES_OF_LOG } from "../log-message/sequence.ts";
import type { StreamMessage } from "../port/message.ts";

assert(SEQUENCES_A_MESSAGE === SEQUENCES_OF_LOG, "an engine and a log number rows in the same way");

const NOTHING: MessageOfLog = { records: [] };

/** A message, and what the catalogue must have come to before it is taken. */
export interface ReadMessage extends FollowedMessage {
  readonly catalogVersion: number;
}

/** Reads the messages of a log in their order. */
export class FollowedRecords {
  private readonly reader: MessageReader;
  private readonly done: number;

  /** @param done records that are whole up to this message are left out: what counts of them was taken */
  constructor(shard: number, done: number) {
    this.reader = new MessageReader(`LOG${shard}`);
    this.done = done;
  }

  /**
   * Takes the log's next message; undefined: what counts of it was taken.
   *
   * @throws DbError StorageUnavailable for what was written and cannot be read: of a newer version, or no record
   */
  take({ number, bytes }: StreamMessage): ReadMessage | undefined {
    const { reader } = this;
    // Owners append empty ones, to number their deletes behind them.
    const { records: whole, resumption, damaged } = bytes.length === 0 ? NOTHING : reader.take(number, bytes);
    if (number <= this.done) return undefined;
    let catalogVersion = 0;
    const records = whole.map(({ sequence, first, payload }): FollowedRecord => {
      const record = decodeWriteRecord(sequence, payload);
      catalogVersion = Math.max(catalogVersion, record.origin?.catalogVersion ?? 0);
      return { sequence, first, ...record };
    });
    return { number, bytes: bytes.length, records, open: reader.oldestNeeded, catalogVersion, resumption, damaged };
  }
}
