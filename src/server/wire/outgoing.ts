/**
 * Answers on their way to a client: bytes are gathered, handed to the socket some 64 KiB at a time, and wait while the client does not
 * take them, so that a connection holds no more than `ANSWER_BYTES` + `UNTAKEN_BYTES_MAX` and one row.
 *
 *   writes ─► bytes[0, used) ──send──► socket (untaken bytes) ──► client
 *                  ▲                       │ done
 *                  └─── kept buffers ◄─────┘       a connection that rests holds none
 *
 * Loops that print rows `reserve` for the worst case and store through `bytes` and `view`; both change with `reserve` and `send`.
 */
import { ANSWER_BYTES, KEPT_BUFFERS_MAX, UNTAKEN_BYTES_MAX } from "./limits.ts";

/** Where bytes go. */
export interface ByteSink {
  /** Takes bytes, which are its own until it calls `done`: when the system has them, or the connection is gone. */
  write(bytes: Uint8Array, done: () => void): void;
}

const NONE: Uint8Array<ArrayBuffer> = new Uint8Array(0);
const NO_VIEW: DataView<ArrayBuffer> = new DataView(NONE.buffer);
const encoder = new TextEncoder();

const kept: Uint8Array<ArrayBuffer>[] = [];

function giveBack(bytes: Uint8Array<ArrayBuffer>): void {
  if (bytes.length === ANSWER_BYTES && kept.length < KEPT_BUFFERS_MAX) kept.push(bytes);
}

/** See the file header. Numbers are little-endian unless a name says otherwise. */
export class Outgoing {
  bytes: Uint8Array<ArrayBuffer> = NONE;
  view: DataView<ArrayBuffer> = NO_VIEW;
  /** Bytes gathered. */
  used = 0;
  private readonly sink: ByteSink;
  /** Bytes that the client has taken, ever. */
  takenBytes = 0;
  private untaken = 0;
  private waiting: (() => void) | undefined;

  constructor(sink: ByteSink) {
    this.sink = sink;
  }

  /** Bytes that the client has not taken. */
  get length(): number {
    return this.used + this.untaken;
  }

  /** Whether it is time to `flush`. */
  get isFull(): boolean {
    return this.used >= ANSWER_BYTES / 2;
  }

  /** Whether the client takes less than it is sent. */
  get isBlocked(): boolean {
    return this.waiting !== undefined;
  }

  /** Makes room for `extra` bytes behind `used`. */
  reserve(extra: number): void {
    const need = this.used + extra;
    if (need <= this.bytes.length) return;
    const longer = need <= ANSWER_BYTES ? (kept.pop() ?? new Uint8Array(ANSWER_BYTES)) : new Uint8Array(Math.max(need, 2 * this.used));
    longer.set(this.bytes.subarray(0, this.used));
    giveBack(this.bytes);
    this.bytes = longer;
    this.view = new DataView(longer.buffer);
  }

  u8(value: number): void {
    this.reserve(1);
    this.bytes[this.used++] = value;
  }

  u16be(value: number): void {
    this.reserve(2);
    this.view.setUint16(this.used, value);
    this.used += 2;
  }

  i32be(value: number): void {
    this.reserve(4);
    this.view.setInt32(this.used, value);
    this.used += 4;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.used);
    this.used += bytes.length;
  }

  /** UTF-8. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.used += encoder.encodeInto(text, this.bytes.subarray(this.used)).written;
  }

  /** UTF-8 and a zero byte, which ends the text: one within it is left out. */
  textZero(text: string): void {
    this.text(text.includes("\0") ? text.replaceAll("\0", "") : text);
    this.u8(0);
  }

  /** Hands what is gathered to the socket and waits while the client does not take it. */
  async flush(): Promise<void> {
    this.send();
    if (this.untaken >= UNTAKEN_BYTES_MAX) await this.taken();
  }

  /** Hands what is gathered to the socket. Between two messages only. */
  send(): void {
    const { bytes, used } = this;
    if (used === 0) return;
    this.used = 0;
    this.bytes = NONE;
    this.view = NO_VIEW;
    this.untaken += used;
    this.sink.write(bytes.subarray(0, used), () => {
      this.untaken -= used;
      this.takenBytes += used;
      giveBack(bytes);
      if (this.untaken < UNTAKEN_BYTES_MAX / 2) this.wake();
    });
  }

  /** Ends waits: the connection is gone. */
  close(): void {
    this.used = 0;
    giveBack(this.bytes);
    this.bytes = NONE;
    this.view = NO_VIEW;
    this.wake();
  }

  private taken(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting = resolve;
    });
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.();
  }
}
