/**
 * What of the log of a shard was found to be lost, and how often writers were asked to send again what they hold.
 *
 *   a message is damaged │ a writer says that the log lost records │ the log went back, or is gone │ a hole in a writer's numbers stays
 *        └──────────────────────────┴───────────────────────────────────────┴───────────────────────────────────┤
 *                                      asked + 1, of all or of that writer, with the next commit ─► writers are told (leases of shards)
 *
 * A damaged message stays so, also for an owner that can read it (its copy is of another server): the one before may have brought rows
 * behind it to files, and skipped what relied on it, while its writer sends it again.
 */
import type { WriterId } from "../../base/units.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import { type KnownLosses, readLosses } from "./log-start.ts";

/** Most damaged messages that are passed over and still in the log. Reason: the manifest has them. Error: the shard cannot go on. */
const DAMAGED_MAX = 1000;

/** See the file header. */
export class LogLosses {
  private readonly meta: Pick<MetaStore, "get">;
  /** How often writers were asked, whether it is committed yet or not. */
  private count: number;
  /** Whom the last time; 0: all. */
  private writer: number;
  /** The last count that was seen to be committed. */
  private committed: number;
  /** The last message that asked: those up to it were heard. */
  private heard: number;
  private readonly damaged: Set<number>;

  /** @throws DbError StorageUnavailable when what the manifest says is broken */
  constructor(meta: Pick<MetaStore, "get">) {
    this.meta = meta;
    const { asked, writer, heard, damaged } = readLosses(meta);
    this.count = asked;
    this.writer = writer;
    this.committed = asked;
    this.heard = heard;
    this.damaged = new Set(damaged);
  }

  /** How often writers were asked, and which the last time (0: all), as far as owners that come know, too. */
  get asked(): { readonly count: number; readonly writer: number } {
    const { asked, writer } = readLosses(this.meta);
    return { count: asked, writer };
  }

  /** Whether writers are to be asked, and owners that come would not know of it yet. */
  get isUncommitted(): boolean {
    return this.count !== this.committed && this.count !== (this.committed = this.asked.count);
  }

  isDamaged(number: number): boolean {
    return this.damaged.has(number);
  }

  /** Notes a damaged message. @throws DbError StorageUnavailable: there are too many */
  found(message: number): void {
    if (this.damaged.size >= DAMAGED_MAX) {
      const why = `${DAMAGED_MAX} of its messages are damaged, and still needed`;
      throw new DbError(StatusCode.StorageUnavailable, `cannot follow the log of a shard: ${why}`);
    }
    this.damaged.add(message);
    this.ask(0);
  }

  /** A message that asks others. */
  heardOf(message: number): void {
    if (message <= this.heard) return;
    this.heard = message;
    this.ask(0);
  }

  /** Asks all writers, or one. */
  ask(writer: WriterId | 0): void {
    this.count++;
    this.writer = writer;
  }

  /** Forgets damaged messages that nobody reads again. */
  forget(through: number): void {
    for (const message of this.damaged) if (message <= through) this.damaged.delete(message);
  }

  /** What commits say from now on; undefined: nothing was ever lost. */
  get known(): KnownLosses | undefined {
    const { count: asked, writer, heard, damaged } = this;
    return asked === 0 ? undefined : { asked, writer, heard, damaged: [...damaged] };
  }
}
