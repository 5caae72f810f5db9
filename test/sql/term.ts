/** Pieces of statements, each in two dialects. */
import { duckdbTemplate } from "./duckdb-dialect.ts";

/** What an expression gives, as far as it decides what may stand around it. */
export type Kind = "int" | "float" | "text" | "bool" | "time" | "date" | "decimal";

/** A piece of a statement. */
export interface Term {
  /** For Varve. */
  readonly text: string;
  /** For DuckDB. */
  readonly duck: string;
  /** Some rows may end it in an error: overflow, a cast out of range. */
  readonly mayFail: boolean;
}

/** The same text in both. */
export function plain(text: string): Term {
  return { text, duck: text, mayFail: false };
}

/** Other text in DuckDB. */
export function dialects(text: string, duck: string): Term {
  return { text, duck, mayFail: false };
}

/** `$1` to `$9` of the template are the arguments; DuckDB's template is another one where `duckdb-dialect.ts` says so. */
export function op(template: string, ...args: readonly Term[]): Term {
  const filled = (pattern: string, side: "text" | "duck"): string =>
    pattern.replace(/\$(\d)/g, (_, n) => args[Number(n) - 1]?.[side] ?? "");
  return {
    text: filled(template, "text"),
    duck: filled(duckdbTemplate(template), "duck"),
    mayFail: args.some(({ mayFail }) => mayFail),
  };
}

/** An operation that some rows may end in an error. */
export function failing(term: Term): Term {
  return { ...term, mayFail: true };
}

/** Pieces one after another. */
export function joined(terms: readonly Term[], separator: string): Term {
  return {
    text: terms.map(({ text }) => text).join(separator),
    duck: terms.map(({ duck }) => duck).join(separator),
    mayFail: terms.some(({ mayFail }) => mayFail),
  };
}
