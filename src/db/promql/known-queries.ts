/**
 * Trees of the queries that were asked lately: a dashboard asks the same ones every few seconds, and to read a short query takes as long as
 * the samples of ten series. Trees are never changed, so all evaluations of a query share one.
 */
import { type ParsedQuery, parsePromql } from "../../query/promql/syntax/parse.ts";

/** Most trees that are kept. */
const QUERIES_MAX = 64;
/** Longest text that is kept. Reason: trees take up to a hundred times their text; 64 of them 6 MiB. */
const CHARACTERS_MAX = 1024;

/** See the file header. */
export class KnownQueries {
  /** The one that was asked for last is the last one. */
  private readonly trees: Map<string, ParsedQuery> = new Map();

  /** See `parsePromql`. */
  parse(text: string): ParsedQuery {
    if (text.length > CHARACTERS_MAX) return parsePromql(text);
    const parsed = this.trees.get(text) ?? parsePromql(text);
    if (!parsed.ok) return parsed;
    this.trees.delete(text);
    this.trees.set(text, parsed);
    if (this.trees.size > QUERIES_MAX) this.forgetOldest();
    return parsed;
  }

  private forgetOldest(): void {
    for (const text of this.trees.keys()) {
      this.trees.delete(text);
      return;
    }
  }
}
