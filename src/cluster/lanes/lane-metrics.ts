import type { MetricRegistry } from "../../base/metrics.ts";
import type { LaneCounts } from "./lane-parts.ts";

/** What the lanes of a process have done, all together, and the bytes that they hold. */
export interface LaneFigures extends Readonly<LaneCounts> {
  readonly bytesHeld: number;
  /** Of messages that were acknowledged. */
  readonly bytesKept: number;
}

/** Shows what lanes do, at `/metrics` of a frontend. Call once a registry. */
export function registerLaneMetrics(metrics: MetricRegistry, figures: () => LaneFigures): void {
  const counter = (name: string, help: string, read: (figures: LaneFigures) => number): void =>
    metrics.shownCounter(name, help, () => read(figures()));
  counter("varve_lane_records_total", "records of rows that the cluster's log has acknowledged", ({ records }) => records);
  counter("varve_lane_bytes_total", "bytes of these records", ({ bytes }) => bytes);
  counter("varve_lane_messages_total", "messages that they came in: records gather while others are under way", ({ messages }) => messages);
  counter("varve_lane_resends_total", "records that were sent again, as an answer failed or came late", ({ resends }) => resends);
  counter("varve_lane_restored_total", "acknowledged records that were sent again, as the log had lost some", ({ restored }) => restored);
  counter("varve_lane_failures_total", "records that were given up: their writers were told", ({ failures }) => failures);
  counter("varve_lane_waits_total", "writers that waited for a shard that was behind, or for room", ({ waits }) => waits);
  metrics.shownGauge("varve_lane_held_bytes", "bytes of records that are not acknowledged yet", () => figures().bytesHeld);
  metrics.shownGauge("varve_lane_kept_bytes", "bytes of acknowledged messages, kept in case the log loses them", () => figures().bytesKept);
}
