/**
 * The entry: query text to a checked tree, in time linear in the text.
 *
 * Limits: `PROMQL_CHARACTERS_MAX`, `PROMQL_NUMBER_CHARACTERS_MAX`, `PROMQL_TOKENS_MAX`, `PROMQL_DEPTH_MAX`, `PROMQL_REGEX_CHARACTERS_MAX`.
 */
import { PROMQL_CHARACTERS_MAX } from "../../../base/limits.ts";
import type { Expression } from "./ast.ts";
import { checkTree } from "./checker.ts";
import { parsedTree } from "./parser.ts";
import { Refusal, type SyntaxProblem } from "./refusal.ts";

/** A tree whose types fit, or why there is none. */
export type ParsedQuery = { readonly ok: true; readonly expression: Expression } | { readonly ok: false; readonly problem: SyntaxProblem };

/** Parses and checks a query. */
export function parsePromql(text: string): ParsedQuery {
  try {
    if (text.length > PROMQL_CHARACTERS_MAX)
      throw new Refusal(`the query is longer than ${PROMQL_CHARACTERS_MAX} characters`, { start: 0, end: text.length });
    const expression = parsedTree(text);
    checkTree(expression, text);
    return { ok: true, expression };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, problem: error.in(text) };
  }
}
