/** What the log of a thread tells of its disk: how long a sync takes, and how many records share one. */
import type { Histogram } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";

/** Bucket bounds in seconds: from a sync of 4 KiB on a good disk (0.2 ms) to one that hangs. */
const SYNC_SECONDS: readonly number[] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const GROUP_RECORDS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024];
/** Up to the largest group (`GROUP_BYTES_MAX`). */
const GROUP_BYTES: readonly number[] = [1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** Hears of what a log does. */
export interface LogWatch {
  /** A group was written: records that share a sync, and their bytes. */
  wroteGroup(records: number, bytes: number): void;
  /** A sync of a segment came back, after so many seconds. */
  synced(seconds: number): void;
}

/** See the file header. Three observations a group cost 0.5 µs beside a sync of 200 and more. One a registry. */
export class LogMetrics implements LogWatch {
  private readonly seconds: Histogram;
  private readonly records: Histogram;
  private readonly bytes: Histogram;

  constructor(metrics: MetricRegistry) {
    this.seconds = metrics.histogram("varve_log_sync_seconds", "Seconds that a sync of the log takes", SYNC_SECONDS);
    this.records = metrics.histogram("varve_log_group_records", "Records of the log that were written at once", GROUP_RECORDS);
    this.bytes = metrics.histogram("varve_log_group_bytes", "Bytes of the log that were written at once", GROUP_BYTES);
  }

  wroteGroup(records: number, bytes: number): void {
    this.records.observe(records);
    this.bytes.observe(bytes);
  }

  synced(seconds: number): void {
    this.seconds.observe(seconds);
  }
}
