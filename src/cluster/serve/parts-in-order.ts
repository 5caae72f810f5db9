/**
 * The frames of several shards as one answer: all begin at once, and then each is sent to its end before the next one's.
 *
 *   shard 3  ▇▇▇▇─► frames, end          what is done before the first frame goes on side by side: groups, first rows
 *   shard 7  ▇▇▇▇ … waits ─► frames, end
 *
 * A part that waits holds its first frame, a piece at most, beside what its operators hold.
 */
import type { Frame } from "../wire/frames.ts";

/** See the file header. @param parts each ends by a frame that says so, unless its signal has fired */
export async function* partsInOrder(parts: readonly AsyncGenerator<Frame>[]): AsyncGenerator<Frame> {
  const begun = parts.map((part) => part.next());
  try {
    for (const [i, part] of parts.entries()) {
      for (let next = await begun[i]; next !== undefined && next.done !== true; next = await part.next()) yield next.value;
    }
  } finally {
    await Promise.allSettled(begun); // None is left without somebody who hears how it fails.
    await Promise.allSettled(parts.map((part) => part.return(undefined)));
  }
}
