/**
 * Parses VRL and compiles it to closures at once: the subset of Vector's language that log pipelines use. What is outside of it is a
 * compile error with line and column. Unlike Vector, a call that may fail needs no `!`: its failure then fails the row.
 *
 * Source: https://vector.dev/docs/reference/vrl/expressions/
 */
import { wholeNumberOf } from "../../../base/text/whole-number.ts";
import { VRL_DEPTH_MAX } from "../limits.ts";
import { compileTimeFormat } from "../strftime.ts";
import { timeZoneOf } from "../time-zone.ts";
import { floatValue, intValue } from "../../common/value.ts";
import { type Argument, type Closure, compileCall } from "./call.ts";
import {
  abort,
  arrayOf,
  assigned,
  assignedOrFailed,
  combined,
  conditional,
  constant,
  memberOf,
  merged,
  minus,
  negated,
  objectOf,
  pathNode,
  sequence,
  template,
} from "./constructs.ts";
import { unescaped } from "./lexer.ts";
import { type Eval, Kind, type Node, type Path } from "./node.ts";
import { TokenReader } from "./token-reader.ts";

/** Binary operators from the loosest to the tightest. */
const LEVELS: readonly (readonly string[])[] = [["??", "||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/"]];
const KEYWORDS: ReadonlySet<string> = new Set(["if", "else", "true", "false", "null", "abort", "return"]);

/** Longest whole number in a program. Reason: reading one of a million digits takes seconds. */
const INTEGER_CHARACTERS_MAX = 100;

/** Compiles a program. @throws DbError InvalidArguments */
export function parseProgram(source: string): Node {
  return new Parser(source).program();
}

/** The grammar, a method a rule. Invariant: `names` are the variables that are set where the next token stands. */
class Parser {
  private readonly tokens: TokenReader;
  private readonly names: Set<string> = new Set();
  private depth = 0;

  constructor(source: string) {
    this.tokens = new TokenReader(source);
  }

  program(): Node {
    const node = this.statements("end");
    if (this.tokens.token.kind !== "end") throw this.tokens.unexpected();
    return node;
  }

  private statements(end: "end" | "}"): Node {
    const { tokens } = this;
    const nodes: Node[] = [];
    const isEnd = (): boolean => (end === "end" ? tokens.token.kind === "end" : tokens.is("}"));
    for (;;) {
      while (tokens.isLineEnd || tokens.is(";")) tokens.at++;
      if (isEnd()) return sequence(nodes);
      nodes.push(this.expression());
      if (!isEnd() && !tokens.isLineEnd && !tokens.is(";")) throw tokens.unexpected();
    }
  }

  private nested(rule: () => Node): Node {
    if (++this.depth > VRL_DEPTH_MAX) throw this.tokens.error(`nested deeper than ${VRL_DEPTH_MAX} levels`);
    const node = rule();
    this.depth--;
    return node;
  }

  private expression(): Node {
    return this.nested(() => this.assignment());
  }

  private assignment(): Node {
    const { tokens } = this;
    const start = tokens.at;
    const target = this.target();
    if (target !== undefined) {
      if (tokens.take("=")) return this.assigned(target);
      if (tokens.take("|=")) return merged(target, this.value());
      if (tokens.take(",")) {
        const failed = this.target();
        if (failed !== undefined && tokens.take("=")) return this.assignedOrFailed(target, failed);
      }
    }
    tokens.at = start;
    return this.binary(0);
  }

  /** A path or `_` at the begin of an assignment; undefined when there is none. */
  private target(): Path | undefined {
    const { tokens } = this;
    const { kind, text } = tokens.token;
    if (kind === "name" && !KEYWORDS.has(text)) {
      if (tokens.isAt(1, "(") || tokens.isAt(1, "!")) return undefined;
      tokens.at++;
      return { variable: text, steps: this.pathSteps(false) };
    }
    return tokens.is(".") ? { variable: undefined, steps: this.pathSteps(true) } : undefined;
  }

  private value(): Node {
    this.tokens.skipLineEnds();
    return this.expression();
  }

  private assigned(target: Path): Node {
    const node = this.value();
    if (target.variable !== undefined) this.names.add(target.variable);
    return assigned(target, node);
  }

  private assignedOrFailed(target: Path, failed: Path): Node {
    const node = this.value();
    for (const { variable } of [target, failed]) if (variable !== undefined) this.names.add(variable);
    return assignedOrFailed(target, failed, node);
  }

  private binary(level: number): Node {
    const { tokens } = this;
    const operators = LEVELS[level];
    if (operators === undefined) return this.unary();
    let left = this.binary(level + 1);
    for (;;) {
      const { at } = tokens;
      tokens.skipLineEnds(); // an operator may begin the next line
      const operator = operators.find((candidate) => tokens.is(candidate));
      if (operator === undefined || (tokens.at > at && operator === "-")) {
        tokens.at = at;
        return left;
      }
      tokens.at++;
      tokens.skipLineEnds();
      left = combined(operator, left, this.binary(level + 1));
    }
  }

  private unary(): Node {
    return this.nested(() => {
      if (this.tokens.take("!")) return negated(this.unary());
      if (this.tokens.take("-")) return minus(this.unary());
      return this.postfix(this.primary());
    });
  }

  /** `.a[0]` behind a value that is no path itself. */
  private postfix(node: Node): Node {
    if (node.path !== undefined || !(this.tokens.isAdjacent(".") || this.tokens.isAdjacent("["))) return node;
    return memberOf(node, this.pathSteps(false));
  }

  private primary(): Node {
    const { tokens } = this;
    const { kind, text } = tokens.token;
    switch (kind) {
      case "int":
        if (text.length > INTEGER_CHARACTERS_MAX) throw tokens.error("a number has too many digits");
        tokens.at++;
        return constant(intValue(BigInt.asIntN(64, BigInt(text.replaceAll("_", "")))), Kind.int);
      case "float":
        tokens.at++;
        return constant(floatValue(Number(text.replaceAll("_", ""))), Kind.float);
      case "raw":
        tokens.at++;
        return constant(text.replaceAll("\\'", "'"), Kind.string);
      case "string":
        tokens.at++;
        return this.template(text);
      case "time":
        return this.timeLiteral();
      case "regex":
        throw tokens.error("a regular expression can only be an argument of a function");
      case "name":
        return this.named(text);
      case "punct":
        return this.punctuated(text);
      default:
        throw tokens.unexpected();
    }
  }

  private punctuated(text: string): Node {
    const { tokens } = this;
    if (text === ".") return pathNode({ variable: undefined, steps: this.pathSteps(true) });
    if (text === "%") throw tokens.error("metadata (%) is not supported");
    if (text === "[") return this.array();
    if (text === "{") return this.isObjectLiteral() ? this.object() : this.block();
    if (text !== "(") throw tokens.unexpected();
    tokens.at++;
    const node = this.value();
    tokens.skipLineEnds();
    tokens.expect(")");
    return { eval: node.eval, kinds: node.kinds };
  }

  private named(text: string): Node {
    const { tokens } = this;
    const isCall = !KEYWORDS.has(text) && (tokens.isAt(1, "(") || (tokens.isAt(1, "!") && tokens.isAt(2, "(")));
    if (isCall) return this.call(text);
    tokens.at++;
    if (text === "true" || text === "false") return constant(text === "true", Kind.boolean);
    if (text === "null") return constant(null, Kind.null);
    if (text === "if") return this.conditional();
    if (text === "abort") return this.abort();
    if (text === "return") throw tokens.error("return is not supported", tokens.peek(-1));
    if (!this.names.has(text)) throw tokens.error(`undefined variable '${text}'`, tokens.peek(-1));
    return pathNode({ variable: text, steps: this.pathSteps(false) });
  }

  private abort(): Node {
    const { tokens } = this;
    const isBare = tokens.isLineEnd || tokens.token.kind === "end" || tokens.is("}") || tokens.is(";");
    return abort(isBare ? constant("aborted", Kind.string) : this.expression());
  }

  /** `{{ name }}` in strings is the value of a variable. */
  private template(text: string): Node {
    const { tokens } = this;
    const parts = text.split(/\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/);
    const [only] = parts;
    if (parts.length === 1) return constant(unescaped(only ?? ""), Kind.string);
    const names = parts.filter((_, i) => i % 2 === 1);
    for (const name of names) if (!this.names.has(name)) throw tokens.error(`undefined variable '${name}'`, tokens.peek(-1));
    return template(parts.filter((_, i) => i % 2 === 0).map(unescaped), names);
  }

  private timeLiteral(): Node {
    const { text } = this.tokens.token;
    const time = compileTimeFormat("%+")?.parse(text, timeZoneOf("UTC"));
    if (time === undefined) throw this.tokens.error(`'${text}' is no timestamp`);
    this.tokens.at++;
    return constant(time, Kind.time);
  }

  /** Steps of a path. `isRoot`: the token is the dot of the row. */
  private pathSteps(isRoot: boolean): readonly (string | number)[] {
    const { tokens } = this;
    const steps: (string | number)[] = [];
    if (isRoot) {
      tokens.at++;
      const step = this.adjacentName();
      if (step !== undefined) steps.push(step);
    }
    for (;;) {
      if (tokens.isAdjacent("[")) {
        tokens.at++;
        const sign = tokens.take("-") ? -1 : 1;
        const index = tokens.token.kind === "int" ? wholeNumberOf(tokens.token.text.replaceAll("_", "")) : undefined;
        if (index === undefined) throw tokens.error("an index must be a whole number");
        steps.push(sign * index);
        tokens.at++;
        tokens.expect("]");
      } else if (tokens.isAdjacent(".")) {
        tokens.at++;
        const step = this.adjacentName();
        if (step === undefined) throw tokens.error("expected the name of a field");
        steps.push(step);
      } else return steps;
    }
  }

  private adjacentName(): string | undefined {
    const { tokens } = this;
    const { kind, text } = tokens.token;
    if (!tokens.followsAtOnce) return undefined;
    if (kind === "punct" && text === "(") throw tokens.error("a choice of fields in a path is not supported");
    if (kind !== "name" && kind !== "string" && kind !== "int") return undefined;
    tokens.at++;
    return kind === "string" ? unescaped(text) : text;
  }

  private conditional(): Node {
    const { tokens } = this;
    tokens.skipLineEnds();
    const test = tokens.is("{") ? this.block() : this.expression();
    tokens.skipLineEnds();
    const then = this.block();
    const { at } = tokens;
    tokens.skipLineEnds();
    if (!tokens.takeWord("else")) {
      tokens.at = at;
      return conditional(test, then, undefined);
    }
    return conditional(test, then, tokens.takeWord("if") ? this.conditional() : this.block());
  }

  private block(): Node {
    return this.nested(() => {
      this.tokens.expect("{");
      const node = this.statements("}");
      this.tokens.expect("}");
      return node;
    });
  }

  private isObjectLiteral(): boolean {
    const { tokens } = this;
    let offset = 1;
    while (tokens.peek(offset).kind === "newline") offset++;
    if (tokens.isAt(offset, "}")) return true;
    const { kind } = tokens.peek(offset);
    return (kind === "string" || kind === "name") && tokens.isAt(offset + 1, ":");
  }

  private array(): Node {
    const { tokens } = this;
    const items: Eval[] = [];
    tokens.expect("[");
    for (tokens.skipLineEnds(); !tokens.is("]"); tokens.skipLineEnds()) {
      items.push(this.expression().eval);
      tokens.skipLineEnds();
      if (!tokens.take(",")) break;
    }
    tokens.expect("]");
    return arrayOf(items);
  }

  private object(): Node {
    const { tokens } = this;
    const entries: (readonly [string, Eval])[] = [];
    tokens.expect("{");
    for (tokens.skipLineEnds(); !tokens.is("}"); tokens.skipLineEnds()) {
      const { kind, text } = tokens.token;
      if (kind !== "string" && kind !== "name") throw tokens.error("expected a key");
      tokens.at++;
      tokens.expect(":");
      entries.push([kind === "string" ? unescaped(text) : text, this.value().eval]);
      tokens.skipLineEnds();
      if (!tokens.take(",")) break;
    }
    tokens.expect("}");
    return objectOf(entries);
  }

  private call(name: string): Node {
    const { tokens } = this;
    const start = tokens.token;
    tokens.at++;
    tokens.take("!");
    tokens.expect("(");
    const args: Argument[] = [];
    for (tokens.skipLineEnds(); !tokens.is(")"); tokens.skipLineEnds()) {
      args.push(this.argument());
      tokens.skipLineEnds();
      if (!tokens.take(",")) break;
    }
    tokens.expect(")");
    const closure = tokens.take("->") ? this.closure() : undefined;
    return compileCall(name, args, closure, (why) => tokens.error(why, start));
  }

  private argument(): Argument {
    const { tokens } = this;
    let name: string | undefined;
    if (tokens.token.kind === "name" && tokens.isAt(1, ":")) {
      name = tokens.token.text;
      tokens.at += 2;
      tokens.skipLineEnds();
    }
    if (tokens.token.kind !== "regex") return { name, node: this.expression() };
    const pattern = tokens.token.text.replaceAll("\\'", "'");
    tokens.at++;
    return { name, regex: pattern };
  }

  private closure(): Closure {
    const { tokens } = this;
    tokens.skipLineEnds();
    const names: string[] = [];
    if (!tokens.take("||")) {
      tokens.expect("|");
      while (tokens.token.kind === "name") {
        names.push(tokens.token.text);
        tokens.at++;
        if (!tokens.take(",")) break;
      }
      tokens.expect("|");
    }
    const outer = new Set(this.names);
    for (const name of names) this.names.add(name);
    tokens.skipLineEnds();
    const body = this.block();
    for (const name of this.names) if (!outer.has(name)) this.names.delete(name);
    return { names, body };
  }
}
