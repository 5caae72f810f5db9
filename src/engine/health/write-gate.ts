/** Whether writes are taken: the log must work, the disk have room beside its reserve, and all be where it was. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { LogStreams } from "../log/log-streams.ts";
import { type DiskWatch, LOW_DISK_RETRY_SECONDS } from "./disk-watch.ts";
import { LOST_PLACE_RETRY_SECONDS, type PlaceWatch } from "./place-watch.ts";

/** After how many seconds a writer should come back when the log does not work. */
const LOG_RETRY_SECONDS = 5;

const UNCERTAIN = "the meta store has not answered a change of tables, so that nobody knows whether it was made";

/** See the file header. */
export class WriteGate {
  private readonly streams: LogStreams;
  private readonly disk: DiskWatch;
  private readonly places: PlaceWatch;
  private readonly ownership: { readonly fenced: Error | undefined; readonly isUncertain: boolean };

  /** @param ownership says why what is written is another's, or whether nobody knows which tables there are */
  constructor(streams: LogStreams, disk: DiskWatch, places: PlaceWatch, ownership: WriteGate["ownership"]) {
    this.ownership = ownership;
    this.streams = streams;
    this.disk = disk;
    this.places = places;
  }

  /** Why writes fail, those of any thread, or undefined. */
  failure(): string | undefined {
    return this.streams.failure() ?? this.refusal();
  }

  /** @throws DbError StorageUnavailable when writes of this thread would fail */
  check(what: "write" | "delete" = "write"): void {
    const failure = this.streams.own.failure() ?? this.refusal(); // Another thread's log is that thread's trouble.
    if (failure === undefined) return;
    const retryAfterSeconds = this.retryAfterOf(failure);
    throw new DbError(StatusCode.StorageUnavailable, `cannot ${what}: ${failure}`, { retryAfterSeconds });
  }

  /**
   * A delete makes room once its rows are merged away, so a disk that is nearly full does not refuse it: like a merge, it may use half of
   * the reserve.
   *
   * @throws DbError StorageUnavailable when it would fail
   */
  checkDelete(bytes: number): void {
    const isTaken =
      this.streams.own.failure() === undefined &&
      this.ownership.fenced === undefined &&
      this.places.refusal === undefined &&
      this.disk.hasRoomFor(bytes);
    if (!isTaken) this.check("delete");
  }

  /** Why no thread takes writes, whatever its log does; undefined while they may. */
  refusal(): string | undefined {
    const { fenced, isUncertain } = this.ownership;
    return fenced?.message ?? (isUncertain ? UNCERTAIN : undefined) ?? this.places.refusal ?? this.disk.refusal;
  }

  private retryAfterOf(failure: string): number {
    if (failure === this.places.refusal) return LOST_PLACE_RETRY_SECONDS;
    return failure === this.disk.refusal ? LOW_DISK_RETRY_SECONDS : LOG_RETRY_SECONDS;
  }
}
