/**
 * The mini-language of `matches(text, query)` (contract query.md 2.5):
 *
 *   query    := clauses { OR clauses }
 *   clauses  := group group …                  beside each other: with a `+` all of those with one, else one of them; none with a `-`
 *   group    := unary { AND unary }
 *   unary    := [ + | - ] ( term | "phrase" | ( query ) )
 *
 * A term ends at a blank, a parenthesis or a quote; `+`, `-`, AND and OR mean something only where a term may begin. A backslash takes the
 * next character as it is, in phrases too. Terms and phrases are found anywhere in the text, as LIKE '%term%' would, case and all.
 */
import { type DbError, invalidArguments } from "../../../base/error.ts";

/** What a query asks of a text. */
export type FullTextQuery =
  | { readonly kind: "contains"; readonly text: string }
  | { readonly kind: "not"; readonly of: FullTextQuery }
  | { readonly kind: "all"; readonly of: readonly FullTextQuery[] }
  | { readonly kind: "any"; readonly of: readonly FullTextQuery[] };

/** Deepest nesting of parentheses. Reason: the parser and whoever walks the tree recurse. */
const DEPTH_MAX = 64;
/** Longest query in characters. Reason: it is parsed again for each row when it is no constant. */
const CHARACTERS_MAX = 65_536;

type Token =
  | { readonly kind: "text"; readonly text: string; readonly at: number }
  | { readonly kind: "+" | "-" | "(" | ")" | "AND" | "OR" | "end"; readonly at: number };

/** Parses a query; one without terms finds nothing. @throws DbError InvalidArguments naming the character */
function parseFullTextQuery(query: string): FullTextQuery {
  if (query.length > CHARACTERS_MAX) throw refused(query, CHARACTERS_MAX, `longer than ${CHARACTERS_MAX} characters`);
  const parser = new Parser(query);
  return parser.whole();
}

/** Whether a text is what the query asks for. */
export function meetsFullTextQuery(query: FullTextQuery, text: string): boolean {
  switch (query.kind) {
    case "contains":
      return text.includes(query.text);
    case "not":
      return !meetsFullTextQuery(query.of, text);
    case "all":
      return query.of.every((part) => meetsFullTextQuery(part, text));
    case "any":
      return query.of.some((part) => meetsFullTextQuery(part, text));
  }
}

function refused(query: string, at: number, why: string): DbError {
  const shown = query.length > 120 ? `${query.slice(0, 120)}…` : query;
  return invalidArguments(`cannot parse full-text query '${shown}' at character ${at + 1}: ${why}`);
}

function tokensOf(query: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < query.length; ) {
    const character = query.charAt(at);
    if (/\s/.test(character)) at++;
    else if (character === "(" || character === ")" || character === "+" || character === "-") tokens.push({ kind: character, at: at++ });
    else if (character === '"') at = phrase(query, at, tokens);
    else at = term(query, at, tokens);
  }
  tokens.push({ kind: "end", at: query.length });
  return tokens;
}

/** Reads the phrase that begins at `start` and returns where it ends. */
function phrase(query: string, start: number, tokens: Token[]): number {
  let text = "";
  for (let at = start + 1; at < query.length; at++) {
    const character = query.charAt(at);
    if (character === '"') {
      tokens.push({ kind: "text", text, at: start });
      return at + 1;
    }
    if (character === "\\" && at + 1 < query.length) text += query.charAt(++at);
    else text += character;
  }
  throw refused(query, start, 'the phrase has no closing "');
}

function term(query: string, start: number, tokens: Token[]): number {
  let text = "";
  let isEscaped = false;
  let at = start;
  for (; at < query.length && !/[\s()"]/.test(query.charAt(at)); at++) {
    if (query.charAt(at) !== "\\" || at + 1 === query.length) {
      text += query.charAt(at);
      continue;
    }
    isEscaped = true;
    text += query.charAt(++at);
  }
  if (!isEscaped && (text === "AND" || text === "OR")) tokens.push({ kind: text, at: start });
  else tokens.push({ kind: "text", text, at: start });
  return at;
}

/** One clause of several beside each other. */
interface Clause {
  readonly sign: "+" | "-" | undefined;
  readonly query: FullTextQuery;
}

class Parser {
  private readonly query: string;
  private readonly tokens: readonly Token[];
  private at = 0;
  private depth = 0;

  constructor(query: string) {
    this.query = query;
    this.tokens = tokensOf(query);
  }

  whole(): FullTextQuery {
    if (this.next.kind === "end") return { kind: "any", of: [] };
    const parsed = this.alternatives();
    if (this.next.kind === ")") throw this.refused("there is no ( for this )");
    return parsed;
  }

  private get next(): Token {
    return this.tokens[this.at] ?? { kind: "end", at: this.query.length };
  }

  private refused(why: string): DbError {
    return refused(this.query, this.next.at, why);
  }

  private alternatives(): FullTextQuery {
    const of = [this.clauses()];
    while (this.next.kind === "OR") {
      this.at++;
      of.push(this.clauses());
    }
    return joined("any", of);
  }

  private clauses(): FullTextQuery {
    const clauses: Clause[] = [];
    while (!["end", ")", "OR"].includes(this.next.kind)) clauses.push(this.group());
    if (clauses.length === 0) throw this.refused("a term belongs here");
    const of = (sign: Clause["sign"]): FullTextQuery[] => clauses.filter((clause) => clause.sign === sign).map(({ query }) => query);
    const [must, mustNot, optional] = [of("+"), of("-"), of(undefined)];
    const wanted = must.length > 0 ? must : optional.length > 0 ? [joined("any", optional)] : [];
    return joined("all", [...wanted, ...mustNot.map((query): FullTextQuery => ({ kind: "not", of: query }))]);
  }

  /** Operands of AND; a `+` before one of several says nothing new. */
  private group(): Clause {
    const first = this.unary();
    if (this.next.kind !== "AND") return first;
    const operands = [first];
    while (this.next.kind === "AND") {
      this.at++;
      operands.push(this.unary());
    }
    const of = operands.map(({ sign, query }): FullTextQuery => (sign === "-" ? { kind: "not", of: query } : query));
    return { sign: undefined, query: joined("all", of) };
  }

  private unary(): Clause {
    const { next } = this;
    if (next.kind !== "+" && next.kind !== "-") return { sign: undefined, query: this.primary() };
    this.at++;
    return { sign: next.kind, query: this.primary() };
  }

  private primary(): FullTextQuery {
    const { next } = this;
    if (next.kind === "text") {
      this.at++;
      return { kind: "contains", text: next.text };
    }
    if (next.kind !== "(") throw this.refused(`a term, a "phrase" or ( belongs here`);
    if (++this.depth > DEPTH_MAX) throw this.refused(`more than ${DEPTH_MAX} parentheses within each other`);
    this.at++;
    const inner = this.alternatives();
    if (this.next.kind !== ")") throw this.refused("a ( is not closed");
    this.at++;
    this.depth--;
    return inner;
  }
}

function joined(kind: "all" | "any", of: readonly FullTextQuery[]): FullTextQuery {
  const [only, ...others] = of;
  return only !== undefined && others.length === 0 ? only : { kind, of };
}

const CACHE_MAX = 64;
const cache = new Map<string, FullTextQuery>();

/** As `parseFullTextQuery`, each query of a statement parsed once. */
export function fullTextQueryOf(query: string): FullTextQuery {
  const known = cache.get(query);
  if (known !== undefined) return known;
  const parsed = parseFullTextQuery(query);
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(query, parsed);
  return parsed;
}
