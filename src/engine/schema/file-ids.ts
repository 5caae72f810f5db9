/** Ids of data files, given out once. They are taken from the meta store in blocks; the rest of one is lost at a restart. */
import { assert } from "../../base/assert.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import type { Commits } from "./commits.ts";
import { numberOf } from "./meta-codec.ts";

/** Key of the first id that was not taken from the meta store. */
export const NEXT_FILE = "next/file";
/** Ids taken from the meta store at a time: one commit for so many. */
const BLOCK = 1024;

/** See the file header. */
export class FileIds {
  private readonly commits: Commits;
  private next: number;
  private end: number;

  /** @throws DbError StorageUnavailable */
  constructor(meta: MetaStore, commits: Commits) {
    this.commits = commits;
    this.next = numberOf(NEXT_FILE, meta.get(NEXT_FILE) ?? 1);
    this.end = this.next;
  }

  /** Ids from this one on were never given out by an earlier process. */
  get unknownFrom(): number {
    return this.end;
  }

  /** The first of `count` ids, never given out before. @throws DbError StorageUnavailable */
  async take(count: number): Promise<number> {
    while (this.isShortOf(count)) await this.extend(count);
    const first = this.next;
    this.next += count;
    return first;
  }

  private isShortOf(count: number): boolean {
    return this.next + count > this.end;
  }

  private extend(count: number): Promise<void> | void {
    let end = this.end;
    return this.commits.make(
      () => {
        if (!this.isShortOf(count)) return undefined; // Who was before took enough for both.
        end = this.next + Math.max(count, BLOCK);
        return [{ key: NEXT_FILE, value: end }];
      },
      () => {
        this.end = end;
      },
    );
  }

  /** Gives back the ids of `[first, end)`, which nobody used. They are lost when others were given out since. */
  giveBack(first: number, end: number): void {
    assert(first <= end && end <= this.next, `ids below ${this.next}; got ${first} to ${end}`);
    if (end === this.next) this.next = first;
  }
}
