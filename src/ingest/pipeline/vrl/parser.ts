/**
 * Parses VRL and compiles it to closures at once: the subset of Vector's language that log pipelines use. What is outside of it is a
 * compile error with line and column. Unlike Vector, a call that may fail needs no `!`: its failure then fails the row.
 *
 * Source: https://vector.dev/docs/reference/vrl/expressions/
 */
import { DbError } from "../../../base/error.ts";
import { VRL_DEPTH_MAX } from "../limits.ts";
import { plainText } from "../json-text.ts";
import { compileTimeFormat } from "../strftime.ts";
import { timeZoneOf } from "../time-zone.ts";
import { floatValue, intValue, isObject, type PipelineObject, type PipelineValue, setField } from "../value.ts";
import { compileCall, type Argument, type Closure } from "./call.ts";
import { compileError, type Token, tokensOf, unescaped } from "./lexer.ts";
import { type Context, type Eval, executeError, Kind, type Node, type Path, step } from "./node.ts";
import { arithmetic, condition, isEqual, isOrdered } from "./operators.ts";
import { assign, below, valueAt } from "./path.ts";

/** Binary operators from the loosest to the tightest. */
const LEVELS: readonly (readonly string[])[] = [["??", "||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/"]];
const KEYWORDS: ReadonlySet<string> = new Set(["if", "else", "true", "false", "null", "abort", "return"]);
/** What a failed assignment leaves, by the kind that it would have had. */
const ZERO_OF: readonly (readonly [bits: number, value: PipelineValue])[] = [
  [Kind.string, ""],
  [Kind.int, 0],
  [Kind.float, floatValue(0)],
  [Kind.boolean, false],
  [Kind.array, []],
  [Kind.object, {}],
];

/** Compiles a program. @throws DbError InvalidArguments */
export function parseProgram(source: string): Node {
  const parser = new Parser(source);
  return parser.program();
}

class Parser {
  private readonly source: string;
  private readonly tokens: readonly Token[];
  private readonly names: Set<string> = new Set();
  private at = 0;
  private depth = 0;

  constructor(source: string) {
    this.source = source;
    this.tokens = tokensOf(source);
  }

  program(): Node {
    const node = this.statements("end");
    if (this.token.kind !== "end") throw this.unexpected();
    return node;
  }

  private get token(): Token {
    return this.tokens[Math.min(this.at, this.tokens.length - 1)] as Token; // there is an end
  }

  private peek(offset: number): Token {
    return this.tokens[Math.min(this.at + offset, this.tokens.length - 1)] as Token; // there is an end
  }

  private error(why: string, token: Token = this.token): Error {
    return compileError(this.source, token.start, why);
  }

  private unexpected(): Error {
    const { kind, text } = this.token;
    return this.error(
      kind === "end" ? "unexpected end of the program" : kind === "newline" ? "unexpected end of line" : `unexpected '${text}'`,
    );
  }

  private is(text: string): boolean {
    return this.token.kind === "punct" && this.token.text === text;
  }

  private take(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }

  private expect(text: string): void {
    if (!this.take(text)) throw this.error(`expected '${text}'`);
  }

  private takeWord(word: string): boolean {
    if (this.token.kind !== "name" || this.token.text !== word) return false;
    this.at++;
    return true;
  }

  private isLineEnd(): boolean {
    return this.token.kind === "newline";
  }

  private newlines(): void {
    while (this.isLineEnd()) this.at++;
  }

  private statements(end: "end" | "}"): Node {
    const nodes: Node[] = [];
    const isEnd = (): boolean => (end === "end" ? this.token.kind === "end" : this.is("}"));
    for (;;) {
      while (this.isLineEnd() || this.is(";")) this.at++;
      if (isEnd()) break;
      nodes.push(this.expression());
      if (!isEnd() && !this.isLineEnd() && !this.is(";")) throw this.unexpected();
    }
    const last = nodes.at(-1);
    if (last === undefined) return { eval: () => null, kinds: Kind.null };
    const evals = nodes.map((node) => node.eval);
    if (evals.length === 1) return { eval: last.eval, kinds: last.kinds };
    const run: Eval = (context) => {
      let value: PipelineValue = null;
      for (const evaluate of evals) value = evaluate(context);
      return value;
    };
    return { eval: run, kinds: last.kinds };
  }

  private expression(): Node {
    if (++this.depth > VRL_DEPTH_MAX) throw this.error(`nested deeper than ${VRL_DEPTH_MAX} levels`);
    const node = this.assignment();
    this.depth--;
    return node;
  }

  private assignment(): Node {
    const start = this.at;
    const target = this.target();
    if (target !== undefined) {
      if (this.take("=")) return this.assigned(target);
      if (this.take("|=")) return this.merged(target);
      if (this.is(",")) {
        this.at++;
        const failed = this.target();
        if (failed !== undefined && this.take("=")) return this.assignedOrFailed(target, failed);
      }
    }
    this.at = start;
    return this.binary(0);
  }

  /** A path or `_` at the begin of an assignment; undefined when there is none. */
  private target(): Path | undefined {
    if (this.token.kind === "name" && !KEYWORDS.has(this.token.text)) {
      const variable = this.token.text;
      if (this.peek(1).kind === "punct" && (this.peek(1).text === "(" || this.peek(1).text === "!")) return undefined;
      this.at++;
      return { variable, steps: this.pathSteps(false) };
    }
    return this.is(".") ? { variable: undefined, steps: this.pathSteps(true) } : undefined;
  }

  private value(): Node {
    this.newlines();
    return this.expression();
  }

  private assigned(target: Path): Node {
    const node = this.value();
    if (target.variable !== undefined) this.names.add(target.variable);
    const set: Eval = (context) => {
      const value = node.eval(context);
      assign(context, target, value);
      return value;
    };
    return { eval: set, kinds: node.kinds };
  }

  private merged(target: Path): Node {
    const node = this.value();
    const merge: Eval = (context) => {
      const [left, right] = [valueAt(context, target), node.eval(context)];
      if (!isObject(left) || !isObject(right)) throw executeError("only objects can be merged with |=");
      const value = { ...left, ...right };
      assign(context, target, value);
      return value;
    };
    return { eval: merge, kinds: Kind.object };
  }

  private assignedOrFailed(target: Path, failed: Path): Node {
    const node = this.value();
    for (const { variable } of [target, failed]) if (variable !== undefined) this.names.add(variable);
    const zero = ZERO_OF.find(([bits]) => node.kinds === bits)?.[1] ?? null;
    const set: Eval = (context) => {
      let value: PipelineValue;
      let why: PipelineValue = null;
      try {
        value = node.eval(context);
      } catch (error) {
        why = caught(context, error);
        value = zero;
      }
      assign(context, target, value);
      assign(context, failed, why);
      return value;
    };
    return { eval: set, kinds: node.kinds | Kind.null };
  }

  private binary(level: number): Node {
    const operators = LEVELS[level];
    if (operators === undefined) return this.unary();
    let left = this.binary(level + 1);
    for (;;) {
      const at = this.at;
      this.newlines(); // an operator may begin the next line
      const operator = operators.find((candidate) => this.is(candidate));
      if (operator === undefined || (this.at > at && operator === "-")) {
        this.at = at;
        return left;
      }
      this.at++;
      this.newlines();
      left = combined(operator, left, this.binary(level + 1));
    }
  }

  private unary(): Node {
    if (++this.depth > VRL_DEPTH_MAX) throw this.error(`nested deeper than ${VRL_DEPTH_MAX} levels`);
    const node = this.signed();
    this.depth--;
    return node;
  }

  private signed(): Node {
    if (this.take("!")) {
      const node = this.unary();
      return { eval: (context) => !condition(node.eval(context)), kinds: Kind.boolean };
    }
    if (this.take("-")) {
      const node = this.unary();
      return { eval: (context) => arithmetic("-", 0, node.eval(context)), kinds: node.kinds };
    }
    return this.postfix(this.primary());
  }

  /** `.a[0]` behind a value that is no path itself. */
  private postfix(node: Node): Node {
    if (node.path !== undefined || !(this.isAdjacent(".") || this.isAdjacent("["))) return node;
    const steps = this.pathSteps(false);
    return { eval: (context) => below(node.eval(context), steps), kinds: Kind.any };
  }

  private isAdjacent(text: string): boolean {
    return this.is(text) && this.at > 0 && this.tokens[this.at - 1]?.end === this.token.start;
  }

  private primary(): Node {
    const { kind, text } = this.token;
    switch (kind) {
      case "int":
        this.at++;
        return constant(intValue(BigInt.asIntN(64, BigInt(text.replaceAll("_", "")))), Kind.int);
      case "float":
        this.at++;
        return constant(floatValue(Number(text.replaceAll("_", ""))), Kind.float);
      case "raw":
        this.at++;
        return constant(text.replaceAll("\\'", "'"), Kind.string);
      case "string":
        this.at++;
        return this.template(text);
      case "time":
        return this.timeLiteral();
      case "regex":
        throw this.error("a regular expression can only be an argument of a function");
      case "name":
        return this.named(text);
      case "punct":
        return this.punctuated(text);
      default:
        throw this.unexpected();
    }
  }

  private punctuated(text: string): Node {
    if (text === ".") return pathNode({ variable: undefined, steps: this.pathSteps(true) });
    if (text === "%") throw this.error("metadata (%) is not supported");
    if (text === "[") return this.array();
    if (text === "{") return this.isObjectLiteral() ? this.object() : this.block();
    if (text !== "(") throw this.unexpected();
    this.at++;
    this.newlines();
    const node = this.expression();
    this.newlines();
    this.expect(")");
    return { eval: node.eval, kinds: node.kinds };
  }

  private named(text: string): Node {
    const next = this.peek(1);
    const isCall = !KEYWORDS.has(text) && next.kind === "punct" && (next.text === "(" || (next.text === "!" && this.peek(2).text === "("));
    if (isCall) return this.call(text);
    this.at++;
    if (text === "true" || text === "false") return constant(text === "true", Kind.boolean);
    if (text === "null") return constant(null, Kind.null);
    if (text === "if") return this.conditional();
    if (text === "abort") return this.abort();
    if (text === "return") throw this.error("return is not supported", this.peek(-1));
    if (!this.names.has(text)) throw this.error(`undefined variable '${text}'`, this.peek(-1));
    return pathNode({ variable: text, steps: this.pathSteps(false) });
  }

  private abort(): Node {
    const isBare = this.token.kind === "newline" || this.token.kind === "end" || this.is("}") || this.is(";");
    const message = isBare ? constant("aborted", Kind.string) : this.expression();
    const stop: Eval = (context) => {
      const why = plainText(message.eval(context));
      context.isAborted = true;
      throw executeError(why);
    };
    return { eval: stop, kinds: 0 };
  }

  /** `{{ name }}` in strings is the value of a variable. */
  private template(text: string): Node {
    const parts = text.split(/\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/);
    const [only] = parts;
    if (parts.length === 1) return constant(unescaped(only ?? ""), Kind.string);
    const names = parts.filter((_, i) => i % 2 === 1);
    for (const name of names) if (!this.names.has(name)) throw this.error(`undefined variable '${name}'`, this.peek(-1));
    const texts = parts.filter((_, i) => i % 2 === 0).map(unescaped);
    const fill: Eval = ({ variables }) =>
      texts.map((part, i) => part + (i < names.length ? plainText(variables.get(names[i] ?? "") ?? null) : "")).join("");
    return { eval: fill, kinds: Kind.string };
  }

  private timeLiteral(): Node {
    const time = compileTimeFormat("%+")?.parse(this.token.text, timeZoneOf("UTC"));
    if (time === undefined) throw this.error(`'${this.token.text}' is no timestamp`);
    this.at++;
    return constant(time, Kind.time);
  }

  /** Steps of a path. `isRoot`: the token is the dot of the row. */
  private pathSteps(isRoot: boolean): readonly (string | number)[] {
    const steps: (string | number)[] = [];
    if (isRoot) {
      this.at++;
      const step = this.adjacentName();
      if (step !== undefined) steps.push(step);
    }
    for (;;) {
      if (this.isAdjacent("[")) {
        this.at++;
        const sign = this.take("-") ? -1 : 1;
        if (this.token.kind !== "int") throw this.error("an index must be a whole number");
        steps.push(sign * Number(this.token.text));
        this.at++;
        this.expect("]");
      } else if (this.isAdjacent(".")) {
        this.at++;
        const step = this.adjacentName();
        if (step === undefined) throw this.error("expected the name of a field");
        steps.push(step);
      } else return steps;
    }
  }

  private adjacentName(): string | undefined {
    const { kind, text, start } = this.token;
    if (this.tokens[this.at - 1]?.end !== start) return undefined;
    if (kind === "punct" && text === "(") throw this.error("a choice of fields in a path is not supported");
    if (kind !== "name" && kind !== "string" && kind !== "int") return undefined;
    this.at++;
    return kind === "string" ? unescaped(text) : text;
  }

  private conditional(): Node {
    this.newlines();
    const test = this.is("{") ? this.block() : this.expression();
    this.newlines();
    const then = this.block();
    const at = this.at;
    this.newlines();
    if (!this.takeWord("else")) {
      this.at = at;
      return { eval: (context) => (condition(test.eval(context)) ? then.eval(context) : null), kinds: then.kinds | Kind.null };
    }
    const other = this.takeWord("if") ? this.conditional() : this.block();
    return {
      eval: (context) => (condition(test.eval(context)) ? then.eval(context) : other.eval(context)),
      kinds: then.kinds | other.kinds,
    };
  }

  private block(): Node {
    if (++this.depth > VRL_DEPTH_MAX) throw this.error(`nested deeper than ${VRL_DEPTH_MAX} levels`);
    this.expect("{");
    const node = this.statements("}");
    this.expect("}");
    this.depth--;
    return node;
  }

  private isObjectLiteral(): boolean {
    let offset = 1;
    while (this.peek(offset).kind === "newline") offset++;
    const first = this.peek(offset);
    if (first.kind === "punct" && first.text === "}") return true;
    const colon = this.peek(offset + 1);
    return (first.kind === "string" || first.kind === "name") && colon.kind === "punct" && colon.text === ":";
  }

  private array(): Node {
    this.expect("[");
    const items: Eval[] = [];
    for (this.newlines(); !this.is("]"); this.newlines()) {
      items.push(this.expression().eval);
      this.newlines();
      if (!this.take(",")) break;
    }
    this.expect("]");
    return { eval: (context) => items.map((item) => item(context)), kinds: Kind.array };
  }

  private object(): Node {
    this.expect("{");
    const entries: (readonly [string, Eval])[] = [];
    for (this.newlines(); !this.is("}"); this.newlines()) {
      const { kind, text } = this.token;
      if (kind !== "string" && kind !== "name") throw this.error("expected a key");
      this.at++;
      this.expect(":");
      this.newlines();
      entries.push([kind === "string" ? unescaped(text) : text, this.expression().eval]);
      this.newlines();
      if (!this.take(",")) break;
    }
    this.expect("}");
    const make: Eval = (context) => {
      const object: PipelineObject = {};
      for (const [key, evaluate] of entries) setField(object, key, evaluate(context));
      return object;
    };
    return { eval: make, kinds: Kind.object };
  }

  private call(name: string): Node {
    const start = this.token;
    this.at++;
    this.take("!");
    this.expect("(");
    const args: Argument[] = [];
    for (this.newlines(); !this.is(")"); this.newlines()) {
      args.push(this.argument());
      this.newlines();
      if (!this.take(",")) break;
    }
    this.expect(")");
    const closure = this.take("->") ? this.closure() : undefined;
    return compileCall(name, args, closure, (why) => this.error(why, start));
  }

  private argument(): Argument {
    let name: string | undefined;
    const next = this.peek(1);
    if (this.token.kind === "name" && next.kind === "punct" && next.text === ":") {
      name = this.token.text;
      this.at += 2;
      this.newlines();
    }
    if (this.token.kind !== "regex") return { name, node: this.expression() };
    const pattern = this.token.text.replaceAll("\\'", "'");
    this.at++;
    return { name, regex: pattern };
  }

  private closure(): Closure {
    this.newlines();
    const names: string[] = [];
    if (!this.take("||")) {
      this.expect("|");
      while (this.token.kind === "name") {
        names.push(this.token.text);
        this.at++;
        if (!this.take(",")) break;
      }
      this.expect("|");
    }
    const outer = new Set(this.names);
    for (const name of names) this.names.add(name);
    this.newlines();
    const body = this.block();
    for (const name of this.names) if (!outer.has(name)) this.names.delete(name);
    return { names, body };
  }
}

function constant(value: PipelineValue, kinds: number): Node {
  return { eval: () => value, kinds };
}

function pathNode(path: Path): Node {
  const isRow = path.variable === undefined && path.steps.length === 0;
  return { eval: (context) => valueAt(context, path) ?? null, kinds: isRow ? Kind.object | Kind.array : Kind.any, path };
}

function caught(context: Context, error: unknown): string {
  if (context.isAborted || !(error instanceof DbError)) throw error;
  step(context);
  return error.message.replace(/^Failed to execute VRL, /, "");
}

function combined(operator: string, left: Node, right: Node): Node {
  const [a, b] = [left.eval, right.eval];
  switch (operator) {
    case "??":
      return {
        eval: (context) => {
          try {
            return a(context);
          } catch (error) {
            caught(context, error);
            return b(context);
          }
        },
        kinds: left.kinds | right.kinds,
      };
    case "||":
      return {
        eval: (context) => {
          const value = a(context);
          return value === null || value === undefined || value === false ? b(context) : value;
        },
        kinds: left.kinds | right.kinds,
      };
    case "&&":
      return {
        eval: (context) => {
          const value = a(context);
          return value === null || value === undefined ? false : condition(value) && condition(b(context));
        },
        kinds: Kind.boolean,
      };
    case "==":
      return { eval: (context) => isEqual(a(context), b(context)), kinds: Kind.boolean };
    case "!=":
      return { eval: (context) => !isEqual(a(context), b(context)), kinds: Kind.boolean };
    case "<":
    case "<=":
    case ">":
    case ">=":
      return { eval: (context) => isOrdered(operator, a(context), b(context)), kinds: Kind.boolean };
    default:
      return { eval: (context) => arithmetic(operator, a(context), b(context)), kinds: resultKinds(left.kinds | right.kinds) };
  }
}

function resultKinds(kinds: number): number {
  return kinds & (Kind.int | Kind.float | Kind.string);
}
