/**
 * The way out of a connection: frames of all streams in batches, as far as the client's windows and the socket go.
 *
 *   control frames ─┐
 *   stream 1 ───────┼─► a turn each: heads, a piece of the body, trailers ─► batch ─► socket; full: until it has taken all
 *   stream 3 ───────┘
 *
 * Bodies are copied into the batch: at 10 GB/s that is less than a second call to the kernel for each frame of 16 KiB.
 */
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { Flag, FRAME_BYTES_DEFAULT, FRAME_HEAD_BYTES, FrameType, WINDOW_DEFAULT, writeFrameHead } from "./frame.ts";
import type { HeaderField } from "./hpack/header-decoder.ts";
import { writeHeader } from "./hpack/header-encoder.ts";
import { BATCH_BYTES, TURN_BYTES } from "./limits.ts";
import type { Http2Stream } from "./stream.ts";

/** What a connection writes to: a socket of `node:net` or `node:tls`. */
export interface Sink {
  /** Bytes that were written and not yet taken by the system. */
  readonly writableLength: number;
  /** @param taken called when the system has the bytes, later: "drain" comes only after writes that were told to wait */
  write(bytes: Uint8Array, taken: () => void): unknown;
}

/** Batches shorter than this are written as copies. Reason: a socket that is full would keep the whole buffer. */
const COPIED_BYTES_MAX = 16_384;

/** Written to by one connection after the other, as long as sockets take all of it at once. */
let batch = new ByteWriter(BATCH_BYTES + TURN_BYTES + FRAME_HEAD_BYTES);
const block = new ByteWriter(1024);

/** Who hears of what was sent. */
export interface SenderEvents {
  /** The last frame of an answer is written. */
  readonly onSent: (stream: Http2Stream) => void;
  /** The socket was full and is not: what waits may be flushed. */
  readonly onTaken: () => void;
}

/** See the file header. */
export class Sender {
  /** Longest frame that the client takes. */
  frameBytesMax: number = FRAME_BYTES_DEFAULT;
  /** Bytes that it takes now, of all streams. */
  window: number = WINDOW_DEFAULT;
  /** Frames of no stream, or of streams that are over. */
  readonly control: ByteWriter = new ByteWriter(128);
  /** DATA frames that were sent. */
  dataFrames = 0;
  /** Since when the socket is full, by the connection's clock; undefined: it is not. */
  fullMs: number | undefined;
  private readonly onSent: (stream: Http2Stream) => void;
  private readonly sink: Sink;
  private readonly now: () => number;
  /** Streams with something to send, in the order of their turns. */
  private readonly turns: Set<Http2Stream> = new Set();
  /** Those that wait for the connection's window. */
  private readonly starved: Set<Http2Stream> = new Set();
  /** Those whose answer is in the batch to its end. */
  private readonly sent: Http2Stream[] = [];
  private isPlanned = false;

  /** A batch that the socket did not take at once is with the system. */
  private readonly taken: () => void;

  constructor(sink: Sink, now: () => number, { onSent, onTaken }: SenderEvents) {
    this.sink = sink;
    this.now = now;
    this.onSent = onSent;
    this.taken = () => {
      if (this.fullMs === undefined || sink.writableLength > 0) return;
      this.fullMs = undefined;
      onTaken();
    };
  }

  /** Whether all has been handed to the system. */
  get isEmpty(): boolean {
    return this.control.length === 0 && this.turns.size === 0 && this.sink.writableLength === 0;
  }

  /** A stream has something to send. */
  add(stream: Http2Stream): void {
    if (this.starved.has(stream)) return;
    this.turns.add(stream);
    this.plan();
  }

  /** A stream is over. */
  drop(stream: Http2Stream): void {
    this.turns.delete(stream);
    this.starved.delete(stream);
  }

  /** The client takes more of all streams. */
  grow(bytes: number): void {
    this.window += bytes;
    if (this.window <= 0 || this.starved.size === 0) return;
    for (const stream of this.starved) this.turns.add(stream);
    this.starved.clear();
    this.plan();
  }

  /** Sends soon, together with what else comes in this turn of the event loop. */
  plan(): void {
    if (this.isPlanned || this.fullMs !== undefined) return;
    this.isPlanned = true;
    setImmediate(() => {
      if (this.isPlanned) this.flush();
    });
  }

  /** Sends what can be sent now. */
  flush(): void {
    this.isPlanned = false;
    while (this.fullMs === undefined) {
      this.fill();
      if (batch.length > 0) this.put();
      // They hear of it when the batch is written, as they may write to other streams.
      const sent = this.sent.splice(0);
      for (const stream of sent) this.onSent(stream);
      if (batch.length === 0 && sent.length === 0) return;
    }
  }

  private put(): void {
    const isShort = batch.length < COPIED_BYTES_MAX;
    this.sink.write(isShort ? Buffer.from(batch.bytes()) : batch.bytes(), this.taken);
    if (this.sink.writableLength === 0) return;
    this.fullMs = this.now();
    if (!isShort) batch = new ByteWriter(BATCH_BYTES + TURN_BYTES + FRAME_HEAD_BYTES);
  }

  private fill(): void {
    batch.reset();
    batch.raw(this.control.bytes());
    this.control.reset();
    for (const stream of this.turns) {
      if (batch.length >= BATCH_BYTES) return;
      // To the end of the set, behind those that wait: the loop comes to it again.
      this.turns.delete(stream);
      if (this.turn(stream)) this.turns.add(stream);
    }
  }

  /** One stream's turn. @returns whether it can have another */
  private turn(stream: Http2Stream): boolean {
    const { answer } = stream;
    if (answer.head !== undefined) {
      const isLast = answer.isEnded && answer.waiting === 0 && answer.trailers === undefined;
      this.writeBlock(stream, answer.head, isLast);
      answer.head = undefined;
      if (isLast) return this.over(stream);
    }
    if (!answer.hasBegun) return false;
    if (answer.waiting > 0) {
      const most = Math.min(answer.waiting, answer.window, this.window, this.frameBytesMax, TURN_BYTES);
      if (most <= 0) return this.stall(stream);
      this.writeData(stream, most);
      if (answer.waiting > 0) return true;
      if (answer.isEnded && answer.trailers === undefined) return this.over(stream);
    }
    if (!answer.isEnded) return false;
    if (answer.trailers === undefined) this.writeData(stream, 0);
    else this.writeBlock(stream, answer.trailers, true);
    return this.over(stream);
  }

  /** The answer is whole in the batch. */
  private over(stream: Http2Stream): false {
    this.sent.push(stream);
    return false;
  }

  private stall(stream: Http2Stream): false {
    stream.answer.stalledMs ??= this.now();
    if (this.window <= 0) this.starved.add(stream);
    return false;
  }

  private writeData(stream: Http2Stream, bytes: number): void {
    const { answer } = stream;
    const isLast = answer.isEnded && answer.waiting === bytes && answer.trailers === undefined;
    writeFrameHead(batch, bytes, FrameType.Data, isLast ? Flag.EndStream : 0, stream.id);
    batch.reserve(bytes);
    answer.moveTo(batch.buffer, batch.length, bytes);
    batch.length += bytes;
    answer.window -= bytes;
    this.window -= bytes;
    answer.stalledMs = undefined;
    this.dataFrames++;
  }

  /** A block of headers, in as many frames as it takes. */
  private writeBlock({ id }: Http2Stream, fields: readonly HeaderField[], isLast: boolean): void {
    block.reset();
    for (const field of fields) writeHeader(block, field);
    let at = 0;
    do {
      const end = Math.min(at + this.frameBytesMax, block.length);
      const flags = (at === 0 && isLast ? Flag.EndStream : 0) | (end === block.length ? Flag.EndHeaders : 0);
      writeFrameHead(batch, end - at, at === 0 ? FrameType.Headers : FrameType.Continuation, flags, id);
      batch.raw(block.buffer.subarray(at, end));
      at = end;
    } while (at < block.length);
  }
}
