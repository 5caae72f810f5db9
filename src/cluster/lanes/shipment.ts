/** Records that go to the log together: in one message, or one of them in parts. */
import {
  encodeRecords,
  MESSAGE_RECORDS_MAX,
  PART_OVERHEAD_BYTES,
  PARTS_SPAN_MAX,
  RECORD_BYTES_MAX,
  RECORD_OVERHEAD_BYTES,
  RECORD_PARTS_MAX,
  recordParts,
  RECORDS_OVERHEAD_BYTES,
} from "../log-message/log-message.ts";
import type { LogService } from "../port/log-service.ts";
import { portFailureOf } from "../port/port-error.ts";
import type { LaneRecord } from "./lane-record.ts";

/** Where a shipment is in the log. */
export interface Stored {
  /** How many messages it took. */
  readonly messages: number;
  /** Numbers of its first and last message. */
  readonly first: number;
  readonly last: number;
}

/** See the file header. */
export interface Shipment {
  readonly records: readonly LaneRecord[];
  /** To be gone through once. */
  readonly messages: Iterable<Uint8Array>;
  /** Whether it is one record in parts. */
  readonly isCut: boolean;
  /** What the log answered. */
  stored: Stored | undefined;
}

/** Longest record in bytes that messages of a length can hold in parts. */
export function recordBytesMax(messageBytes: number): number {
  return Math.min(RECORD_BYTES_MAX, RECORD_PARTS_MAX * (messageBytes - PART_OVERHEAD_BYTES));
}

/** A record that is to be put into messages. */
export interface Packable {
  readonly byteLength: number;
  pieces(): readonly Uint8Array[];
}

/** The messages of the first records of a list, as many as fit one: at least one record. None is longer than `recordBytesMax`. */
export function packed(
  records: readonly Packable[],
  messageBytes: number,
): Pick<Shipment, "messages" | "isCut"> & { readonly count: number } {
  let count = 0;
  let bytes = RECORDS_OVERHEAD_BYTES;
  for (const record of records) {
    bytes += RECORD_OVERHEAD_BYTES + record.byteLength;
    if (bytes > messageBytes || count === MESSAGE_RECORDS_MAX) break;
    count++;
  }
  const [first] = records;
  if (count === 0 && first !== undefined) {
    return { count: 1, messages: recordParts(first.pieces(), messageBytes - PART_OVERHEAD_BYTES), isCut: true };
  }
  return { count, messages: [encodeRecords(records.slice(0, count).map((record) => record.pieces()))], isCut: false };
}

/** The next records of a list that go together. */
export function nextShipment(records: readonly LaneRecord[], messageBytes: number): Shipment {
  const { count, messages, isCut } = packed(records, messageBytes);
  return { records: records.slice(0, count), messages, isCut, stored: undefined };
}

/**
 * Appends the messages of a shipment, one once the one before is answered, and notes in its records whether they may be there.
 *
 * @returns where it is; "again": it may be there, but not as its reader needs it
 * @throws PortError of the append that failed
 */
export async function transmit({ records, messages }: Shipment, log: LogService, shard: number): Promise<Stored | "again"> {
  for (const record of records) record.unsure++;
  let first: number | undefined;
  let last = 0;
  let count = 0;
  for (const message of messages) {
    let number: number;
    try {
      number = await log.append(shard, message);
    } catch (error) {
      if (isNotStored(error)) for (const record of records) record.unsure--; // A record without one of its parts is none.
      throw error;
    }
    if (number <= last) return "again";
    first ??= number;
    last = number;
    count++;
  }
  first ??= last;
  return last - first > PARTS_SPAN_MAX ? "again" : { messages: count, first, last };
}

/** Whether it is certain that the message never comes. */
function isNotStored(error: unknown): boolean {
  const failure = portFailureOf(error);
  return failure === "unavailable" || failure === "full" || failure === "too-large" || failure === "vanished" || failure === "denied";
}
