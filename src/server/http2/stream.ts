/**
 * One request and its answer (RFC 9113 5.1): what its handler sees of a connection.
 *
 *   in    the body goes to a receiver as it comes, borrowed; the receiver says when its memory is counted (`counted`: others of the
 *         connection may send on) and when it wants more (`wanted`: this stream may)
 *   out   `respond`, `write`, `end` queue; the sender takes from the queue as far as windows and the socket go (sender.ts)
 */
import { ErrorCode } from "./frame.ts";
import type { HeaderField } from "./hpack/header-decoder.ts";
import { STREAM_ANSWER_BYTES, STREAM_WINDOW_BYTES } from "./limits.ts";
import type { RequestHead } from "./request-head.ts";

/** Who gets the body of a request. */
export interface BodyReceiver {
  /** Bytes, borrowed until it returns. Each has to be passed to `counted` and to `wanted` some time. */
  data(bytes: Uint8Array): void;
  /** The body is whole. */
  end(): void;
}

/** What a stream asks of its connection. */
export interface StreamHost {
  /** Bytes of a body are counted, or let go: the connection's window may grow. */
  counted(bytes: number): void;
  /** The stream's window may grow. */
  grow(stream: Http2Stream, bytes: number): void;
  /** There is something to send. */
  send(stream: Http2Stream): void;
  /** Ends a stream from here. */
  reset(stream: Http2Stream, code: number): void;
}

/** Bytes that are given back to a client together. Reason: a frame for each piece would cost more than the piece. */
const GRANT_BYTES: number = STREAM_WINDOW_BYTES / 4;

/** See the file header. */
export class Http2Stream {
  readonly id: number;
  readonly request: RequestHead;
  /** Gets the body; until there is one, and when there is none, it is let go. Set it before the handler returns. */
  receiver: BodyReceiver | undefined;
  /** Called once, when the stream is over. @param code of `ErrorCode`; none: both sides have said all */
  onClosed: (code: number) => void = () => undefined;
  /** What the client may send before it is told that it may send more. */
  windowLeft: number = STREAM_WINDOW_BYTES;
  /** The client may send more of the body. */
  isReceiving = true;
  isClosed = false;
  /** When its answer was sent while its body still came, by the connection's clock: the handler is done with it. */
  answeredMs: number | undefined;
  readonly answer: AnswerQueue;
  private readonly host: StreamHost;
  private received = 0;
  private uncounted = 0;
  private owed = 0;

  constructor(host: StreamHost, id: number, request: RequestHead, sendWindow: number) {
    this.host = host;
    this.id = id;
    this.request = request;
    this.answer = new AnswerQueue(sendWindow);
  }

  /** Whether the head of the answer was given. */
  get isAnswered(): boolean {
    return this.answer.hasBegun;
  }

  /** The head of the answer. @param isLast nothing follows */
  respond(status: number, fields: readonly HeaderField[], isLast = false): void {
    if (this.isClosed) return;
    this.answer.head = [[":status", String(status)], ...fields];
    this.answer.hasBegun = true;
    this.answer.isEnded = isLast;
    this.host.send(this);
  }

  /** Some of the body, behind the head: the stream's from now on. */
  write(bytes: Uint8Array): void {
    if (this.isClosed || bytes.length === 0) return;
    this.answer.pieces.push(bytes);
    this.answer.waiting += bytes.length;
    this.host.send(this);
  }

  /** Resolves when more of the body is wanted, or none ever; undefined: it is now. */
  room(): Promise<void> | undefined {
    if (this.isClosed || this.answer.waiting < STREAM_ANSWER_BYTES) return undefined;
    return new Promise((resolve) => (this.answer.onRoom = resolve));
  }

  /** The answer is whole. */
  end(trailers: readonly HeaderField[] = []): void {
    if (this.isClosed) return;
    if (trailers.length > 0) this.answer.trailers = trailers;
    this.answer.isEnded = true;
    this.host.send(this);
  }

  /** Ends the stream with a code. */
  reset(code: number): void {
    if (!this.isClosed) this.host.reset(this, code);
  }

  /** See `BodyReceiver`. */
  counted(bytes: number): void {
    const known = Math.min(bytes, this.uncounted); // The rest was let go when the stream ended.
    this.uncounted -= known;
    this.host.counted(known);
  }

  /** See `BodyReceiver`. */
  wanted(bytes: number): void {
    this.owed += bytes;
    if (this.owed < GRANT_BYTES || !this.isReceiving || this.isClosed) return;
    const grown = this.owed;
    this.owed = 0;
    this.windowLeft += grown;
    this.host.grow(this, grown);
  }

  /** Some of the body came. @returns whether that is as much as its head said, at most */
  take(bytes: Uint8Array): boolean {
    const { receiver, request } = this;
    this.received += bytes.length;
    if (request.contentLength !== undefined && this.received > request.contentLength) return false;
    this.uncounted += bytes.length;
    if (receiver !== undefined) receiver.data(bytes);
    else this.letGo(bytes.length);
    return true;
  }

  /** Nobody keeps these bytes of the body. */
  letGo(bytes: number): void {
    this.counted(bytes);
    this.wanted(bytes);
  }

  /** The body is whole. @returns whether it is as long as its head said */
  receivedAll(): boolean {
    const { contentLength } = this.request;
    if (contentLength !== undefined && contentLength !== this.received) return false;
    this.isReceiving = false;
    this.receiver?.end();
    return true;
  }

  /** The answer is sent, and the body still comes: it is let go. */
  answered(nowMs: number): void {
    this.answeredMs = nowMs;
    this.receiver = undefined;
    this.host.counted(this.uncounted);
    this.uncounted = 0;
    this.tell(ErrorCode.NoError);
  }

  private tell(code: number): void {
    const { onClosed } = this;
    this.onClosed = () => undefined;
    onClosed(code);
  }

  /** It is over, and nobody is sent to or heard any more. @param code of `ErrorCode` */
  close(code: number): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.isReceiving = false;
    this.answer.clear();
    this.host.counted(this.uncounted);
    this.uncounted = 0;
    this.tell(code);
  }
}

/** What waits to be sent on a stream: the head, then the body, then trailers. */
export class AnswerQueue {
  head: readonly HeaderField[] | undefined;
  pieces: Uint8Array[] = [];
  /** Bytes of `pieces`, from `at` in the first of them. */
  waiting = 0;
  trailers: readonly HeaderField[] | undefined;
  hasBegun = false;
  isEnded = false;
  /** Bytes that the client takes now; settings may make it less than none. */
  window: number;
  /** Since when it waits for a window to grow, by the connection's clock; undefined: it does not. */
  stalledMs: number | undefined;
  onRoom: (() => void) | undefined;
  private at = 0;

  constructor(window: number) {
    this.window = window;
  }

  /** Moves so many bytes of the body, which are there, behind what `target` has at `to`. */
  moveTo(target: Uint8Array, to: number, count: number): void {
    let left = count;
    let done = 0;
    while (left > 0) {
      const piece = this.pieces[done] as Uint8Array;
      const part = piece.subarray(this.at, this.at + left);
      target.set(part, to + count - left);
      left -= part.length;
      this.at += part.length;
      if (this.at < piece.length) break;
      this.at = 0;
      done++;
    }
    if (done > 0) this.pieces.splice(0, done);
    this.waiting -= count;
    if (this.waiting < STREAM_ANSWER_BYTES) this.wake();
  }

  /** Lets go of all. */
  clear(): void {
    this.head = undefined;
    this.pieces = [];
    this.waiting = 0;
    this.trailers = undefined;
    this.wake();
  }

  private wake(): void {
    const { onRoom } = this;
    this.onRoom = undefined;
    onRoom?.();
  }
}
