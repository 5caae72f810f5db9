/**
 * Frames out of what a socket brings, however it is cut: DATA is handed on piece by piece as it lies in the chunk, so that its bytes are
 * copied once, where they are kept; all else is gathered and handed on whole. Lengths are checked before anything is kept.
 */
import { ErrorCode, type Fault, Flag, FRAME_HEAD_BYTES, FrameType, numberAt } from "./frame.ts";
import { FRAME_BYTES_MAX, GATHERED_BYTES_MAX } from "./limits.ts";

/** Who hears of frames. Bytes are borrowed: valid until the call returns. */
export interface FrameSink {
  /** Hears no more once it is over. */
  readonly isOver: boolean;
  /** A DATA frame begins. @param length of its payload, padding included */
  dataBegins(stream: number, length: number): void;
  /** Some of its body. */
  data(bytes: Uint8Array): void;
  dataEnds(flags: number): void;
  /** Any other frame, of kinds that nobody knows too: those without their payload. */
  frame(type: number, flags: number, stream: number, payload: Uint8Array): void;
}

const NOTHING: Uint8Array = new Uint8Array(0);

/** See the file header. */
export class FrameReader {
  private readonly sink: FrameSink;
  private readonly head: Uint8Array = new Uint8Array(FRAME_HEAD_BYTES);
  private headLength = 0;
  private isInFrame = false;
  private type = 0;
  private flags = 0;
  private stream = 0;
  /** Bytes of the payload that are to come; of DATA those of the body. */
  private left = 0;
  private isPadUnread = false;
  private padding = 0;
  /** Of a frame that did not come in one chunk. */
  private gathered: Uint8Array | undefined;

  constructor(sink: FrameSink) {
    this.sink = sink;
  }

  /** Reads a chunk. @returns why the connection cannot go on, or undefined */
  read(chunk: Uint8Array): Fault | undefined {
    let at = 0;
    while (!this.sink.isOver) {
      if (!this.isInFrame) {
        const from = this.readHead(chunk, at);
        if (from === undefined) return undefined;
        at = from;
        const fault = this.begin();
        if (fault !== undefined) return fault;
        continue;
      }
      if (at === chunk.length) return undefined;
      const end = this.type === FrameType.Data ? this.readData(chunk, at) : this.readPayload(chunk, at);
      if (typeof end !== "number") return end;
      at = end;
    }
    return undefined;
  }

  /** @returns where the payload begins; undefined: the head is not there whole */
  private readHead(chunk: Uint8Array, at: number): number | undefined {
    const part = chunk.subarray(at, at + FRAME_HEAD_BYTES - this.headLength);
    this.head.set(part, this.headLength);
    this.headLength += part.length;
    if (this.headLength < FRAME_HEAD_BYTES) return undefined;
    this.headLength = 0;
    return at + part.length;
  }

  private begin(): Fault | undefined {
    const { head } = this;
    const first = numberAt(head, 0);
    const length = first >>> 8;
    this.type = first & 0xff;
    this.flags = head[4] as number;
    this.stream = numberAt(head, 5) & 0x7fff_ffff;
    this.left = length;
    if (length > FRAME_BYTES_MAX) {
      return { code: ErrorCode.FrameSizeError, why: `a frame has ${length} bytes, and at most ${FRAME_BYTES_MAX} are taken` };
    }
    this.isInFrame = true;
    if (this.type === FrameType.Data) return this.beginData(length);
    if (this.type <= FrameType.Continuation && length > GATHERED_BYTES_MAX) {
      const why = `a frame of kind ${this.type} has ${length} bytes, and at most ${GATHERED_BYTES_MAX} are taken`;
      return { code: ErrorCode.EnhanceYourCalm, why };
    }
    if (length === 0) this.hand(NOTHING);
    return undefined;
  }

  private beginData(length: number): Fault | undefined {
    if (this.stream === 0) return { code: ErrorCode.ProtocolError, why: "DATA is of no stream" };
    this.isPadUnread = (this.flags & Flag.Padded) !== 0;
    this.padding = 0;
    if (this.isPadUnread && length === 0) return { code: ErrorCode.FrameSizeError, why: "padded DATA has no padding" };
    this.sink.dataBegins(this.stream, length);
    if (length === 0) this.endData();
    return undefined;
  }

  /** @returns where it came to in the chunk */
  private readData(chunk: Uint8Array, from: number): number | Fault {
    let at = from;
    if (this.isPadUnread) {
      this.padding = chunk[at++] as number;
      this.left -= 1 + this.padding;
      this.isPadUnread = false;
      if (this.left < 0) return { code: ErrorCode.ProtocolError, why: "DATA has more padding than bytes" };
    }
    if (this.left > 0) {
      const part = chunk.subarray(at, at + this.left);
      at += part.length;
      this.left -= part.length;
      if (part.length > 0) this.sink.data(part);
      if (this.left > 0) return at;
    }
    const skipped = Math.min(this.padding, chunk.length - at);
    this.padding -= skipped;
    if (this.padding === 0) this.endData();
    return at + skipped;
  }

  private endData(): void {
    this.isInFrame = false;
    this.sink.dataEnds(this.flags);
  }

  private readPayload(chunk: Uint8Array, at: number): number {
    const part = chunk.subarray(at, at + this.left);
    const end = at + part.length;
    const isKnown = this.type <= FrameType.Continuation;
    if (this.gathered === undefined && part.length === this.left) {
      this.hand(isKnown ? part : NOTHING);
      return end;
    }
    if (isKnown) {
      this.gathered ??= new Uint8Array(this.left);
      this.gathered.set(part, this.gathered.length - this.left);
    }
    this.left -= part.length;
    if (this.left === 0) this.hand(this.gathered ?? NOTHING);
    return end;
  }

  private hand(payload: Uint8Array): void {
    this.isInFrame = false;
    this.gathered = undefined;
    this.sink.frame(this.type, this.flags, this.stream, payload);
  }
}
