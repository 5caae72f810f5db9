/**
 * Frames of HTTP/2 (RFC 9113 4.1, 6, 7): their kinds, flags and codes, and those that are written by their fields.
 *
 *   ┌──────────────┬──────┬───────┬───────────────┬─────────┐
 *   │ length (u24) │ type │ flags │ 0, stream u31 │ payload │   numbers with the high byte first
 *   └──────────────┴──────┴───────┴───────────────┴─────────┘
 */
import type { ByteWriter } from "../../base/bytes/byte-writer.ts";

/** What a client says first. */
export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** Bytes before a payload. */
export const FRAME_HEAD_BYTES = 9;

/** Kinds of frames. */
export const FrameType = {
  Data: 0,
  Headers: 1,
  Priority: 2,
  ResetStream: 3,
  Settings: 4,
  PushPromise: 5,
  Ping: 6,
  GoAway: 7,
  WindowUpdate: 8,
  Continuation: 9,
} as const;

/** Flags; a bit may mean two things of two kinds. */
export const Flag = { EndStream: 1, Ack: 1, EndHeaders: 4, Padded: 8, Priority: 0x20 } as const;

/** Why a stream or a connection ends. */
export const ErrorCode = {
  NoError: 0,
  ProtocolError: 1,
  InternalError: 2,
  FlowControlError: 3,
  SettingsTimeout: 4,
  StreamClosed: 5,
  FrameSizeError: 6,
  RefusedStream: 7,
  Cancel: 8,
  CompressionError: 9,
  ConnectError: 10,
  EnhanceYourCalm: 11,
  InadequateSecurity: 12,
  Http11Required: 13,
} as const;

/** What settings are called. */
export const Setting = {
  HeaderTableSize: 1,
  EnablePush: 2,
  MaxConcurrentStreams: 3,
  InitialWindowSize: 4,
  MaxFrameSize: 5,
  MaxHeaderListSize: 6,
} as const;

/** Largest window. */
export const WINDOW_MAX: number = 2 ** 31 - 1;
/** Windows of connections and streams before anyone says otherwise. */
export const WINDOW_DEFAULT = 65_535;
/** Longest payload of those who said nothing, and the longest that may be said. */
export const FRAME_BYTES_DEFAULT = 16_384;
export const FRAME_BYTES_LARGEST: number = 2 ** 24 - 1;

/** Why a connection or a stream cannot go on. */
export interface Fault {
  /** Of `ErrorCode`. */
  readonly code: number;
  readonly why: string;
}

/** Appends the head of a frame. */
export function writeFrameHead(out: ByteWriter, length: number, type: number, flags: number, stream: number): void {
  out.reserve(FRAME_HEAD_BYTES);
  const { view } = out;
  view.setUint32(out.length, length * 256 + type);
  view.setUint8(out.length + 4, flags);
  view.setUint32(out.length + 5, stream);
  out.length += FRAME_HEAD_BYTES;
}

/** Appends RST_STREAM. */
export function writeReset(out: ByteWriter, stream: number, code: number): void {
  writeFrameHead(out, 4, FrameType.ResetStream, 0, stream);
  writeNumber(out, code);
}

/** Appends WINDOW_UPDATE. */
export function writeWindowUpdate(out: ByteWriter, stream: number, bytes: number): void {
  writeFrameHead(out, 4, FrameType.WindowUpdate, 0, stream);
  writeNumber(out, bytes);
}

/** Appends GOAWAY. @param last the last stream that was taken @param why for who looks at frames */
export function writeGoAway(out: ByteWriter, last: number, code: number, why: string): void {
  const text = Buffer.from(why, "latin1");
  writeFrameHead(out, 8 + text.length, FrameType.GoAway, 0, 0);
  writeNumber(out, last);
  writeNumber(out, code);
  out.raw(text);
}

/** Appends PING, or the answer to one. @param data 8 bytes */
export function writePing(out: ByteWriter, data: Uint8Array, flags: number): void {
  writeFrameHead(out, data.length, FrameType.Ping, flags, 0);
  out.raw(data);
}

/** Appends SETTINGS. */
export function writeSettings(out: ByteWriter, settings: readonly (readonly [id: number, value: number])[]): void {
  writeFrameHead(out, settings.length * 6, FrameType.Settings, 0, 0);
  for (const [id, value] of settings) {
    out.reserve(6);
    out.view.setUint16(out.length, id);
    out.view.setUint32(out.length + 2, value);
    out.length += 6;
  }
}

/** Appends that the other side's settings hold. */
export function writeSettingsAck(out: ByteWriter): void {
  writeFrameHead(out, 0, FrameType.Settings, Flag.Ack, 0);
}

function writeNumber(out: ByteWriter, value: number): void {
  out.reserve(4);
  out.view.setUint32(out.length, value);
  out.length += 4;
}

/** The 32 bits at a place of a payload, which has them. */
export function numberAt(payload: Uint8Array, at: number): number {
  const high = ((payload[at] as number) << 24) | ((payload[at + 1] as number) << 16);
  return (high | ((payload[at + 2] as number) << 8) | (payload[at + 3] as number)) >>> 0;
}
