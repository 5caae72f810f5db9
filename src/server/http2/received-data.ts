/**
 * DATA frames on their way to the bodies that they are of: the windows that the client was told, and what nobody hears of them, which is
 * given back at once.
 *
 *   begins ─► within the windows? of a stream that receives? ─► data, piece by piece, to the stream ─► ends: padding, the end of a body
 */
import { ErrorCode, type Fault, Flag } from "./frame.ts";
import { CONNECTION_WINDOW_BYTES } from "./limits.ts";
import type { Http2Stream } from "./stream.ts";

/** Who acts on what comes of it. */
export interface DataHost {
  /** The open stream of a number. */
  streamOf(id: number): Http2Stream | undefined;
  /** DATA has come of a stream that takes none. */
  strayData(id: number, stream: Http2Stream | undefined): void;
  /** The client broke the rules on a stream. */
  breakStream(stream: Http2Stream, code: number): void;
  /** The last of a body has come. */
  endBody(stream: Http2Stream): void;
  /** The client may send more on all streams together. */
  grant(bytes: number): void;
  /** A frame brought something, or nothing. */
  useful(): void;
  idle(): void;
  /** The client did what no client may. */
  fail(fault: Fault): void;
}

/** Bytes that are given back to a client together. */
const GRANT_BYTES: number = CONNECTION_WINDOW_BYTES / 4;

/** See the file header. */
export class ReceivedData {
  private readonly host: DataHost;
  /** Bytes that the client may send, on all streams together. */
  private windowLeft: number = CONNECTION_WINDOW_BYTES;
  private owed = 0;
  /** The stream of the frame that is being read; undefined: it is over. */
  private receiving: Http2Stream | undefined;
  private frameBytes = 0;
  /** Bytes of the frame that were not handed on. */
  private frameLeft = 0;

  constructor(host: DataHost) {
    this.host = host;
  }

  /** A frame begins. */
  begins(id: number, length: number): void {
    const { host } = this;
    this.receiving = undefined;
    this.frameBytes = length;
    this.frameLeft = length;
    if (length > this.windowLeft) {
      return host.fail({ code: ErrorCode.FlowControlError, why: "DATA is more than the connection's window" });
    }
    this.windowLeft -= length;
    const stream = host.streamOf(id);
    if (stream?.isReceiving !== true) return host.strayData(id, stream);
    if (length > stream.windowLeft) return host.breakStream(stream, ErrorCode.FlowControlError);
    stream.windowLeft -= length;
    this.receiving = stream;
  }

  /** Some of the frame, borrowed until it returns. */
  data(bytes: Uint8Array): void {
    const stream = this.receiving;
    if (stream === undefined || stream.isClosed) return;
    this.frameLeft -= bytes.length;
    if (!stream.take(bytes)) this.host.breakStream(stream, ErrorCode.ProtocolError);
  }

  /** The frame has come. */
  ends(flags: number): void {
    const { receiving: stream, host } = this;
    this.receiving = undefined;
    // Padding, and what nobody heard.
    this.counted(this.frameLeft);
    if (stream === undefined || stream.isClosed) return;
    stream.wanted(this.frameLeft);
    const isLast = (flags & Flag.EndStream) !== 0;
    if (this.frameLeft < this.frameBytes) host.useful();
    else if (!isLast) host.idle();
    if (isLast) host.endBody(stream);
  }

  /** Bytes are counted where they lie, or let go: the client may send as many again. */
  counted(bytes: number): void {
    this.owed += bytes;
    if (this.owed < GRANT_BYTES) return;
    const granted = this.owed;
    this.owed = 0;
    this.windowLeft += granted;
    this.host.grant(granted);
  }
}
