/**
 * JSONPath (RFC 9535) over pipeline values: names, indexes, slices, wildcards, unions, descendants, and filters with comparisons, `&&`,
 * `||`, `!` and parentheses. Functions are refused when the path is compiled. A dot before a bracket is allowed.
 */
import { failure } from "../failure.ts";
import { JSON_PATH_VISITS_MAX, VALUE_DEPTH_MAX } from "../limits.ts";
import { fieldOf, isObject, PipelineTime, type PipelineValue, WholeFloat } from "../../common/value.ts";

/** What a path finds in a value, in document order. @throws DbError InvalidArguments when it has to look at too much */
export type JsonPath = (root: PipelineValue) => readonly PipelineValue[];

interface Visit {
  readonly root: PipelineValue;
  left: number;
}
/** Adds what a value's parts of interest are. */
type Selector = (value: PipelineValue, visit: Visit, out: PipelineValue[]) => void;
type Operand = (value: PipelineValue, visit: Visit) => PipelineValue;
type Test = (value: PipelineValue, visit: Visit) => boolean;

/** Compiles a path. @throws DbError InvalidArguments */
export function compileJsonPath(text: string): JsonPath {
  const parser = new Parser(text);
  const steps = parser.wholePath();
  return (root) => found(steps, root, { root, left: JSON_PATH_VISITS_MAX });
}

function found(steps: readonly Selector[], start: PipelineValue, visit: Visit): readonly PipelineValue[] {
  let values: PipelineValue[] = [start];
  for (const step of steps) {
    const next: PipelineValue[] = [];
    for (const value of values) step(value, visit, next);
    values = next;
  }
  return values;
}

function spend(visit: Visit): void {
  if (--visit.left < 0) throw failure(`Processor json_path: the path looks at more than ${JSON_PATH_VISITS_MAX} values`);
}

function childrenOf(value: PipelineValue): readonly PipelineValue[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

const everyChild: Selector = (value, visit, out) => {
  for (const child of childrenOf(value)) {
    spend(visit);
    out.push(child);
  }
};

function byName(name: string): Selector {
  return (value, visit, out) => {
    spend(visit);
    const child = isObject(value) ? fieldOf(value, name) : undefined;
    if (child !== undefined) out.push(child);
  };
}

function byIndex(index: number): Selector {
  return (value, visit, out) => {
    spend(visit);
    const child: PipelineValue = Array.isArray(value) ? value.at(index) : undefined;
    if (child !== undefined) out.push(child);
  };
}

function bySlice(from: number | undefined, to: number | undefined, step: number): Selector {
  return (value, visit, out) => {
    if (!Array.isArray(value) || step === 0) return;
    const size = value.length;
    const place = (index: number): number => (index < 0 ? size + index : index);
    const start = place(from ?? (step > 0 ? 0 : size - 1));
    const end = to === undefined ? (step > 0 ? size : -1) : place(to);
    const first = step > 0 ? Math.max(start, 0) : Math.min(start, size - 1);
    const last = step > 0 ? Math.min(end, size) : Math.max(end, -1);
    for (let i = first; step > 0 ? i < last : i > last; i += step) {
      spend(visit);
      out.push(value[i]);
    }
  };
}

function byFilter(test: Test): Selector {
  return (value, visit, out) => {
    for (const child of childrenOf(value)) {
      spend(visit);
      if (test(child, visit)) out.push(child);
    }
  };
}

function byDescent(selector: Selector): Selector {
  const walk = (value: PipelineValue, visit: Visit, out: PipelineValue[], depth: number): void => {
    if (depth > VALUE_DEPTH_MAX) throw failure(`Processor json_path: the value is nested deeper than ${VALUE_DEPTH_MAX} levels`);
    spend(visit);
    selector(value, visit, out);
    for (const child of childrenOf(value)) walk(child, visit, out, depth + 1);
  };
  return (value, visit, out) => walk(value, visit, out, 0);
}

function plain(value: PipelineValue): unknown {
  if (value instanceof WholeFloat) return value.value;
  return value instanceof PipelineTime ? value.value : value;
}

function compare(operator: string, left: PipelineValue, right: PipelineValue): boolean {
  const [a, b] = [plain(left), plain(right)];
  const isNumeric = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";
  const bothNumeric = isNumeric(a) && isNumeric(b);
  const equal = bothNumeric && typeof a !== typeof b ? Number(a) === Number(b) : a === b;
  if (operator === "==") return equal;
  if (operator === "!=") return !equal;
  if (!bothNumeric && !(typeof a === "string" && typeof b === "string")) return false;
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  return operator === ">" ? a > b : a >= b;
}

class Parser {
  private readonly text: string;
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  wholePath(): readonly Selector[] {
    if (!this.take("$")) throw this.refused("must begin with $");
    const steps = this.steps();
    this.blanks();
    if (this.at < this.text.length) throw this.refused("is not understood");
    return steps;
  }

  private refused(why: string): Error {
    return failure(`Processor json_path: the path '${this.text}' ${why} at ${this.at + 1}`);
  }

  private blanks(): void {
    while (/\s/.test(this.text.charAt(this.at))) this.at++;
  }

  private take(token: string): boolean {
    this.blanks();
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const token = pattern.exec(this.text)?.[0];
    if (token !== undefined) this.at += token.length;
    return token;
  }

  private steps(): Selector[] {
    const steps: Selector[] = [];
    for (;;) {
      const next = this.text.slice(this.at, this.at + 2);
      if (next === "..") {
        this.at += 2;
        steps.push(byDescent(this.text[this.at] === "[" ? this.bracket() : this.dotted()));
      } else if (next === ".[" || next.startsWith("[")) {
        if (next.startsWith(".")) this.at++;
        steps.push(this.bracket());
      } else if (next.startsWith(".")) {
        this.at++;
        steps.push(this.dotted());
      } else return steps;
    }
  }

  private dotted(): Selector {
    if (this.take("*")) return everyChild;
    const name = this.match(/[^\s.[\]()=!<>&|,'"?@*]+/y);
    if (name === undefined) throw this.refused("lacks a name");
    return byName(name);
  }

  private bracket(): Selector {
    this.take("[");
    const parts: Selector[] = [this.selector()];
    while (this.take(",")) parts.push(this.selector());
    if (!this.take("]")) throw this.refused("lacks a ]");
    const only = parts[0];
    if (parts.length === 1 && only !== undefined) return only;
    return (value, visit, out) => {
      for (const part of parts) part(value, visit, out);
    };
  }

  private selector(): Selector {
    if (this.take("*")) return everyChild;
    if (this.take("?")) return byFilter(this.either());
    const name = this.quoted();
    if (name !== undefined) return byName(name);
    const from = this.integer();
    if (!this.take(":")) {
      if (from === undefined) throw this.refused("lacks a name, an index, * or a filter");
      return byIndex(from);
    }
    const to = this.integer();
    const step = this.take(":") ? this.integer() : undefined;
    return bySlice(from, to, step ?? 1);
  }

  private integer(): number | undefined {
    this.blanks();
    const digits = this.match(/-?\d{1,9}/y);
    return digits === undefined ? undefined : Number(digits);
  }

  private quoted(): string | undefined {
    this.blanks();
    const token = this.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/y);
    return token?.slice(1, -1).replaceAll(/\\(.)/g, (_, character: string) => ({ n: "\n", t: "\t", r: "\r" })[character] ?? character);
  }

  private either(): Test {
    let left = this.both();
    while (this.take("||")) {
      const [before, right] = [left, this.both()];
      left = (value, visit) => before(value, visit) || right(value, visit);
    }
    return left;
  }

  private both(): Test {
    let left = this.unary();
    while (this.take("&&")) {
      const [before, right] = [left, this.unary()];
      left = (value, visit) => before(value, visit) && right(value, visit);
    }
    return left;
  }

  private unary(): Test {
    if (++this.depth > VALUE_DEPTH_MAX) throw this.refused("is nested too deeply");
    const test = this.primary();
    this.depth--;
    return test;
  }

  private primary(): Test {
    if (this.take("!")) {
      const test = this.unary();
      return (value, visit) => !test(value, visit);
    }
    if (this.take("(")) {
      const test = this.either();
      if (!this.take(")")) throw this.refused("lacks a )");
      return test;
    }
    const [left, exists] = this.operand();
    this.blanks();
    const operator = this.match(/==|!=|<=|>=|<|>/y);
    if (operator === undefined) {
      if (exists === undefined) throw this.refused("lacks a comparison");
      return exists;
    }
    const [right] = this.operand();
    return (value, visit) => compare(operator, left(value, visit), right(value, visit));
  }

  /** A value to compare, and for a path whether it finds anything but null and false. */
  private operand(): readonly [Operand, Test | undefined] {
    const isRoot = this.take("$");
    if (isRoot || this.take("@")) {
      const steps = this.steps();
      const all = (value: PipelineValue, visit: Visit): readonly PipelineValue[] => found(steps, isRoot ? visit.root : value, visit);
      return [(value, visit) => all(value, visit)[0], (value, visit) => all(value, visit).some((item) => item !== null && item !== false)];
    }
    const text = this.quoted();
    if (text !== undefined) return [() => text, undefined];
    this.blanks();
    const number = this.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) return [() => Number(number), undefined];
    const word = this.match(/true|false|null/y);
    if (word === undefined) throw this.refused("lacks a value");
    const constant = word === "null" ? null : word === "true";
    return [() => constant, undefined];
  }
}
