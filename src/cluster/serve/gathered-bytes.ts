/**
 * An answer's frames as pieces of bytes: gathered until a piece is full, or nothing more comes at once. While nothing comes at all, every
 * `ALIVE_MILLIS` a frame says that the node lives.
 */
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { ALIVE, type Frame, HEAD_BYTES, writeFrame, writeHead } from "../wire/frames.ts";
import { ALIVE_MILLIS, FLUSH_MILLIS, PIECE_BYTES } from "../wire/limits.ts";

/** Bytes that a buffer begins with. Number: a buffer of a whole piece, zeroed for each of many small answers, took 0.18 ms of 0.85. */
const FIRST_BYTES: number = 4 * 1024;
/** Most bytes of a piece whose memory is used for the next one. */
const KEPT_BYTES_MAX: number = 4 * PIECE_BYTES;

/** See the file header. A piece is valid until the next one is asked for. */
export async function* gatheredBytes(frames: AsyncIterable<Frame>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const iterator = frames[Symbol.asyncIterator]();
  let out = new ByteWriter(FIRST_BYTES);
  writeHead(out);
  let pending: Promise<IteratorResult<Frame>> | undefined;
  try {
    for (;;) {
      pending ??= iterator.next();
      const next = await within(pending, out.length > HEAD_BYTES ? FLUSH_MILLIS : ALIVE_MILLIS);
      if (next !== undefined) {
        pending = undefined;
        if (next.done === true) break;
        writeFrame(next.value, out);
        if (out.length < PIECE_BYTES) continue;
      } else if (out.length <= HEAD_BYTES) writeFrame(ALIVE, out);
      yield out.bytes();
      if (out.length > KEPT_BYTES_MAX) out = new ByteWriter(FIRST_BYTES);
      else out.reset();
    }
    if (out.length > 0) yield out.bytes();
  } finally {
    // What is pending ends first: whoever leaves fires the signal that its work goes by.
    if (pending !== undefined) await Promise.allSettled([pending]);
    await iterator.return?.();
  }
}

/** What work gives, or undefined when it takes longer. */
async function within<T>(work: Promise<T>, millis: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), millis);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
