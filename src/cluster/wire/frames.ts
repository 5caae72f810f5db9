/**
 * Frames of an answer (`FORMAT.md`): each a length, a kind and a payload, behind a head that names the version.
 *
 * Nothing of the bytes is believed: a length beyond `FRAME_BYTES_MAX` fails before memory is taken, and memory grows with what has come.
 */
import type { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { FRAME_BYTES_MAX } from "./limits.ts";

/** The version of requests and answers that is written, and the highest that is read. */
export const WIRE_VERSION = 1;

/** Kinds of frames. */
export const FRAME = {
  series: 1,
  rows: 2,
  end: 3,
  failed: 4,
  refused: 5,
  answer: 6,
  alive: 7,
} as const;

/** One of them. */
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

/** A frame that is written. */
export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Uint8Array;
}

/** A frame that was read: of a kind that may be unknown. The payload is valid until the next one is read. */
export interface ReadFrame {
  readonly kind: number;
  readonly payload: Uint8Array;
}

/** Bytes of an answer's head. */
export const HEAD_BYTES = 4;
const FRAME_HEAD_BYTES = 5;
const ANSWER_MAGIC = 0x4156; // 'V' 'A'
/** Most bytes of a buffer that is kept from one frame to the next. */
const KEPT_BYTES_MAX: number = 4 * 1024 * 1024;
const NO_PAYLOAD = new Uint8Array(0);

/** A frame without payload. */
export const ALIVE: Frame = { kind: FRAME.alive, payload: NO_PAYLOAD };

/** Appends an answer's head. */
export function writeHead(out: ByteWriter): void {
  out.u16(ANSWER_MAGIC);
  out.u16(WIRE_VERSION);
}

/** Appends a frame. */
export function writeFrame({ kind, payload }: Frame, out: ByteWriter): void {
  out.reserve(FRAME_HEAD_BYTES + payload.length);
  out.u32(payload.length);
  out.u8(kind);
  out.raw(payload);
}

/** Cuts an answer into frames, however it comes in pieces. */
export class FrameReader {
  private readonly from: string;
  private buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  /** Bytes `[start, end)` of the buffer were not read yet. */
  private start = 0;
  private end = 0;
  private hasHead = false;

  /** @param from who answers, for errors */
  constructor(from: string) {
    this.from = from;
  }

  /** Whether all that came was read: an answer may end here. */
  get isBetween(): boolean {
    return this.hasHead && this.start === this.end;
  }

  /** Adds what came; it is copied. */
  add(piece: Uint8Array): void {
    const kept = this.end - this.start;
    if (kept === 0 && this.buffer.length > KEPT_BYTES_MAX) this.buffer = new Uint8Array(0);
    if (kept === 0) this.start = this.end = 0;
    if (this.end + piece.length > this.buffer.length) {
      const wanted = kept + piece.length;
      // At most twice what is there: a length that a stranger says takes no memory.
      const target = wanted > this.buffer.length ? new Uint8Array(Math.max(wanted, Math.min(2 * wanted, FRAME_BYTES_MAX))) : this.buffer;
      target.set(this.buffer.subarray(this.start, this.end), 0);
      this.buffer = target;
      this.start = 0;
      this.end = kept;
    }
    this.buffer.set(piece, this.end);
    this.end += piece.length;
  }

  /**
   * The next frame that is whole, or undefined.
   *
   * @throws DbError Unsupported for a newer version, InvalidArguments for what is no answer
   */
  next(): ReadFrame | undefined {
    if (!this.hasHead && !this.readHead()) return undefined;
    const { buffer, start, end } = this;
    if (end - start < FRAME_HEAD_BYTES) return undefined;
    const view = new DataView(buffer.buffer, start, FRAME_HEAD_BYTES);
    const length = view.getUint32(0, true);
    if (length > FRAME_BYTES_MAX) throw this.wrong(`a frame is said to have ${length} bytes, and at most ${FRAME_BYTES_MAX} are taken`);
    if (end - start < FRAME_HEAD_BYTES + length) return undefined;
    const from = start + FRAME_HEAD_BYTES;
    this.start = from + length;
    return { kind: view.getUint8(4), payload: buffer.subarray(from, from + length) };
  }

  /** The error of an answer that is none. */
  wrong(why: string): DbError {
    return invalidArguments(`cannot read the answer of ${this.from}: ${why}`);
  }

  private readHead(): boolean {
    const { buffer, start, end } = this;
    if (end - start < HEAD_BYTES) return false;
    const view = new DataView(buffer.buffer, start, HEAD_BYTES);
    if (view.getUint16(0, true) !== ANSWER_MAGIC) throw this.wrong("it does not begin as one does");
    const version = view.getUint16(2, true);
    if (version > WIRE_VERSION || version < 1) {
      const why = `it is of version ${version}, and this server reads versions 1 to ${WIRE_VERSION}`;
      throw new DbError(StatusCode.Unsupported, `cannot read the answer of ${this.from}: ${why}; update this server`);
    }
    this.start = start + HEAD_BYTES;
    this.hasHead = true;
    return true;
  }
}
