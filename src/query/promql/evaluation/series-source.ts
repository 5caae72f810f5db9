/**
 * What evaluation of PromQL asks of storage, and what it answers. Whoever evaluates knows no tables, and whoever reads them no PromQL
 * beyond matchers.
 */
import type { Pace } from "../../../base/scheduler/pace.ts";
import type { LabelMatcher } from "../syntax/ast.ts";

/** Names and values of labels, `__name__` among them, sorted by name; no value is empty. */
export type Labels = readonly (readonly [name: string, value: string])[];

/** A native histogram as PromQL computes with it; buckets are counts, not deltas. */
export interface NativeHistogram {
  readonly schema: number;
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  readonly count: number;
  readonly sum: number;
  /** Index of the first bucket of each span and their counts. */
  readonly positiveSpans: readonly { readonly index: number; readonly counts: Float64Array }[];
  readonly negativeSpans: readonly { readonly index: number; readonly counts: Float64Array }[];
  /** Upper bounds where `schema` is -53. */
  readonly customValues: Float64Array | undefined;
  readonly resetHint: "unknown" | "reset" | "not-reset" | "gauge";
}

/** Which samples a selector needs for all steps of a query together. */
export interface SelectorRead {
  readonly matchers: readonly LabelMatcher[];
  /** Milliseconds since the epoch, both inclusive. */
  readonly firstMillis: number;
  readonly lastMillis: number;
  /** Whether only the newest sample of each series is looked at: others may be left out. */
  readonly newestOnly?: boolean;
  /** Labels that are looked at beside the metric's name: others may be left out. Undefined: all are. */
  readonly labels?: ReadonlySet<string> | undefined;
}

/** One series of a selector. Arrays are borrowed until the next series, or group of them, is asked for, and may be longer than `count`. */
export interface SampledSeries {
  readonly labels: Labels;
  readonly count: number;
  /** Milliseconds since the epoch, ascending. */
  readonly times: Float64Array;
  /** Stale markers (bits 0x7ff0000000000002) as they are. */
  readonly values: Float64Array;
  /** By position; undefined: the series has none. */
  readonly histograms: readonly (NativeHistogram | undefined)[] | undefined;
  /** When the counting of each sample began, milliseconds; 0: nobody says. Undefined: of none. */
  readonly starts: Float64Array | undefined;
}

/** What a running query may take. */
export interface EvaluationRun {
  readonly signal: AbortSignal;
  readonly pace: Pace;
  /** Counts bytes that it holds. @throws DbError RuntimeResourcesExhausted */
  readonly reserve: (bytes: number) => void;
  readonly release: (bytes: number) => void;
}

/** Series by matchers. */
export interface SeriesSource {
  /**
   * Each series once, whole, in any order. They come in groups, as waiting for each costs as much as its rate; those of a group are made as
   * they are asked for, and all are before the next group is. @throws DbError
   */
  select(read: SelectorRead, run: EvaluationRun): AsyncIterable<Iterable<SampledSeries>>;
}

/** The moments of a query: `start`, `start + step`, … up to and with `end`; milliseconds. */
export interface QueryTimes {
  readonly startMillis: number;
  readonly endMillis: number;
  /** At least 1. Of an instant query start and end are one moment. */
  readonly stepMillis: number;
  readonly lookbackMillis: number;
}

/** One series of a result: a value a step. Arrays are not changed any more. */
export interface SteppedSeries {
  readonly labels: Labels;
  readonly values: Float64Array;
  /** 1 where the step has a value or a histogram; undefined: all have. */
  readonly present: Uint8Array | undefined;
  readonly histograms: readonly (NativeHistogram | undefined)[] | undefined;
}

/** What Prometheus tells beside a result. */
export interface Annotations {
  readonly warnings: Set<string>;
  readonly infos: Set<string>;
}

/** What a query gives. The order of series counts for `sort` and its kin alone. */
export type QueryResult =
  | { readonly kind: "scalar"; readonly values: Float64Array }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "vector"; readonly series: AsyncIterable<readonly SteppedSeries[]>; readonly isOrdered: boolean }
  /** Of an instant query of a range: raw samples. */
  | { readonly kind: "matrix"; readonly series: AsyncIterable<SampledSeries> };
