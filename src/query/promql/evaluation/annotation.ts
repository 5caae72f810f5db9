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

/** Warns, once a metric, of samples that nothing here computes with. */
export function warnHistograms(metric: string, query: QueryScope): void {
  const what = "native histograms are not evaluated yet; their samples were left out";
  query.annotations.warnings.add(`PromQL warning: ${what}: ${JSON.stringify(metric)}`);
}

function placeOf(text: string | undefined, at: number): string {
  if (text === undefined) return `1:${at + 1}`;
  const before = text.slice(0, at).split("\n");
  return `${before.length}:${Buffer.byteLength(before.at(-1) ?? "") + 1}`;
}
