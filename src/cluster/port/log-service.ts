/**
 * One replicated stream of records for each shard: what was acknowledged stays, in one order for all, until it is trimmed.
 *
 * Numbers. A stream gives its records 1, 2, 3, … without holes. A jump that a follower sees therefore means that records were trimmed
 * before it read them, and only one who owns the shard may trim: the follower does not own it any more. It fails with `trimmed`, at the
 * latest `FOLLOW_CHECK_MILLIS` after it has nothing to read, also where nothing comes behind the hole.
 *
 * Order. Appends that one caller has under way at once are sent in the order of the calls and mostly stored so; after a failure, an
 * election or a new connection they need not be. The numbers tell: whoever relies on an order acknowledges an append only once its number
 * lies above those of the ones before (`engine/log/writers.ts`).
 *
 * Nothing is sent twice by the port: it does not know what a record is worth. A record whose append ended `unknown` may still come, behind
 * ones that were appended later.
 */
import type { CallOptions, StreamMessage } from "./message.ts";

/** See the file header. */
export interface LogService {
  /**
   * Appends a record to the stream of a shard. When it answers, a majority of the stream's servers have it on disk.
   *
   * At most `APPENDS_IN_FLIGHT_MAX` calls and `APPEND_BYTES_IN_FLIGHT_MAX` bytes of a port are under way; one more fails, `unavailable`.
   *
   * @param record nobody changes it from now on: it may be sent after the call has failed. At most `messageBytesMax` bytes, none is fine
   * @returns its number
   * @throws PortError unavailable, unknown, full, too-large, went-back, vanished, denied, cancelled, closed
   */
  append(shard: number, record: Uint8Array, options?: CallOptions): Promise<number>;

  /**
   * Number of the last record, 0 before the first; trimmed ones count. It is at least that of every append of this port that was answered
   * before the call, and of those of others unless the stream's leader was cut off within the last seconds and does not know it yet.
   *
   * @throws PortError unavailable, went-back, vanished, denied, cancelled, closed
   */
  last(shard: number, options?: CallOptions): Promise<number>;

  /**
   * Records above `after`, once each and in order, first those that are there, then those that come; lists of at least one. It goes on
   * by itself after elections and lost connections, however long they last. It reads ahead by `FOLLOW_BYTES_MAX` at most while nobody
   * takes the next list, and holds nothing once its loop is left or its signal has fired, which ends it quietly.
   *
   * @throws PortError trimmed, went-back, replaced, vanished, denied, closed
   */
  follow(shard: number, after: number, options?: CallOptions): AsyncIterable<readonly StreamMessage[]>;

  /**
   * Lets records up to `through` go. Unconditional: only for what a manifest has committed as flushed, and never beyond the last record.
   * Doing it twice does no harm. A failure leaves it open whether they are gone.
   *
   * @throws PortError unavailable, vanished, denied, cancelled, closed
   */
  trim(shard: number, through: number, options?: CallOptions): Promise<void>;

  /**
   * Lets the numbers of a log that has lost records go on behind `through`, which is above all that were ever given: whatever is there is
   * let go, and a stream that is gone is made anew. Unconditional: only for the owner, once all that can be saved is in files. Doing it
   * twice does no harm before the first append behind it. A failure leaves it open whether it was done.
   *
   * @throws PortError unavailable, denied, cancelled, closed
   */
  lift(shard: number, through: number, options?: CallOptions): Promise<void>;
}
