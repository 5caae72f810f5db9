/**
 * Lists of entries to which only who knows the last one can append: how nodes agree. `catalog` is one for all; each shard has a `manifest`.
 *
 * | list           | numbers                                                                | what was trimmed before a follower read it |
 * |----------------|------------------------------------------------------------------------|--------------------------------------------|
 * | `catalog`      | 1, 2, 3, … without holes: changes, each of one or of several            | fails it, `trimmed`                        |
 * | `manifest.<s>` | rise; holes are entries of other shards                                 | is passed over                             |
 *
 * Exactly one of those who append behind the same entry wins; all others are refused. That holds for late ones too: an append that ended
 * `unknown` expects its predecessor to be the last, so once any other entry is behind that one it never comes.
 */
import type { CallOptions, StreamMessage } from "./message.ts";

/** Names a list. */
export type OrderedName = "catalog" | `manifest.${number}`;

/** See the file header. */
export interface Ordered {
  /**
   * Appends if the list's last entry is the one numbered `last` (0: there never was one), on the disks of a majority.
   *
   * @param entry as a record of `LogService.append`; `cluster/meta-log` cuts up longer ones
   * @returns its number; "refused": another is the last, and nothing was appended
   * @throws PortError unavailable, unknown, full, too-large, went-back, vanished, denied, cancelled, closed
   */
  append(name: OrderedName, entry: Uint8Array, last: number, options?: CallOptions): Promise<number | "refused">;

  /**
   * Entries above `after` that are kept, in order: all that were appended before the call, by whomever, as far as the stream's leader
   * knows (`LogService.last`). All at once in memory: for lists that are trimmed.
   *
   * @throws PortError unavailable, trimmed (catalog), went-back, vanished, denied, cancelled, closed
   */
  read(name: OrderedName, after: number, options?: CallOptions): Promise<readonly StreamMessage[]>;

  /**
   * As `LogService.follow`: each entry above `after` once, in order.
   *
   * @throws PortError trimmed (catalog), went-back, replaced (catalog), vanished, denied, closed
   */
  follow(name: OrderedName, after: number, options?: CallOptions): AsyncIterable<readonly StreamMessage[]>;

  /**
   * Lets entries below `number` go. The last entry never goes, whatever the number.
   *
   * @throws PortError unavailable, vanished, denied, cancelled, closed
   */
  trim(name: OrderedName, number: number, options?: CallOptions): Promise<void>;
}
