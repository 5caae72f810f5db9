/**
 * Where the records of one shard's rows go, in their order: the log of this thread, or a replicated log that others write, too.
 *
 *   beginRecord ─► chunks of the record, with the series that its segment has not defined yet ─► append       nothing comes between
 */
import type { RecordEntry } from "../../storage/memtable/write-record.ts";

/** See the file header. */
export interface RecordLane {
  /** The segment that the next record goes to: series that it has defined need not be defined again. */
  beginRecord(): number;
  /** Has the next record begin a segment: numbers of series mean something else from now on. */
  endSegment(): void;
  /**
   * Appends a record; resolves once it is as durable as the lane promises. Records become durable in the order of the calls. The entries'
   * chunks and registries are borrowed until the promise settles.
   *
   * @throws DbError StorageUnavailable, RateLimited, InvalidArguments when the record is too long. After StorageUnavailable nobody knows
   *   whether its rows are there
   */
  append(entries: readonly RecordEntry[]): Promise<void>;
  /** Whether `admit` has to wait. */
  readonly isBusy: boolean;
  /** Resolves when the lane takes another record: it does not while its shard is far behind. @throws DbError RateLimited, Cancelled */
  admit(signal?: AbortSignal): Promise<void>;
  /** Why the lane takes no records now, or undefined. */
  failure(): string | undefined;
}
