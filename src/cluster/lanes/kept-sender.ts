/**
 * Sends again what a lane was acknowledged, since the log has lost some of it. What a follower has of it does not count twice.
 *
 *   writer: "my records below n come no more" ─► its segments, each as a new one, one message at a time ─► the next writer
 *
 * | what                                                             | why                                                            |
 * |------------------------------------------------------------------|----------------------------------------------------------------|
 * | it is said from which number on a writer sends                   | else a hole before it would keep all that follows from counting|
 * | each segment under a new number, its records as they were        | they rely on those before them, and followers may have newer ones|
 * | after a failure, or a number that does not rise, a segment again | a follower takes a segment only as a whole                     |
 * | from the beginning where the log loses messages meanwhile        | what was sent again may be among them                          |
 */
import type { WriterId } from "../../base/units.ts";
import { inSegment } from "../../storage/memtable/write-record.ts";
import { encodeResumption, MESSAGE_RECORDS_MAX, PARTS_SPAN_MAX, recordBytes } from "../log-message/log-message.ts";
import type { LogService } from "../port/log-service.ts";
import { portFailureOf } from "../port/port-error.ts";
import type { KeptSegment } from "./kept-records.ts";
import { BELIEVED_MILLIS } from "./limits.ts";
import { type Packable, packed } from "./shipment.ts";

/** What it works with. */
export interface KeptSender {
  readonly log: LogService;
  readonly shard: number;
  readonly messageBytes: number;
  /** Whether others should send theirs again, too. */
  readonly asks: boolean;
  now(): number;
  /** A number that no record of the lane's writers was sent in. */
  nextSegment(): number;
  /** Is told of a failure; waits. Resolves to whether it goes on. */
  failed(error: unknown): Promise<boolean>;
}

/** What of it there was. */
export interface SentAgain {
  readonly records: number;
  /** Number of the last message; 0: there was none. */
  readonly last: number;
}

/**
 * See the file header.
 *
 * @param segments what is kept, in order
 * @param current the lane's writer, and the number of the first record that it was not acknowledged; undefined: it was acknowledged none
 * @returns undefined: it was given up
 */
export async function sendKept(
  segments: () => Iterable<KeptSegment>,
  current: { readonly writer: WriterId; readonly number: number } | undefined,
  sender: KeptSender,
): Promise<SentAgain | undefined> {
  for (;;) {
    const sent = await sendOnce(segments(), current, sender);
    if (sent !== "again") return sent;
  }
}

async function sendOnce(
  segments: Iterable<KeptSegment>,
  current: { readonly writer: WriterId; readonly number: number } | undefined,
  sender: KeptSender,
): Promise<SentAgain | "again" | undefined> {
  let writer: WriterId | undefined;
  let last = 0;
  let records = 0;
  const put = async (units: () => Iterable<Iterable<Uint8Array>>): Promise<"sent" | "again" | undefined> => {
    const number = await insisted(units, last, sender);
    if (typeof number !== "number") return number;
    last = number;
    return "sent";
  };
  const resume = (who: WriterId, number: number): Promise<"sent" | "again" | undefined> => {
    const resumption = { writer: who, number, segment: sender.nextSegment(), asks: sender.asks };
    return put(() => [[encodeResumption(resumption)]]);
  };
  for (const segment of segments) {
    if (segment.writer !== writer) {
      writer = segment.writer;
      const resumed = await resume(segment.writer, segment.number);
      if (resumed !== "sent") return resumed;
    }
    const sent = await put(() => unitsOf(segment, sender));
    if (sent !== "sent") return sent;
    records += segment.records.length;
  }
  if (current !== undefined && current.writer !== writer) {
    const resumed = await resume(current.writer, current.number);
    if (resumed !== "sent") return resumed;
  }
  return { records, last };
}

/** A segment under a new number: messages, or parts of a record, a unit each. */
function* unitsOf({ records }: KeptSegment, sender: KeptSender): Generator<Iterable<Uint8Array>> {
  const segment = sender.nextSegment();
  const all = records.map((record): Packable => {
    const pieces = inSegment(record, segment);
    return { byteLength: recordBytes(pieces), pieces: () => pieces };
  });
  for (let from = 0; from < all.length; ) {
    const { count, messages } = packed(all.slice(from, from + MESSAGE_RECORDS_MAX), sender.messageBytes);
    yield messages;
    from += count;
  }
}

/** Appends messages one by one until all are stored as a follower needs them; the number of the last. "again": the log lost others. */
async function insisted(
  units: () => Iterable<Iterable<Uint8Array>>,
  least: number,
  sender: KeptSender,
): Promise<number | "again" | undefined> {
  for (;;) {
    try {
      const number = await appended(units(), least, sender);
      if (number !== "late") return number;
    } catch (error) {
      if (!(await sender.failed(error))) return undefined;
      if (portFailureOf(error) === "went-back") return "again";
    }
  }
}

async function appended(units: Iterable<Iterable<Uint8Array>>, least: number, sender: KeptSender): Promise<number | "again" | "late"> {
  const { log, shard } = sender;
  const began = sender.now();
  let last = least;
  for (const unit of units) {
    let first: number | undefined;
    for (const message of unit) {
      const number = await log.append(shard, message);
      if (number <= last) return "again";
      first ??= number;
      last = number;
    }
    if (last - (first ?? last) > PARTS_SPAN_MAX) return "late"; // A follower has let go of its first part.
  }
  return sender.now() - began > BELIEVED_MILLIS ? "late" : last;
}
