/** A stream of a cluster in memory: numbers from 1 on, room that ends, entries that are let go. */
import type { StreamMessage } from "../../../src/cluster/port/message.ts";

/** A message, and the subject that it was appended to. */
export interface StoredMessage extends StreamMessage {
  readonly subject: string;
}

/** See the file header. Invariant: messages in the order of their numbers, all at most `lastNumber`. */
export class MemoryStream {
  lastNumber = 0;
  messages: StoredMessage[] = [];
  /** Changes bytes of the next message that is stored, for which it returns true. */
  damageNext: ((bytes: Uint8Array) => boolean) | undefined;
  private bytes = 0;
  private readonly bytesMax: number;
  private listeners = new Set<() => void>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Number of the first that may still be there. */
  get firstNumber(): number {
    return this.messages[0]?.number ?? this.lastNumber + 1;
  }

  lastOf(subject: string): number {
    return this.messages.findLast((message) => message.subject === subject)?.number ?? 0;
  }

  /** @returns undefined: there is no room */
  append(subject: string, bytes: Uint8Array): number | undefined {
    if (this.bytes + bytes.length > this.bytesMax) return undefined;
    const stored = { number: ++this.lastNumber, subject, bytes: bytes.slice() };
    if (this.damageNext?.(stored.bytes) === true) this.damageNext = undefined;
    this.messages.push(stored);
    this.bytes += bytes.length;
    for (const listener of this.listeners) listener();
    return this.lastNumber;
  }

  /** The message of a number, of a stream with one subject. */
  stored(number: number): StoredMessage | undefined {
    return this.messages[number - this.firstNumber];
  }

  /** Those of a subject above `after`, at most `countMax`. */
  above(subject: string, after: number, countMax: number): StreamMessage[] {
    const found: StreamMessage[] = [];
    for (const message of this.messages) {
      if (message.number <= after || message.subject !== subject) continue;
      found.push({ number: message.number, bytes: message.bytes.slice() });
      if (found.length >= countMax) break;
    }
    return found;
  }

  /** Lets messages of a subject go for which `goes` holds. */
  remove(subject: string, goes: (number: number) => boolean): void {
    this.messages = this.messages.filter((message) => message.subject !== subject || !goes(message.number));
    this.bytes = this.messages.reduce((sum, message) => sum + message.bytes.length, 0);
  }

  /** As a server that comes back with an old disk: everything above `number` never was. */
  goBack(number: number): void {
    this.messages = this.messages.filter((message) => message.number <= number);
    this.bytes = this.messages.reduce((sum, message) => sum + message.bytes.length, 0);
    this.lastNumber = Math.min(this.lastNumber, number);
  }

  /** Lets everything go up to `through`, which may be above the last number: then the next one is behind it. */
  lift(through: number): void {
    this.messages = this.messages.filter((message) => message.number > through);
    this.bytes = this.messages.reduce((sum, message) => sum + message.bytes.length, 0);
    this.lastNumber = Math.max(this.lastNumber, through);
    for (const listener of this.listeners) listener();
  }

  /** Calls back after each append until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
