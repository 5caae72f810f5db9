/**
 * Why a query is none: in Prometheus' words, at Prometheus' place.
 */
import type { Span } from "./ast.ts";

/** A place in a text: both count from 1, columns bytes of UTF-8. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a query. */
export interface SyntaxProblem {
  /** `line:column: parse error: what`. */
  readonly message: string;
  readonly what: string;
  /** Undefined: there is no text. */
  readonly place: Place | undefined;
  /** The part of the text that it is about. */
  readonly span: Span;
}

/** Leaves parsing or checking where it is; caught at its entry, never seen outside this folder. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly span: Span;

  constructor(what: string, span: Span) {
    super(what);
    this.span = span;
  }

  /** What a client reads. */
  in(text: string): SyntaxProblem {
    const place = text === "" ? undefined : placeOf(text, this.span.start);
    return { message: problemText(this.message, place), what: this.message, place, span: this.span };
  }
}

/** A problem as clients of Prometheus read it. */
export function problemText(what: string, place: Place | undefined): string {
  return `${place === undefined ? "unknown position" : `${place.line}:${place.column}`}: parse error: ${what}`;
}

function placeOf(text: string, at: number): Place {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf("\n") + 1;
  let line = 1;
  for (let from = before.indexOf("\n"); from >= 0; from = before.indexOf("\n", from + 1)) line++;
  return { line, column: Buffer.byteLength(before.slice(lineStart)) + 1 };
}
