/**
 * Frames of HTTP/2 (RFC 9113), and messages in frames made beforehand, so that sending one is a write.
 *
 *   ┌────────────────┬───────────┬────────────┬─────────────┬─────────┐
 *   │ length, 3 bytes│ type, 1   │ flags, 1   │ stream, 4   │ payload │
 *   └────────────────┴───────────┴────────────┴─────────────┴─────────┘
 */

/** Types of frames. */
export const FRAME = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags. The first has two names. */
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;

/** Numbers of settings. */
export const SETTING = { headerTableSize: 1, initialWindow: 4, frameBytesMax: 5 } as const;

/** Bytes before a payload. */
export const HEAD_BYTES = 9;
/** Bytes before a message of gRPC: whether it is packed, and its length. */
const PREFIX_BYTES = 5;

/** Names of errors by their number (section 7). */
const ERRORS: readonly string[] = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

/** The name of an error. */
export function errorName(code: number): string {
  return ERRORS[code] ?? `error ${code}`;
}

/** A number of three bytes, such as a frame's length. */
export function lengthAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 65_536 + bytes[at + 1]! * 256 + bytes[at + 2]!;
}

function writeHead(out: Uint8Array, at: number, length: number, type: number, flags: number): void {
  out[at] = length >>> 16;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flags;
}

function writeStream(out: Uint8Array, at: number, stream: number): void {
  out[at + 5] = stream >>> 24;
  out[at + 6] = stream >>> 16;
  out[at + 7] = stream >>> 8;
  out[at + 8] = stream;
}

/** One frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const out = Buffer.alloc(HEAD_BYTES + payload.length);
  writeHead(out, 0, payload.length, type, flags);
  writeStream(out, 0, stream);
  out.set(payload, HEAD_BYTES);
  return out;
}

/** A payload that is one number of 32 bits. */
export function numberPayload(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}

/** What the frames of a message need to know. */
export interface Framing {
  /** Most bytes of a payload. */
  readonly frameBytes: number;
  /** The header block of the call, where the message begins it. */
  readonly headers?: Uint8Array | undefined;
  /** Whether the message ends what the client sends. */
  readonly isLast: boolean;
}

/** A message in its frames, which are addressed when it is sent. */
export interface Framed {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where the first frame of data begins. */
  readonly dataFrom: number;
  readonly frameBytes: number;
}

/** A message of gRPC, not packed, in frames; undefined: none, only the headers or the end. The message is copied. */
export function framed(message: Uint8Array | undefined, { frameBytes, headers, isLast }: Framing): Framed {
  const payload = message === undefined ? 0 : PREFIX_BYTES + message.length;
  const frames = payload === 0 ? (isLast ? 1 : 0) : Math.ceil(payload / frameBytes);
  const dataFrom = headers === undefined ? 0 : HEAD_BYTES + headers.length;
  const bytes = new Uint8Array(dataFrom + frames * HEAD_BYTES + payload);
  if (headers !== undefined) {
    writeHead(bytes, 0, headers.length, FRAME.headers, FLAG.endHeaders);
    bytes.set(headers, HEAD_BYTES);
  }
  for (let i = 0; i < frames; i++) {
    const length = Math.min(frameBytes, payload - i * frameBytes);
    writeHead(bytes, dataFrom + i * (frameBytes + HEAD_BYTES), length, FRAME.data, isLast && i === frames - 1 ? FLAG.endStream : 0);
  }
  const made: Framed = { bytes, dataFrom, frameBytes };
  if (message === undefined) return made;
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  writePayload(made, -PREFIX_BYTES, prefix);
  writePayload(made, 0, message);
  return made;
}

/** Writes over a part of the message, `at` bytes behind its start. */
export function writePayload({ bytes, dataFrom, frameBytes }: Framed, at: number, part: Uint8Array): void {
  let from = at + PREFIX_BYTES;
  for (let done = 0; done < part.length; ) {
    const inFrame = from % frameBytes;
    const count = Math.min(part.length - done, frameBytes - inFrame);
    const frameAt = dataFrom + ((from - inFrame) / frameBytes) * (frameBytes + HEAD_BYTES);
    bytes.set(part.subarray(done, done + count), frameAt + HEAD_BYTES + inFrame);
    done += count;
    from += count;
  }
}

/** Addresses all frames of a message to a stream. */
export function address({ bytes }: Framed, stream: number): void {
  for (let at = 0; at < bytes.length; at += HEAD_BYTES + lengthAt(bytes, at)) writeStream(bytes, at, stream);
}
