/**
 * Frames of HTTP/2 by hand (RFC 9113), for clients that do what no library lets them.
 *
 *   ┌ length: u24 ┬ type: u8 ┬ flags: u8 ┬ stream: u32 ┬ payload ┐
 */

/** What a connection begins with. */
export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/** Types of frames. */
export const FRAME = { data: 0, headers: 1, settings: 4 } as const;
/** Flags of frames. */
export const END_STREAM = 1;
/** Of SETTINGS, the same bit. */
export const ACK = 1;
/** The headers are whole. */
export const END_HEADERS = 4;

const HEAD_BYTES = 9;

/** A frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Headers of a call of gRPC as literals that no table keeps (RFC 7541, 6.2.2), each text below 127 bytes. */
export function headerBlock(path: string): Buffer {
  const fields = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "localhost"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ];
  const texts = fields.flatMap((pair) => [Buffer.of(0), ...pair.flatMap((text) => [Buffer.of(text.length), Buffer.from(text)])]);
  return Buffer.concat(texts);
}

/** Host and port of `host:port`. */
export function addressOf(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}

/** What stands before a payload. */
export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** Frames out of pieces, however they are cut. */
export class FrameReader {
  private readonly onFrame: (head: FrameHead) => void;
  private rest: Buffer = Buffer.alloc(0);

  constructor(onFrame: (head: FrameHead) => void) {
    this.onFrame = onFrame;
  }

  add(chunk: Buffer): void {
    let bytes = Buffer.concat([this.rest, chunk]);
    while (bytes.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + bytes.readUIntBE(0, 3);
      if (bytes.length < end) break;
      this.onFrame({ type: bytes.readUInt8(3), flags: bytes.readUInt8(4), stream: bytes.readUInt32BE(5) });
      bytes = bytes.subarray(end);
    }
    this.rest = bytes;
  }
}
