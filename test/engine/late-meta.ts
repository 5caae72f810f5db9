/**
 * A meta store whose answers come turns later, as one has that is kept elsewhere: until then readers see what was before. Everything
 * follows from the seed.
 */
import { assert } from "../../src/base/assert.ts";
import type { Random } from "../../bench/macro/random.ts";
import type { MetaStore } from "../../src/storage/meta-store/meta-store.ts";

/** Turns that an answer takes at most. */
const TURNS_MAX = 8;

/** Keys of what is not of files. */
const CATALOGUE = /^(?:database|table|view|next\/table)/;

/** What a store that answers later was asked, and what it waits for. */
export class LateMeta {
  /** Commits that were answered at once, and later. */
  readonly counts: { atOnce: number; later: number } = { atOnce: 0, later: 0 };
  /** While it is set, nothing is answered before it resolves. */
  held: Promise<unknown> | undefined;
  private readonly random: Random;
  private readonly isOfFiles: boolean;

  /** @param isOfFiles changes of tables are answered at once: only those of their files come later */
  constructor(random: Random, isOfFiles: boolean) {
    this.random = random;
    this.isOfFiles = isOfFiles;
  }

  /** The store, later. One commit at a time may be under way. */
  over(meta: MetaStore): MetaStore {
    let isUnderWay = false;
    return {
      ...meta,
      commit: (changes) => {
        assert(!isUnderWay, "one commit at a time");
        const isAtOnce = this.isOfFiles && changes.some(({ key }) => CATALOGUE.test(key));
        if (isAtOnce || (this.held === undefined && this.random.below(4) === 0)) {
          this.counts.atOnce++;
          return meta.commit(changes);
        }
        this.counts.later++;
        isUnderWay = true;
        return this.turns().then(() => {
          isUnderWay = false;
          return meta.commit(changes);
        });
      },
    };
  }

  private async turns(): Promise<void> {
    const turns = this.random.below(TURNS_MAX);
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    await this.held;
  }
}
