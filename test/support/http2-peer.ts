/** A connection of `server/http2` on a socket in memory, and the client at its other end, which writes frames by hand. */
import { ByteWriter } from "../../src/base/bytes/byte-writer.ts";
import { Http2Connection } from "../../src/server/http2/connection.ts";
import type { Http2End, Http2Options, Http2Socket } from "../../src/server/http2/options.ts";
import { Flag, FRAME_HEAD_BYTES, FrameType, numberAt, PREFACE, writeFrameHead } from "../../src/server/http2/frame.ts";
import { type HeaderField, HeaderDecoder } from "../../src/server/http2/hpack/header-decoder.ts";
import { writeHeader } from "../../src/server/http2/hpack/header-encoder.ts";
import type { Http2Stream } from "../../src/server/http2/stream.ts";

/** A frame of the server. */
export interface SeenFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Takes what is written until it is full. */
class MemorySocket implements Http2Socket {
  readonly written: Uint8Array[] = [];
  isFull = false;
  isEnded = false;
  isDestroyed = false;
  writableLength = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly heard: Map<string, ((chunk: Uint8Array) => void)[]> = new Map();

  on(event: string, heard: (chunk: Uint8Array) => void): void {
    this.heard.set(event, [...(this.heard.get(event) ?? []), heard]);
  }

  emit(event: string, chunk: Uint8Array = new Uint8Array(0)): void {
    for (const heard of this.heard.get(event) ?? []) heard(chunk);
  }

  write(bytes: Uint8Array, taken: () => void): void {
    this.written.push(bytes.slice());
    if (!this.isFull) return;
    this.writableLength += bytes.length;
    this.waiting.push(taken);
  }

  /** Takes what was written, and all from now on. */
  empty(): void {
    this.isFull = false;
    this.writableLength = 0;
    for (const taken of this.waiting.splice(0)) taken();
  }

  end(): void {
    this.isEnded = true;
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit("close");
  }
}

/** A request's fields. */
export const REQUEST: readonly HeaderField[] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/there"],
  [":authority", "here"],
];

/** See the file header. */
export class Http2Peer {
  readonly socket: MemorySocket = new MemorySocket();
  readonly connection: Http2Connection;
  readonly streams: Http2Stream[] = [];
  readonly ended: Http2End[] = [];
  now = 0;

  /** @param onRequest default: bodies are let go, and nothing is answered */
  constructor(onRequest: (stream: Http2Stream) => void = () => undefined, options: Partial<Http2Options> = {}) {
    this.connection = new Http2Connection(this.socket, {
      now: () => this.now,
      resetsMax: 1000,
      writeMsMax: 60_000,
      onEnded: (reason) => this.ended.push(reason),
      onRequest: (stream) => {
        this.streams.push(stream);
        onRequest(stream);
      },
      ...options,
    });
  }

  /** Sends bytes. */
  send(...parts: readonly Uint8Array[]): this {
    this.socket.emit("data", Buffer.concat(parts));
    return this;
  }

  /** Sends the preface and settings. */
  hello(settings: readonly (readonly [number, number])[] = []): this {
    return this.send(Buffer.from(PREFACE, "latin1"), settingsFrame(settings));
  }

  /** What the server has sent until now, after a turn of the event loop. */
  async frames(): Promise<readonly SeenFrame[]> {
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    return framesOf(Buffer.concat(this.socket.written));
  }

  /** Frames of one kind. */
  async framesOfType(type: number): Promise<readonly SeenFrame[]> {
    return (await this.frames()).filter((frame) => frame.type === type);
  }

  /** The code of the server's GOAWAY; undefined: there is none. */
  async goAway(): Promise<number | undefined> {
    const [frame] = await this.framesOfType(FrameType.GoAway);
    return frame && numberAt(frame.payload, 4);
  }

  /** Codes of RST_STREAM, by stream. */
  async resets(): Promise<ReadonlyMap<number, number>> {
    return new Map((await this.framesOfType(FrameType.ResetStream)).map(({ stream, payload }) => [stream, numberAt(payload, 0)]));
  }
}

/** Any frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const out = new ByteWriter(payload.length + FRAME_HEAD_BYTES);
  writeFrameHead(out, payload.length, type, flags, stream);
  out.raw(payload);
  return Buffer.from(out.copy());
}

/** A payload of numbers of 32 bits. */
export function numbers(...values: readonly number[]): Buffer {
  const out = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => out.writeUInt32BE(value, i * 4));
  return out;
}

/** A block of headers. */
export function blockOf(fields: readonly HeaderField[]): Uint8Array {
  const out = new ByteWriter();
  for (const field of fields) writeHeader(out, field);
  return out.copy();
}

/** HEADERS in one frame. */
export function headersFrame(stream: number, fields: readonly HeaderField[] = REQUEST, isLast = false): Buffer {
  return frame(FrameType.Headers, Flag.EndHeaders | (isLast ? Flag.EndStream : 0), stream, blockOf(fields));
}

/** DATA. */
export function dataFrame(stream: number, body: Uint8Array | string, isLast = false): Buffer {
  return frame(FrameType.Data, isLast ? Flag.EndStream : 0, stream, Buffer.from(body as Uint8Array));
}

/** SETTINGS. */
export function settingsFrame(settings: readonly (readonly [number, number])[] = []): Buffer {
  const payload = Buffer.alloc(settings.length * 6);
  settings.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, i * 6);
    payload.writeUInt32BE(value, i * 6 + 2);
  });
  return frame(FrameType.Settings, 0, 0, payload);
}

/** Frames of a byte sequence, read the plain way. */
function framesOf(bytes: Buffer): readonly SeenFrame[] {
  const found: SeenFrame[] = [];
  for (let at = 0; at + FRAME_HEAD_BYTES <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    const payload = bytes.subarray(at + FRAME_HEAD_BYTES, at + FRAME_HEAD_BYTES + length);
    found.push({ type: bytes.readUInt8(at + 3), flags: bytes.readUInt8(at + 4), stream: bytes.readUInt32BE(at + 5), payload });
    at += FRAME_HEAD_BYTES + length;
  }
  return found;
}

/** Fields of a block that the server wrote. */
export function fieldsOf(block: Uint8Array): readonly HeaderField[] {
  return new HeaderDecoder().decode(block)?.fields ?? [];
}
