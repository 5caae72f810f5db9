/**
 * What is written: rows of host metrics shaped like the cpu rows of the Time Series Benchmark Suite.
 * Every `STEP_SECONDS` each host sends one row: ten tags, ten integers in 0..100, one timestamp in nanoseconds. Rows come in time
 * order with the hosts interleaved. About 347 bytes of line protocol a row with 4,000 hosts.
 */

/** Names of the tags, in the order of the lines. */
export const TAGS: readonly string[] = [
  "hostname",
  "region",
  "datacenter",
  "rack",
  "os",
  "arch",
  "team",
  "service",
  "service_version",
  "service_environment",
];

/** Names of the fields, in the order of the lines. All are integers, 0..100. */
export const FIELDS: readonly string[] = [
  "usage_user",
  "usage_system",
  "usage_idle",
  "usage_nice",
  "usage_iowait",
  "usage_irq",
  "usage_softirq",
  "usage_steal",
  "usage_guest",
  "usage_guest_nice",
];

/** Seconds between two rows of one host. */
export const STEP_SECONDS = 10;

/** The table that the rows make. */
export const TABLE = "cpu";

/** One data set; the same values always give the same bytes. */
export interface Dataset {
  /** Rows in all. The last step may be partial. */
  readonly rows: number;
  readonly hosts: number;
  /** Seed of tags and values. */
  readonly seed: number;
  /** Time of the first row in seconds since 1970. */
  readonly startSeconds: number;
}

/** The data set of the published figures: 4,000 hosts for six hours. */
export const FULL: Dataset = { rows: 8_640_000, hosts: 4000, seed: 4242, startSeconds: Date.UTC(2023, 5, 11) / 1000 };

/** Enough to prove that everything works: a hundred hosts for half an hour. */
export const SMOKE: Dataset = { ...FULL, rows: 20_000, hosts: 100 };

/** Steps that a data set covers, a partial last one included. */
export function stepCount(dataset: Dataset): number {
  return Math.ceil(dataset.rows / dataset.hosts);
}

/** The time that a data set covers in seconds since 1970, `[start, end)`. */
export function timeRange(dataset: Dataset): { readonly start: number; readonly end: number } {
  return { start: dataset.startSeconds, end: dataset.startSeconds + stepCount(dataset) * STEP_SECONDS };
}
