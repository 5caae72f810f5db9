/**
 * The emitter: a typed expression as JavaScript text for a loop over typed arrays.
 *
 * Covered: numbers, Booleans, dates, times of day, comparisons of decimals of one scale, comparisons of a time with a constant, and
 * whatever depends on one column of codes alone (its value for each entry is computed once, by the interpreter).
 * Everything else makes `emitFilter` and `emitProjection` answer undefined, and the interpreter runs.
 *
 * A loop that meets what doubles cannot do exactly (an integer result beyond ±2^53, a division by zero, a cast out of range) returns -1:
 * the batch is then run by the interpreter, which gives the exact value or the error. So a loop never throws and never rounds.
 *
 *   V  vectors of the batch        P  constants        T  tables of lifted expressions        n  rows        i  row
 */
import type { DataType } from "../../column/data-type.ts";
import type { CodedVector, DictionaryVector, Vector } from "../../column/vector.ts";
import { boundsOf } from "../../value/integer-range.ts";
import type { Value } from "../function/value/value.ts";
import { columnsOf, isVolatile, partsOf, type TypedExpression } from "./expression.ts";
import { scaleOf } from "./interpreter.ts";
import { type WordsText, wordsCompared, wordsOf } from "./wide-compare.ts";

/** How one column of a batch is stored, as far as loops depend on it. */
export interface ColumnLayout {
  readonly kind: Vector["kind"];
  /** Name of the array class of a "number" vector. */
  readonly array: string;
  readonly nullable: boolean;
}

/** A constant of a loop: a value, or a time that becomes an offset from the base of a column's vector. */
export type LoopConstant =
  | { readonly kind: "value"; readonly value: number | ReadonlySet<number> }
  | { readonly kind: "time"; readonly value: bigint; readonly column: number };

/** An expression over one column of codes, to be computed once an entry. */
export interface Lifted {
  readonly column: number;
  readonly expression: TypedExpression;
}

/** Text of a loop body and what it needs. */
export interface LoopText {
  readonly body: string;
  readonly constants: readonly LoopConstant[];
  readonly lifted: readonly Lifted[];
}

/** The layout of a vector. */
export function layoutOf(vector: Vector): ColumnLayout {
  const array = vector.kind === "number" ? vector.values.constructor.name : "";
  return { kind: vector.kind, array, nullable: !isCodes(vector) && vector.validity !== undefined };
}

type CodesVector = DictionaryVector | CodedVector;

/** Whether a vector has text by code: then what depends on it alone is computed once an entry. */
export const isCodes = (vector: Vector): vector is CodesVector => isCodesKind(vector.kind);

const isCodesKind = (kind: Vector["kind"] | undefined): boolean => kind === "dictionary" || kind === "coded";

/** A loop that writes the rows where `predicate` is true to `S` and returns their number; parameters V, P, T, n, S. */
export function emitFilter(predicate: TypedExpression, layout: readonly ColumnLayout[]): LoopText | undefined {
  if (isTooLong(predicate)) return undefined;
  const emitter = new Emitter(layout);
  const condition = emitter.isTrue(predicate);
  if (condition === undefined) return undefined;
  return emitter.finish(`let k = 0;\nfor (let i = 0; i < n; i++) {\n${emitter.lines()}S[k] = i;\nif (${condition}) k++;\n}\nreturn k;`);
}

/** A loop that writes values to `O` and validity to `M`; returns 0, or 1 when a row is NULL; parameters V, P, T, n, O, M. */
export function emitProjection(expression: TypedExpression, layout: readonly ColumnLayout[]): LoopText | undefined {
  if (isTooLong(expression)) return undefined;
  const emitter = new Emitter(layout);
  if (expression.type.kind === "boolean") {
    const yes = emitter.isTrue(expression);
    const no = emitter.isFalse(expression);
    if (yes === undefined || no === undefined) return undefined;
    return emitter.finish(
      `let nulls = 0;
for (let i = 0; i < n; i++) {
${emitter.lines()}const y = ${yes};
O[i] = y ? 1 : 0;
if (y || ${no}) M[i] = 1; else { M[i] = 0; nulls = 1; }
}
return nulls;`,
    );
  }
  const number = emitter.number(expression);
  if (number === undefined) return undefined;
  const store = number.isNull === undefined ? "" : `if (${number.isNull}) { M[i] = 0; nulls = 1; } else M[i] = 1;\n`;
  return emitter.finish(
    `let nulls = 0;\nfor (let i = 0; i < n; i++) {\n${emitter.lines()}O[i] = ${number.text};\n${store}}\nreturn nulls;`,
  );
}

/** Most parts of an expression that becomes a loop. Reason: compiling 20,000 comparisons holds the thread for seconds. */
const PARTS_MAX = 1000;

const isTooLong = (expression: TypedExpression): boolean => partsOf(expression, PARTS_MAX) >= PARTS_MAX;

/** Text of a number and of "it is NULL". `isNaN`: it may be NaN. */
interface NumberText {
  readonly text: string;
  readonly isNull: string | undefined;
  readonly mayBeNaN: boolean;
}

const NUMERIC: ReadonlySet<DataType["kind"]> = new Set(["int", "float", "date", "time"]);
const SET_INLINE_MAX = 4;

class Emitter {
  private readonly layout: readonly ColumnLayout[];
  private readonly prelude = new Map<string, string>();
  private readonly statements: string[] = [];
  private readonly constants: LoopConstant[] = [];
  private readonly lifted: Lifted[] = [];
  private temporaries = 0;

  constructor(layout: readonly ColumnLayout[]) {
    this.layout = layout;
  }

  lines(): string {
    return this.statements.map((line) => `${line}\n`).join("");
  }

  finish(loop: string): LoopText {
    return { body: `${[...this.prelude.values()].join("\n")}\n${loop}`, constants: this.constants, lifted: this.lifted };
  }

  /** Text that is true exactly when the expression is true. */
  isTrue(expression: TypedExpression): string | undefined {
    return this.truth(expression, true);
  }

  /** Text that is true exactly when the expression is false (not NULL). */
  isFalse(expression: TypedExpression): string | undefined {
    return this.truth(expression, false);
  }

  private truth(expression: TypedExpression, wanted: boolean): string | undefined {
    const lifted = this.liftedBoolean(expression, wanted);
    if (lifted !== undefined) return lifted;
    switch (expression.kind) {
      case "literal":
        return expression.value === wanted ? "true" : "false";
      case "logic": {
        const parts = expression.operands.map((operand) => this.truth(operand, wanted));
        if (parts.some((part) => part === undefined)) return undefined;
        return `(${parts.join((expression.operator === "and") === wanted ? " && " : " || ")})`;
      }
      case "not":
        return this.truth(expression.operand, !wanted);
      case "is":
        return this.isTest(expression, wanted);
      case "compare":
        return this.comparison(expression, wanted);
      case "in-set":
        return this.inSet(expression, wanted);
      case "column":
        return this.booleanColumn(expression, wanted);
      default:
        return undefined;
    }
  }

  private booleanColumn(expression: Extract<TypedExpression, { kind: "column" }>, wanted: boolean): string | undefined {
    const value = expression.type.kind === "boolean" ? this.column(expression.index) : undefined;
    return value === undefined ? undefined : guarded(value.isNull, `${value.text} ${wanted ? "!==" : "==="} 0`);
  }

  private isTest(expression: Extract<TypedExpression, { kind: "is" }>, wanted: boolean): string | undefined {
    const positive = expression.negated !== wanted; // the test is never NULL
    const { operand, test } = expression;
    if (test === "true" || test === "false") {
      const text = this.truth(operand, test === "true");
      return text === undefined ? undefined : positive ? text : `!${text}`;
    }
    const isNull = this.nullness(operand);
    return isNull === undefined ? undefined : positive ? `(${isNull})` : `!(${isNull})`;
  }

  private nullness(operand: TypedExpression): string | undefined {
    if (operand.kind === "column") {
      const layout = this.layout[operand.index];
      if (isCodesKind(layout?.kind)) return `${this.array(operand.index, "codes")}[i] === 0`;
      return layout === undefined ? undefined : (this.nullOf(operand.index) ?? "false");
    }
    if (operand.type.kind === "boolean") {
      const [yes, no] = [this.truth(operand, true), this.truth(operand, false)];
      return yes === undefined || no === undefined ? undefined : `!(${yes} || ${no})`;
    }
    const number = this.number(operand);
    return number === undefined ? undefined : (number.isNull ?? "false");
  }

  private comparison(expression: Extract<TypedExpression, { kind: "compare" }>, wanted: boolean): string | undefined {
    const { left, right, operator } = expression;
    if (scaleOf(left.type) !== scaleOf(right.type)) return undefined;
    const words = this.wordsComparison(expression);
    if (words !== undefined) return guarded(words.isNull, wanted ? words.text : `!(${words.text})`);
    const time = this.timeComparison(expression);
    const sides = time ?? [this.number(left), this.number(right)];
    const [a, b] = sides;
    if (a === undefined || b === undefined) return undefined;
    const text = comparisonText(operator, a, b);
    return guarded(either(a.isNull, b.isNull), wanted ? text : `!(${text})`);
  }

  /** Integers of which one is beyond ±2^53: word against word. */
  private wordsComparison({
    left,
    right,
    operator,
  }: Extract<TypedExpression, { kind: "compare" }>): { readonly text: string; readonly isNull: string | undefined } | undefined {
    if (left.type.kind !== "int" || right.type.kind !== "int" || left.type.signed !== right.type.signed) return undefined;
    if (!this.isWide(left) && !this.isWide(right)) return undefined;
    const [a, b] = [this.words(left), this.words(right)];
    if (a === undefined || b === undefined) return undefined;
    return { text: wordsCompared(operator, a, b, left.type.signed), isNull: either(a.isNull, b.isNull) };
  }

  private isWide(expression: TypedExpression): boolean {
    return expression.kind === "column" && this.layout[expression.index]?.kind === "wide";
  }

  private words(expression: TypedExpression): WordsText | undefined {
    if (expression.kind === "literal") {
      const words = wordsOf(expression.type, expression.value);
      if (words === undefined) return undefined;
      const [high, low] = words.map((value) => this.constant({ kind: "value", value }));
      return { high: high ?? "", low: low ?? "", isNull: undefined };
    }
    if (expression.kind !== "column" || !this.isWide(expression)) return undefined;
    const { index } = expression;
    const name = `w${index}a`;
    const values = `V[${index}].values`;
    this.prelude.set(name, `const ${name} = new Int32Array(${values}.buffer, ${values}.byteOffset, ${values}.length * 2);`);
    return { high: `${name}[2 * i + 1]`, low: `${name}[2 * i]`, isNull: this.nullOf(index) };
  }

  /** A time column against a constant: offset against offset. */
  private timeComparison(expression: Extract<TypedExpression, { kind: "compare" }>): readonly [NumberText, NumberText] | undefined {
    const { left, right } = expression;
    const sides = [left, right].map((side, i) => this.timeSide(side, i === 0 ? right : left));
    const [a, b] = sides;
    return a === undefined || b === undefined ? undefined : [a, b];
  }

  private timeSide(side: TypedExpression, other: TypedExpression): NumberText | undefined {
    if (side.kind === "column" && this.layout[side.index]?.kind === "time" && other.kind === "literal") {
      return { text: `${this.array(side.index, "offsets")}[i]`, isNull: this.nullOf(side.index), mayBeNaN: false };
    }
    if (side.kind !== "literal" || other.kind !== "column" || this.layout[other.index]?.kind !== "time" || typeof side.value !== "bigint")
      return undefined;
    return { text: this.constant({ kind: "time", value: side.value, column: other.index }), isNull: undefined, mayBeNaN: false };
  }

  private inSet(expression: Extract<TypedExpression, { kind: "in-set" }>, wanted: boolean): string | undefined {
    const { values } = expression;
    const isHit = wanted !== expression.negated;
    if (this.isWide(expression.operand) && values.length <= SET_INLINE_MAX) return this.inWords(expression, isHit);
    const operand = this.number(expression.operand);
    if (operand === undefined) return undefined;
    if (expression.numbers === undefined && !values.every((value) => typeof value === "number")) return undefined;
    const numbers = values as readonly number[];
    const inline = numbers.length <= SET_INLINE_MAX && !numbers.some(Number.isNaN);
    const equals = (value: number): string => `${operand.text} === ${this.constant({ kind: "value", value })}`;
    const hit = inline
      ? `(${numbers.length === 0 ? "false" : numbers.map(equals).join(" || ")})`
      : `${this.constant({ kind: "value", value: expression.numbers ?? new Set(numbers) })}.has(${operand.text})`;
    // A miss in a list with NULL is NULL: neither true nor false.
    if (!isHit && expression.hasNull) return "false";
    return guarded(operand.isNull, isHit ? hit : `!${hit}`);
  }

  private inWords({ operand, values, hasNull }: Extract<TypedExpression, { kind: "in-set" }>, isHit: boolean): string | undefined {
    const own = this.words(operand);
    const others = values.map((value) => this.words({ kind: "literal", type: operand.type, value }));
    if (own === undefined || !others.every((other) => other !== undefined)) return undefined;
    if (!isHit && hasNull) return "false";
    const hit = `(${others.length === 0 ? "false" : others.map((other) => wordsCompared("=", own, other, true)).join(" || ")})`;
    return guarded(own.isNull, isHit ? hit : `!${hit}`);
  }

  /** Text of a number, with statements before it as needed. */
  number(expression: TypedExpression): NumberText | undefined {
    if (expression.kind === "literal") return this.literal(expression.type, expression.value);
    const lifted = this.liftedNumber(expression);
    if (lifted !== undefined) return lifted;
    // Decimals only as they lie: unscaled whole numbers, where the vector is one of numbers.
    if (expression.type.kind === "decimal") return expression.kind === "column" ? this.column(expression.index) : undefined;
    if (!NUMERIC.has(expression.type.kind)) return undefined;
    switch (expression.kind) {
      case "column":
        return this.column(expression.index, expression.type.kind === "float");
      case "arithmetic":
        return this.arithmetic(expression);
      case "cast":
        return this.cast(expression);
      case "call":
        return this.call(expression);
      case "case":
        return this.choice(expression);
      default:
        return undefined;
    }
  }

  private literal(type: DataType, value: Value): NumberText | undefined {
    if (value === undefined) return { text: "0", isNull: "true", mayBeNaN: false };
    if ((!NUMERIC.has(type.kind) && type.kind !== "decimal") || typeof value !== "number") return undefined;
    return { text: this.constant({ kind: "value", value }), isNull: undefined, mayBeNaN: Number.isNaN(value) };
  }

  private column(index: number, mayBeNaN = false): NumberText | undefined {
    if (this.layout[index]?.kind !== "number") return undefined;
    return { text: `${this.array(index, "values")}[i]`, isNull: this.nullOf(index), mayBeNaN };
  }

  private arithmetic(expression: Extract<TypedExpression, { kind: "arithmetic" }>): NumberText | undefined {
    const { operator, type } = expression;
    const a = this.number(expression.left);
    const b = this.number(expression.right);
    if (a === undefined || b === undefined || (type.kind !== "int" && type.kind !== "float")) return undefined;
    const isNull = either(a.isNull, b.isNull);
    const plain = `${a.text} ${operator} ${b.text}`;
    if (type.kind === "float") {
      return { text: this.temporary(type.bits === 32 ? `Math.fround(${plain})` : plain), isNull, mayBeNaN: true };
    }
    if (operator === "/" || operator === "%") this.bail(isNull, `${b.text} === 0`);
    const value = this.temporary(
      operator === "/" ? `Math.trunc(${plain}) + 0` : operator === "+" || operator === "-" ? plain : `${plain} + 0`,
    );
    this.bailUnlessFits(isNull, value, type);
    return { text: value, isNull, mayBeNaN: false };
  }

  private cast(expression: Extract<TypedExpression, { kind: "cast" }>): NumberText | undefined {
    const from = expression.operand.type;
    const to = expression.type;
    if (!["int", "float"].includes(from.kind) || (to.kind !== "int" && to.kind !== "float") || expression.safe) return undefined;
    const inner = this.number(expression.operand);
    if (inner === undefined) return undefined;
    if (to.kind === "float") {
      const narrows = to.bits === 32 && !(from.kind === "float" && from.bits === 32);
      return narrows ? { ...inner, text: this.temporary(`Math.fround(${inner.text})`) } : inner;
    }
    const value = from.kind === "float" ? this.temporary(`Math.trunc(${inner.text}) + 0`) : inner.text;
    this.bailUnlessFits(inner.isNull, value, to);
    return { text: value, isNull: inner.isNull, mayBeNaN: false };
  }

  private call(expression: Extract<TypedExpression, { kind: "call" }>): NumberText | undefined {
    const { function: called, args, type } = expression;
    if (called.emit === undefined || (type.kind !== "float" && type.kind !== "int")) return undefined;
    const numbers = args.map((argument) => this.number(argument));
    if (!numbers.every((number) => number !== undefined)) return undefined;
    const isNull = numbers.map((number) => number.isNull).reduce(either, undefined);
    const text = called.emit(numbers.map((number) => number.text));
    const value = this.temporary(type.kind === "float" && type.bits === 32 ? `Math.fround(${text})` : text);
    if (type.kind === "int") this.bailUnlessFits(isNull, value, type);
    return { text: value, isNull, mayBeNaN: type.kind === "float" };
  }

  private choice(expression: Extract<TypedExpression, { kind: "case" }>): NumberText | undefined {
    let result = this.number(expression.otherwise);
    for (const branch of [...expression.branches].reverse()) {
      const when = this.truth(branch.when, true);
      const value = this.number(branch.result);
      if (when === undefined || value === undefined || result === undefined) return undefined;
      const condition = this.temporary(when);
      const isNull: string | undefined =
        either(value.isNull, result.isNull) === undefined
          ? undefined
          : `(${condition} ? ${value.isNull ?? "false"} : ${result.isNull ?? "false"})`;
      result = { text: `(${condition} ? ${value.text} : ${result.text})`, isNull, mayBeNaN: value.mayBeNaN || result.mayBeNaN };
    }
    return result;
  }

  /** An expression over one dictionary column: a table look-up. Table entries: 0 false, 1 true, 2 NULL, 3 leave to the interpreter. */
  private liftedBoolean(expression: TypedExpression, wanted: boolean): string | undefined {
    if (expression.type.kind !== "boolean") return undefined;
    const state = this.lift(expression);
    return state === undefined ? undefined : `${state.state} === ${wanted ? 1 : 0}`;
  }

  private liftedNumber(expression: TypedExpression): NumberText | undefined {
    if (!NUMERIC.has(expression.type.kind) || expression.kind === "column") return undefined;
    const entry = this.lift(expression);
    return entry === undefined ? undefined : { text: entry.value, isNull: `${entry.state} === 2`, mayBeNaN: true };
  }

  private lift(expression: TypedExpression): { readonly state: string; readonly value: string } | undefined {
    const columns = columnsOf(expression);
    const [column] = columns;
    if (columns.size !== 1 || column === undefined || !isCodesKind(this.layout[column]?.kind) || isVolatile(expression)) return undefined;
    const table = this.lifted.push({ column, expression }) - 1;
    this.prelude.set(`t${table}`, `const s${table} = T[${table}].states, v${table} = T[${table}].values;`);
    const code = `${this.array(column, "codes")}[i]`;
    const state = this.temporary(`s${table}[${code}]`);
    this.statements.push(`if (${state} === 3) return -1;`);
    return { state, value: `v${table}[${code}]` };
  }

  private bailUnlessFits(isNull: string | undefined, value: string, type: Extract<DataType, { kind: "int" }>): void {
    const { min, max } = boundsOf(type);
    const low = type.bits === 64 ? (type.signed ? -Number.MAX_SAFE_INTEGER : 0) : Number(min);
    const high = type.bits === 64 ? Number.MAX_SAFE_INTEGER : Number(max);
    this.bail(isNull, `!(${value} >= ${low} && ${value} <= ${high})`);
  }

  private bail(isNull: string | undefined, condition: string): void {
    this.statements.push(`if (${isNull === undefined ? "" : `!(${isNull}) && `}${condition}) return -1;`);
  }

  private temporary(text: string): string {
    const name = `x${this.temporaries++}`;
    this.statements.push(`const ${name} = ${text};`);
    return name;
  }

  private constant(constant: LoopConstant): string {
    const index = this.constants.push(constant) - 1;
    this.prelude.set(`p${index}`, `const p${index} = P[${index}];`);
    return `p${index}`;
  }

  private array(column: number, field: "values" | "offsets" | "codes"): string {
    const name = `${field[0]}${column}`;
    this.prelude.set(`a${name}`, `const ${name}a = V[${column}].${field}; // ${this.layout[column]?.array ?? ""}`);
    return `${name}a`;
  }

  private nullOf(column: number): string | undefined {
    if (this.layout[column]?.nullable !== true) return undefined;
    this.prelude.set(`m${column}`, `const m${column} = V[${column}].validity;`);
    return `m${column}[i] === 0`;
  }
}

function either(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return `(${a} || ${b})`;
}

function guarded(isNull: string | undefined, text: string): string {
  return isNull === undefined ? `(${text})` : `(!(${isNull}) && ${text})`;
}

/** A comparison in the total order of floats: NaN equals NaN and is above all numbers. */
function comparisonText(operator: string, a: NumberText, b: NumberText): string {
  const [x, y] = [a.text, b.text];
  if (!a.mayBeNaN && !b.mayBeNaN) return `${x} ${operator === "=" ? "===" : operator === "<>" ? "!==" : operator} ${y}`;
  const less = `(${x} < ${y} || (${x} === ${x} && ${y} !== ${y}))`;
  const more = `(${x} > ${y} || (${x} !== ${x} && ${y} === ${y}))`;
  const equal = `(${x} === ${y} || (${x} !== ${x} && ${y} !== ${y}))`;
  switch (operator) {
    case "=":
      return equal;
    case "<>":
      return `!${equal}`;
    case "<":
      return less;
    case "<=":
      return `!${more}`;
    case ">":
      return more;
    default:
      return `!${less}`;
  }
}
