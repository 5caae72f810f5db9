/**
 * Records out of the messages of a shard's log, in order.
 *
 * Parts of a record come one behind the other, with others' messages between them, parts of other records too; each may be there twice,
 * and attempts end half-way. A record is whole at the first part that ends a chain: parts 0, 1, … of one attempt at rising numbers, the
 * last at most `PARTS_SPAN_MAX` behind the first. Whoever appended them by such numbers knows that it is there.
 *
 * Memory: bytes of parts of the last `PARTS_SPAN_MAX` messages.
 */
import { corrupted, type DbError } from "../../base/error.ts";
import { decodeMessage, PARTS_SPAN_MAX, type RecordPart, type Resumption } from "./log-message.ts";
import { sequenceOf } from "./sequence.ts";

/** A record with its place in the order of rows. */
export interface ReadRecord {
  readonly sequence: number;
  /** Number of the message that it begins with: of its first part, if it came in parts. */
  readonly first: number;
  /** A view of its message where it is one of several. */
  readonly payload: Uint8Array;
}

/** What a message of the log is. */
export interface ReadMessage {
  /** Those that are whole with it. */
  readonly records: readonly ReadRecord[];
  readonly resumption?: Resumption;
  /** Why its bytes are not those that were written: it is to be passed over. */
  readonly damaged?: string;
}

/** Parts of one attempt. */
interface Attempt {
  readonly count: number;
  readonly totalBytes: number;
  /** Number of the first message that had a part of it. */
  readonly firstNumber: number;
  readonly parts: Uint8Array[];
  /** By part: number of the part 0 that the latest chain up to it begins with. They do not rise. */
  readonly begins: number[];
}

/** See the file header. Invariant: attempts in the order of `firstNumber`. */
export class MessageReader {
  private readonly stream: string;
  private readonly attempts: Map<string, Attempt> = new Map();

  /** @param stream names the log in errors */
  constructor(stream: string) {
    this.stream = stream;
  }

  /** Number of the first message of a record whose parts are not all there; undefined: there is none. */
  get oldestNeeded(): number | undefined {
    for (const { firstNumber } of this.attempts.values()) return firstNumber;
    return undefined;
  }

  /** Bytes of parts that are held. */
  get byteLength(): number {
    let bytes = 0;
    for (const { parts } of this.attempts.values()) for (const part of parts) bytes += part.length;
    return bytes;
  }

  /**
   * What the log's next message is.
   *
   * @param bytes nobody changes them from now on
   * @throws DbError StorageUnavailable for what was written and cannot be read
   */
  take(number: number, bytes: Uint8Array): ReadMessage {
    const message = decodeMessage(bytes);
    if (typeof message === "string") throw this.broken(number, message);
    this.forget(number - PARTS_SPAN_MAX);
    if (message.kind === "resumes") return { records: [], resumption: message };
    if (message.kind === "damaged") return { records: [], damaged: message.why };
    if (message.kind === "records") {
      return { records: message.records.map((payload, place) => ({ sequence: sequenceOf(number, place), first: number, payload })) };
    }
    const record = this.taken(number, message);
    return { records: record === undefined ? [] : [{ sequence: sequenceOf(number, 0), ...record }] };
  }

  /** Forgets attempts whose last beginning lies before a number. */
  private forget(before: number): void {
    for (const [id, { begins }] of this.attempts) if ((begins[0] as number) < before) this.attempts.delete(id);
  }

  /** The record, if the part ends it. */
  private taken(number: number, { attempt: id, index, count, totalBytes, bytes }: RecordPart): Omit<ReadRecord, "sequence"> | undefined {
    let attempt = this.attempts.get(id);
    if (attempt === undefined) {
      if (index > 0) return undefined; // The one before it was let go, or never came.
      attempt = { count, totalBytes, firstNumber: number, parts: [], begins: [] };
      this.attempts.set(id, attempt);
    }
    if (count !== attempt.count || totalBytes !== attempt.totalBytes)
      throw this.broken(number, `part ${index} is not of the record before`);
    const begin = index === 0 ? number : attempt.begins[index - 1];
    if (begin === undefined || number - begin > PARTS_SPAN_MAX) return undefined;
    attempt.begins[index] = begin;
    attempt.parts[index] = bytes;
    if (index < count - 1) return undefined;
    this.attempts.delete(id);
    const payload = new Uint8Array(totalBytes);
    let at = 0;
    for (const part of attempt.parts) {
      if (part.length > totalBytes - at) throw this.broken(number, `parts of its record have more than ${totalBytes} bytes`);
      payload.set(part, at);
      at += part.length;
    }
    if (at !== totalBytes) throw this.broken(number, `parts of its record have ${at} of ${totalBytes} bytes`);
    return { first: begin, payload };
  }

  private broken(number: number, why: string): DbError {
    const corruption = { file: `${this.stream}, message ${number}`, offset: undefined, kind: "structure" } as const;
    return corrupted(`cannot read message ${number} of ${this.stream}: ${why}`, corruption);
  }
}
