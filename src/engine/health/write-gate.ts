/** Whether writes are taken: the log must work, and the disk have room beside its reserve. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { LogStreams } from "../log-streams.ts";
import { type DiskWatch, LOW_DISK_RETRY_SECONDS } from "./disk-watch.ts";

/** After how many seconds a writer should come back when the log does not work. */
const LOG_RETRY_SECONDS = 5;

/** See the file header. */
export class WriteGate {
  private readonly streams: LogStreams;
  private readonly disk: DiskWatch;

  constructor(streams: LogStreams, disk: DiskWatch) {
    this.streams = streams;
    this.disk = disk;
  }

  /** Why writes fail, those of any thread, or undefined. */
  failure(): string | undefined {
    return this.streams.failure() ?? this.disk.refusal;
  }

  /** @throws DbError StorageUnavailable when writes of this thread would fail */
  check(what: "write" | "delete" = "write"): void {
    const failure = this.streams.own.failure() ?? this.disk.refusal; // Another thread's log is that thread's trouble.
    if (failure === undefined) return;
    const retryAfterSeconds = this.disk.refusal === failure ? LOW_DISK_RETRY_SECONDS : LOG_RETRY_SECONDS;
    throw new DbError(StatusCode.StorageUnavailable, `cannot ${what}: ${failure}`, { retryAfterSeconds });
  }

  /**
   * A delete makes room once its rows are merged away, so a disk that is nearly full does not refuse it: like a merge, it may use half of
   * the reserve.
   *
   * @throws DbError StorageUnavailable when it would fail
   */
  checkDelete(bytes: number): void {
    if (this.streams.own.failure() === undefined && this.disk.hasRoomFor(bytes)) return;
    this.check("delete");
  }
}
