/**
 * What servers ask of PromQL: which series, labels and metrics there are. Databases that are not there have none of them.
 */
import type {
  Annotations,
  EvaluationRun,
  Labels,
  NativeHistogram,
  QueryResult,
  QueryTimes,
  SampledSeries,
  SteppedSeries,
} from "../../query/promql/evaluation/series-source.ts";
import type { PromqlRequest } from "../../query/promql-engine.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import type { Session } from "../session.ts";
import type { StoreFigures } from "./store-figures.ts";

export type { Annotations, Labels, NativeHistogram, SampledSeries, SteppedSeries };

/** A query and its moments, milliseconds since the epoch: `startMillis`, `startMillis + stepMillis`, … up to and with `endMillis`. */
export interface QueryAsk {
  readonly query: string;
  readonly startMillis: number;
  readonly endMillis: number;
  /** At least 1. */
  readonly stepMillis: number;
  /** One moment, and then any query; else vectors and scalars. */
  readonly isInstant: boolean;
  /** Undefined: as the server's settings say. */
  readonly lookbackMillis: number | undefined;
  readonly timeoutMillis: number | undefined;
}

/** A query that has begun. Whoever asked calls `done`. */
export interface QueryAnswer {
  readonly result: QueryResult;
  readonly times: QueryTimes;
  /** Whole when all series have been read. */
  readonly annotations: Annotations;
  /** What the answer may take while it is made. */
  readonly run: EvaluationRun;
  /** Samples that were read so far. */
  samplesRead(): number;
  /** Ends the query: all that it holds is given back. To be called once. */
  done(): void;
}

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
  /** Begins a query. @throws DbError PermissionDenied, InvalidSyntax, InvalidArguments, those of evaluation */
  query(ask: QueryAsk, session: Session): Promise<QueryAnswer>;
  /** One result: the rows of a query as TQL EVAL gives them. @throws DbError DatabaseNotFound, and those of `query` */
  rows(request: PromqlRequest, session: Session): AsyncIterable<StatementResult>;
  /** By name. @param metric undefined: of all @throws DbError PermissionDenied */
  metadata(metric: string | undefined, session: Session): readonly MetricMetadata[];
  /** What the store has, counted now. @throws DbError PermissionDenied, those of reads */
  figures(session: Session): Promise<StoreFigures>;
}
