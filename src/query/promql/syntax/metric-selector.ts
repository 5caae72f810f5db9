import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { LabelMatcher } from "./ast.ts";
import { parsePromql } from "./parse.ts";

/** The matchers of a selector that stands alone, as `match[]` has it. @throws DbError InvalidSyntax for any other query */
export function metricSelector(text: string): readonly LabelMatcher[] {
  const parsed = parsePromql(text);
  if (!parsed.ok) throw new DbError(StatusCode.InvalidSyntax, parsed.problem.message);
  const { expression } = parsed;
  if (expression.kind === "VectorSelector" && expression.at === undefined && isZero(expression.offset)) return expression.matchers;
  throw new DbError(StatusCode.InvalidSyntax, `1:1: parse error: want a metric with matchers such as up{job="x"} and nothing else`);
}

function isZero(offset: { readonly kind: string; readonly millis?: number }): boolean {
  return offset.kind === "Milliseconds" && offset.millis === 0;
}
