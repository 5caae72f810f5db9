/**
 * Warnings and infos in Prometheus' words, with the place in the query that they are about.
 */
import type { Span } from "../syntax/ast.ts";
import type { QueryScope } from "./scope.ts";

/** Adds `PromQL warning: what (1:7)`. */
export function warn(query: QueryScope, what: string, span: Span): void {
  query.annotations.warnings.add(`PromQL warning: ${what} (${placeOf(query.text, span.start)})`);
}

/** Adds `PromQL info: what (1:7)`. */
export function inform(query: QueryScope, what: string, span: Span): void {
  query.annotations.infos.add(`PromQL info: ${what} (${placeOf(query.text, span.start)})`);
}

/** What became of histograms on the way: words of annotations. */
export type HistogramOperation = "addition" | "subtraction" | "aggregation";

/** A series has numbers and histograms where it must have either. */
export function warnMixedSamples(query: QueryScope, metric: string, span: Span): void {
  warn(query, `encountered a mix of histograms and floats for metric name ${JSON.stringify(metric)}`, span);
}

/** Histograms with custom bounds and others, which nothing can bring together. */
export function warnMixedSchemas(query: QueryScope, metric: string, span: Span): void {
  const what = "vector contains a mix of histograms with exponential and custom buckets schemas for metric name";
  warn(query, `${what} ${JSON.stringify(metric)}`, span);
}

/** A function of counters got a gauge, or one of gauges a counter. */
export function warnHistogramType(query: QueryScope, wanted: "counter" | "gauge", metric: string, span: Span): void {
  warn(query, `this native histogram metric is not a ${wanted}: ${JSON.stringify(metric)}`, span);
}

/** Some histograms say that they were reset, others that they were not. */
export function warnHints(query: QueryScope, operation: HistogramOperation, span: Span): void {
  warn(query, `conflicting counter resets during histogram ${operation}`, span);
}

/** Custom bounds were not the same: those that all have are left. */
export function informBounds(query: QueryScope, operation: HistogramOperation, span: Span): void {
  inform(query, `mismatched custom buckets were reconciled during ${operation}`, span);
}

/** A function of numbers alone saw histograms beside them. */
export function informIgnoredInRange(query: QueryScope, metric: string, span: Span): void {
  const what = "ignored histograms in a range containing both floats and histograms for metric name";
  inform(query, `${what} ${JSON.stringify(metric)}`, span);
}

/** An aggregation of numbers alone saw histograms. */
export function informIgnoredInAggregation(query: QueryScope, aggregation: string, span: Span): void {
  inform(query, `ignored histogram in ${aggregation} aggregation`, span);
}

/** An operator does not take these two. */
export function informOperands(query: QueryScope, left: string, operator: string, right: string, span: Span): void {
  const what = `incompatible sample types encountered for binary operator ${JSON.stringify(operator)}`;
  inform(query, `${what}: ${left} ${operator} ${right}`, span);
}

function placeOf(text: string | undefined, at: number): string {
  if (text === undefined) return `1:${at + 1}`;
  const before = text.slice(0, at).split("\n");
  return `${before.length}:${Buffer.byteLength(before.at(-1) ?? "") + 1}`;
}
