/**
 * Why a query is none: in Prometheus' words, at Prometheus' place.
 */
import type { Span } from "./ast.ts";

/** What is wrong with a query. */
export interface SyntaxProblem {
  /** `line:column: parse error: what`; columns count bytes of UTF-8, from 1. */
  readonly message: string;
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
    return { message: `${placeText(text, this.span.start)}: parse error: ${this.message}`, span: this.span };
  }
}

function placeText(text: string, at: number): string {
  if (text === "") return "unknown position";
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf("\n") + 1;
  let line = 1;
  for (let from = before.indexOf("\n"); from >= 0; from = before.indexOf("\n", from + 1)) line++;
  return `${line}:${Buffer.byteLength(before.slice(lineStart)) + 1}`;
}
