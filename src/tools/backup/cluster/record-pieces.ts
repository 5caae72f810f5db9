/**
 * Messages of a shard's log as an object of a backup: each its length (u32, little-endian) and its bytes, in the order of their numbers,
 * which have no holes.
 */
import type { LogService } from "../../../cluster/port/log-service.ts";
import { MESSAGE_BYTES_MAX } from "../../../cluster/port/limits.ts";
import type { StreamMessage } from "../../../cluster/port/message.ts";

const HEAD_BYTES = 4;

/**
 * The messages behind `from` up to `last`, as pieces. The signal ends it early.
 *
 * @throws PortError trimmed: the log does not begin there any more
 */
export async function* logPieces(
  log: Pick<LogService, "follow">,
  { shard, from, last }: { readonly shard: number; readonly from: number; readonly last: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (from >= last) return;
  for await (const messages of log.follow(shard, from, { signal })) {
    const wanted = messages.filter(({ number }) => number <= last);
    if (wanted.length > 0) yield framed(wanted);
    if ((messages.at(-1)?.number ?? 0) >= last) return;
  }
}

function framed(messages: readonly StreamMessage[]): Uint8Array {
  const parts = messages.flatMap(({ bytes }) => {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(bytes.length);
    return [head, bytes];
  });
  return Buffer.concat(parts);
}

/** The messages of an object, one after the other; each is owned by whoever gets it. @throws Error: it is no such object */
export async function* recordsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = Buffer.alloc(0);
  for await (const piece of pieces) {
    left = Buffer.concat([left, piece]);
    let at = 0;
    for (;;) {
      const head = left.subarray(at, at + HEAD_BYTES);
      if (head.length < HEAD_BYTES) break;
      const length = head.readUInt32LE();
      if (length > MESSAGE_BYTES_MAX) throw new Error(`a message of ${length} bytes is longer than any`);
      if (left.length < at + HEAD_BYTES + length) break;
      yield new Uint8Array(left.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length));
      at += HEAD_BYTES + length;
    }
    left = left.subarray(at);
  }
  if (left.length > 0) throw new Error(`it ends within a message, ${left.length} bytes behind its begin`);
}
