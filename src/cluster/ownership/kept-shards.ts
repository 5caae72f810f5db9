/**
 * Shards that this node took out of turn, because the node that should own them did not take them. It keeps each for a while, which doubles
 * when that happens again soon after: given back at once, the shard would be without an owner again as long as that node is stuck.
 */
import { KEEP_MILLIS, KEEP_MILLIS_MAX } from "./limits.ts";
import type { Timers } from "./timers.ts";

interface Kept {
  /** Identity of the node that did not take it: after a restart it may be better. */
  readonly from: string;
  readonly times: number;
  readonly untilMillis: number;
}

/** See the file header. */
export class KeptShards {
  private readonly timers: Timers;
  private readonly kept = new Map<number, Kept>();

  constructor(timers: Timers) {
    this.timers = timers;
  }

  /** A shard is taken that is the node's with this identity. @returns takes that back: it was not to be had */
  keep(shard: number, from: string): () => void {
    const now = this.timers.monotonicMillis();
    const before = this.kept.get(shard);
    const isAgain = before?.from === from && now < before.untilMillis + KEEP_MILLIS_MAX;
    const times = isAgain ? before.times + 1 : 1;
    const millis = Math.min(KEEP_MILLIS_MAX, KEEP_MILLIS * 2 ** (times - 1));
    this.kept.set(shard, { from, times, untilMillis: now + millis });
    return () => {
      if (before === undefined) this.kept.delete(shard);
      else this.kept.set(shard, before);
    };
  }

  /** Whether a shard is not given to the node with this identity yet. */
  isKept(shard: number, from: string | undefined): boolean {
    const kept = this.kept.get(shard);
    return kept !== undefined && kept.from === from && this.timers.monotonicMillis() < kept.untilMillis;
  }
}
