/** What a client puts: a descriptor, a schema, and batches, each with metadata of its own. Shared by bulk inserts and Flight SQL. */
import { type FlightDescriptor, FlightDescriptorSchema } from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import type { Batch } from "../../../column/batch.ts";
import { type ArrowColumn, ArrowReader } from "../../../format/arrow/reading/arrow-reader.ts";
import { readMessage } from "../messages/read-message.ts";
import { type FlightMessage, readFlightData } from "./flight-data.ts";

/** Rows of a message. Vectors lie on what was received, and stay valid unless memory was borrowed. */
export interface PutBatch {
  readonly batch: Batch;
  /** `app_metadata`; empty: none. */
  readonly metadata: Uint8Array;
}

/** Who is told, before the next message is asked for, whether the bytes of the last are still read. */
export interface MessageOwner {
  isMessageDone: boolean;
}

/** A stream of `FlightData`, begun. */
export class PutStream {
  /** Of the first message; absent: it has none. */
  readonly descriptor: FlightDescriptor | undefined;
  /** Columns; absent: the first message has no schema. */
  readonly headers: readonly ArrowColumn[] | undefined;
  private readonly messages: AsyncIterator<Uint8Array>;
  private readonly owner: MessageOwner;
  private readonly reader: ArrowReader;
  private isBorrowed = false;
  /** Hears of the bytes of each message. */
  private onBytes: ((bytes: number) => void) | undefined;
  private readonly firstBytes: number;

  private constructor(bytes: Uint8Array, messages: AsyncIterator<Uint8Array>, owner: MessageOwner) {
    const first = readFlightData(bytes);
    this.firstBytes = bytes.length;
    this.messages = messages;
    this.owner = owner;
    this.descriptor = first.descriptor.length === 0 ? undefined : readMessage(FlightDescriptorSchema, first.descriptor);
    this.reader = new ArrowReader();
    const schema = first.header.length === 0 ? undefined : this.reader.read(first.header, first.body);
    this.headers = schema?.kind === "schema" ? schema.headers : undefined;
  }

  /** Waits for the first message; undefined: there is none. @throws DbError InvalidArguments, Unsupported (names the column) */
  static async begin(messages: AsyncIterable<Uint8Array>, owner: MessageOwner = { isMessageDone: false }): Promise<PutStream | undefined> {
    const iterator = messages[Symbol.asyncIterator]();
    const first = await iterator.next();
    return first.done === true ? undefined : new PutStream(first.value, iterator, owner);
  }

  /** Tells the bytes of the first message, and of those that follow as they come. */
  tellBytes(onBytes: (bytes: number) => void): void {
    onBytes(this.firstBytes);
    this.onBytes = onBytes;
  }

  /** From now on a batch of up to so many rows that `read` gives is valid until anything else runs, or the next message is asked for. */
  borrowMemory(rowsMax: number): void {
    this.isBorrowed = true;
    this.reader.borrowMemory(rowsMax);
  }

  /** The next message, for `read`; undefined: the client has sent all. @throws DbError as `begin` */
  async nextMessage(): Promise<FlightMessage | undefined> {
    const next = await this.messages.next();
    this.owner.isMessageDone = false;
    if (next.done === true) return undefined;
    this.onBytes?.(next.value.length);
    return readFlightData(next.value);
  }

  /** The rows of a message; undefined: it has none. All are read, in their order. @throws DbError as `begin`, RuntimeResourcesExhausted */
  read({ header, body, metadata }: FlightMessage): PutBatch | undefined {
    if (header.length === 0) return undefined; // Metadata alone: there is nothing to be done.
    const message = this.reader.read(header, body);
    this.owner.isMessageDone = this.isBorrowed && message.kind === "batch"; // Dictionaries stay.
    return message.kind === "batch" ? { batch: message.batch, metadata } : undefined;
  }

  /** The next batch; undefined: the client has sent all. @throws DbError as `read` */
  async next(): Promise<PutBatch | undefined> {
    for (let message = await this.nextMessage(); message !== undefined; message = await this.nextMessage()) {
      const put = this.read(message);
      if (put !== undefined) return put;
    }
    return undefined;
  }

  /** All batches that are left. @throws as `next` */
  async *batches(): AsyncGenerator<PutBatch, void, undefined> {
    for (let batch = await this.next(); batch !== undefined; batch = await this.next()) yield batch;
  }
}
