/** The messages of an Arrow IPC stream that is there as a whole (`../FORMAT.md`). */
import { malformed } from "./arrow-failure.ts";
import { envelopeOf } from "./arrow-reader.ts";

const CONTINUATION = 0xffff_ffff;

/** A message as Flight has it. Both are views of the stream. */
export interface StreamMessage {
  readonly metadata: Uint8Array;
  readonly body: Uint8Array;
}

/** Takes a stream apart: with the marks of Arrow 0.15 and later or without, with its end or without. @throws DbError InvalidArguments */
export function* streamMessages(bytes: Uint8Array): Generator<StreamMessage> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    need(bytes, at, 4);
    if (view.getUint32(at, true) === CONTINUATION) at += 4;
    need(bytes, at, 4);
    const length = view.getUint32(at, true);
    at += 4;
    if (length === 0) return;
    need(bytes, at, length);
    const metadata = bytes.subarray(at, at + length);
    at += length;
    const { bodyBytes } = envelopeOf(metadata);
    need(bytes, at, bodyBytes);
    yield { metadata, body: bytes.subarray(at, at + bodyBytes) };
    at += bodyBytes;
  }
}

function need(bytes: Uint8Array, at: number, length: number): void {
  if (at + length > bytes.length) throw malformed(`the stream ends at byte ${bytes.length}, within a message`);
}
