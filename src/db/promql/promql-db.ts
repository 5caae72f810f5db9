/**
 * What servers ask of PromQL: which series, labels and metrics there are. Databases that are not there have none of them.
 */
import type { Labels } from "../../query/promql/evaluation/series-source.ts";
import type { Session } from "../session.ts";
import type { StoreFigures } from "./store-figures.ts";

export type { Labels };

/** Which series are meant. Times are milliseconds since the epoch, both inclusive. */
export interface SeriesAsk {
  /** Selectors, of which a series meets at least one; none: all series. */
  readonly match: readonly string[];
  readonly firstMillis: number;
  readonly lastMillis: number;
}

/** What is known of a metric beside its samples. */
export interface MetricMetadata {
  readonly metric: string;
  /** As Prometheus names types: "counter", "gaugehistogram", "unknown"; "" when nobody said. */
  readonly type: string;
  readonly unit: string;
}

/** See the file header. All of them need the permission to read. */
export interface PromqlDb {
  /** Series, each once. @throws DbError PermissionDenied, InvalidSyntax for a selector, those of reads */
  series(ask: SeriesAsk, session: Session): AsyncIterable<Labels>;
  /** Names of labels, sorted. @throws DbError as `series` */
  labelNames(ask: SeriesAsk, session: Session): Promise<readonly string[]>;
  /** Values of a label, sorted. @throws DbError as `series` */
  labelValues(label: string, ask: SeriesAsk, session: Session): Promise<readonly string[]>;
  /** By name. @param metric undefined: of all @throws DbError PermissionDenied */
  metadata(metric: string | undefined, session: Session): readonly MetricMetadata[];
  /** What the store has, counted now. @throws DbError PermissionDenied, those of reads */
  figures(session: Session): Promise<StoreFigures>;
}
