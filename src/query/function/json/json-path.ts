/**
 * The path language of JSON functions (contract query.md 2.5), read into a tree:
 *
 *   path       [$] step*               a leading name needs no dot: a.b  a:b  a["b c"]  [0]
 *   step       .name  :name  ["name"]  .*  [*]  [0, last - 1, 2 to last]  ?(condition)
 *   condition  operand (== | != | <> | < | <= | > | >=) operand, exists(path), path starts with "x", && || ! ( )
 *   operand    path from $ (the document) or @ (the value under test), number, "text", true, false, null
 *
 * Limits: `PATH_CHARACTERS_MAX`, `PATH_DEPTH_MAX`.
 */
import { executionError } from "../value/execution-error.ts";
import { type DbError } from "../../../base/error.ts";

/** An index of an array: from the start, or from its last element (0 is the last, -1 the one before). */
export interface PathIndex {
  readonly fromLast: boolean;
  readonly offset: number;
}

/** One step of a path. Ranges hold both ends. */
export type PathStep =
  | { readonly kind: "key"; readonly name: string }
  | { readonly kind: "any-key" }
  | { readonly kind: "any-element" }
  | { readonly kind: "elements"; readonly ranges: readonly { readonly from: PathIndex; readonly to: PathIndex }[] }
  | { readonly kind: "filter"; readonly condition: PathCondition };

/** A path from the document or, in conditions, from the value under test. */
export interface JsonPath {
  readonly kind: "path";
  readonly from: "root" | "current";
  readonly steps: readonly PathStep[];
}

/** What conditions compare: a path or a constant as JSON text. */
export type PathOperand = JsonPath | { readonly kind: "constant"; readonly json: string };

/** Operators between operands. */
export type PathOperator = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** A condition of a filter or of `json_path_match`. `value` alone is true when it finds `true`. */
export type PathCondition =
  | { readonly kind: "and" | "or"; readonly left: PathCondition; readonly right: PathCondition }
  | { readonly kind: "not"; readonly operand: PathCondition }
  | { readonly kind: "compare"; readonly operator: PathOperator; readonly left: PathOperand; readonly right: PathOperand }
  | { readonly kind: "starts-with"; readonly operand: PathOperand; readonly prefix: string }
  | { readonly kind: "exists"; readonly path: JsonPath }
  | { readonly kind: "value"; readonly operand: PathOperand };

/** Longest path, characters. Reason: paths of conditions are read by recursion and kept in a cache. Error: EngineExecuteQuery. */
const PATH_CHARACTERS_MAX = 16 * 1024;
/** Most conditions in each other. Error: EngineExecuteQuery. */
const PATH_DEPTH_MAX = 64;
/** Most paths that stay read. */
const CACHE_MAX = 256;
const cache = new Map<string, JsonPath | PathCondition>();

/** The path of a text. @throws DbError EngineExecuteQuery when it is none */
export function jsonPathOf(text: string): JsonPath | PathCondition {
  return cached(`p${text}`, () => new PathReader(text).whole(false));
}

/** The condition of a text. @throws DbError EngineExecuteQuery when it is none */
export function jsonConditionOf(text: string): PathCondition {
  const read = cached(`c${text}`, () => new PathReader(text).whole(true));
  return read.kind === "path" ? { kind: "value", operand: read } : read;
}

function cached(key: string, read: () => JsonPath | PathCondition): JsonPath | PathCondition {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = read();
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(key, made);
  return made;
}

const NAME = /[^\s.:[\]()?@*"'=<>!&|,]+/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/y;
const OPERATOR = /==|!=|<>|<=|>=|<|>|=/y;
const WORD = /[A-Za-z]+/y;
const CONSTANTS: readonly string[] = ["true", "false", "null"];

/** Reads a path from left to right. */
class PathReader {
  private at = 0;
  private depth = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
    if (text.length > PATH_CHARACTERS_MAX) throw this.failure(`it has more than ${PATH_CHARACTERS_MAX} characters`);
  }

  /** A path when the text is one; otherwise a condition. `constants`: `null` is a constant, not a name. */
  whole(constants: boolean): JsonPath | PathCondition {
    this.skipBlanks();
    if (/^\$?\.?$/.test(this.text.trim())) return { kind: "path", from: "root", steps: [] };
    const first = this.text[this.at] ?? "";
    const start = this.at;
    if (!constants && !'!("'.includes(first)) {
      const path = this.pathFromStart();
      this.skipBlanks();
      if (this.at === this.text.length) return path;
      this.at = start;
    }
    const condition = this.or();
    this.skipBlanks();
    if (this.at < this.text.length) throw this.failure(`unexpected '${this.text.slice(this.at, this.at + 10)}'`);
    return condition;
  }

  private or(): PathCondition {
    this.depth++;
    if (this.depth > PATH_DEPTH_MAX) throw this.failure(`more than ${PATH_DEPTH_MAX} conditions in each other`);
    let left = this.and();
    while (this.take("||")) left = { kind: "or", left, right: this.and() };
    this.depth--;
    return left;
  }

  private and(): PathCondition {
    let left = this.single();
    while (this.take("&&")) left = { kind: "and", left, right: this.single() };
    return left;
  }

  private single(): PathCondition {
    if (this.take("!")) {
      this.expect("(");
      return { kind: "not", operand: this.rest() };
    }
    if (this.take("(")) return this.rest();
    const start = this.at;
    if (this.word() === "exists" && this.take("(")) {
      const path = this.pathFromStart();
      this.expect(")");
      return { kind: "exists", path };
    }
    this.at = start;
    return this.comparison();
  }

  private rest(): PathCondition {
    const condition = this.or();
    this.expect(")");
    return condition;
  }

  private comparison(): PathCondition {
    const left = this.operand();
    const start = this.at;
    if (this.word() === "starts" && this.word() === "with") {
      const prefix = this.string();
      if (prefix === undefined) throw this.failure("starts with needs a text in quotes");
      return { kind: "starts-with", operand: left, prefix };
    }
    this.at = start;
    this.skipBlanks();
    const operator = this.match(OPERATOR);
    if (operator === undefined) return { kind: "value", operand: left };
    return { kind: "compare", operator: operatorOf(operator), left, right: this.operand() };
  }

  private operand(): PathOperand {
    this.skipBlanks();
    const text = this.string();
    if (text !== undefined) return { kind: "constant", json: JSON.stringify(text) };
    const number = this.match(NUMBER);
    if (number !== undefined) return { kind: "constant", json: number };
    const start = this.at;
    const word = this.word();
    if (word !== undefined && CONSTANTS.includes(word)) return { kind: "constant", json: word };
    this.at = start;
    return this.pathFromStart();
  }

  private pathFromStart(): JsonPath {
    this.skipBlanks();
    const steps: PathStep[] = [];
    const from = this.take("@") ? "current" : "root";
    if (from === "root" && !this.take("$") && !".:[?".includes(this.text[this.at] ?? ".")) steps.push({ kind: "key", name: this.name() });
    for (let step = this.step(); step !== undefined; step = this.step()) steps.push(step);
    return { kind: "path", from, steps };
  }

  private step(): PathStep | undefined {
    switch (this.text[this.at]) {
      case ".":
      case ":":
        this.at++;
        return this.take("*") ? { kind: "any-key" } : { kind: "key", name: this.name() };
      case "[":
        this.at++;
        return this.brackets();
      case "?": {
        this.at++;
        this.expect("(");
        return { kind: "filter", condition: this.rest() };
      }
      default:
        return undefined;
    }
  }

  private brackets(): PathStep {
    this.skipBlanks();
    if (this.take("*")) {
      this.expect("]");
      return { kind: "any-element" };
    }
    const name = this.string();
    if (name !== undefined) {
      this.expect("]");
      return { kind: "key", name };
    }
    const ranges: { from: PathIndex; to: PathIndex }[] = [];
    do {
      const from = this.index();
      const start = this.at;
      const to = this.word() === "to" ? this.index() : undefined;
      if (to === undefined) this.at = start;
      ranges.push({ from, to: to ?? from });
    } while (this.take(","));
    this.expect("]");
    return { kind: "elements", ranges };
  }

  private index(): PathIndex {
    this.skipBlanks();
    const start = this.at;
    if (this.word() === "last") return { fromLast: true, offset: this.take("-") ? -this.integer() : 0 };
    this.at = start;
    // A negative index counts from the end: -1 is the last element.
    return this.take("-") ? { fromLast: true, offset: 1 - this.integer() } : { fromLast: false, offset: this.integer() };
  }

  private integer(): number {
    this.skipBlanks();
    const digits = this.match(/\d{1,9}/y);
    if (digits === undefined) throw this.failure("expected an index of at most 9 digits");
    return Number(digits);
  }

  private name(): string {
    const name = this.string() ?? this.match(NAME);
    if (name === undefined) throw this.failure(`expected a name at character ${this.at + 1}`);
    return name;
  }

  private string(): string | undefined {
    this.skipBlanks();
    const quoted = this.match(STRING);
    if (quoted === undefined) return undefined;
    const inner = quoted.slice(1, -1);
    try {
      return JSON.parse(quoted.startsWith('"') ? quoted : `"${inner.replaceAll("\\'", "'").replaceAll('"', '\\"')}"`) as string;
    } catch (cause) {
      if (cause instanceof SyntaxError) throw this.failure(`${quoted.slice(0, 40)} is no text: ${cause.message}`);
      throw cause;
    }
  }

  private word(): string | undefined {
    this.skipBlanks();
    return this.match(WORD);
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  private take(token: string): boolean {
    this.skipBlanks();
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  private expect(token: string): void {
    if (!this.take(token)) throw this.failure(`expected '${token}' at character ${this.at + 1}`);
  }

  private skipBlanks(): void {
    while (" \t\r\n".includes(this.text[this.at] ?? "x")) this.at++;
  }

  private failure(why: string): DbError {
    return executionError(`Illegal json path: '${this.text.slice(0, 80)}': ${why}`);
  }
}

function operatorOf(text: string): PathOperator {
  if (text === "=") return "==";
  return text === "<>" ? "!=" : (text as PathOperator); // the pattern lists no others
}
