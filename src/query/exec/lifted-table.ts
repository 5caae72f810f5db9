/**
 * An expression over one dictionary column, computed once for each entry of the dictionary instead of once a row.
 * Grows with the dictionary.
 */
import { DbError } from "../../base/error.ts";
import type { Vector } from "../../column/vector.ts";
import type { Environment } from "../function/environment.ts";
import type { Value } from "../function/value.ts";
import type { TypedExpression } from "../plan/expression.ts";
import { evaluate } from "./interpreter.ts";
import { isTimeType, valuesVector } from "./vector-values.ts";

/** Most characters of texts that a table holds. Reason: it lives as long as the query. Beyond, rows are computed one by one. */
const CHARACTERS_MAX = 16 * 1024 * 1024;

/** States of entries: Boolean values, a value, NULL, or "ask the interpreter" (the entry fails, or is an integer beyond ±2^53). */
const FALSE = 0;
const TRUE = 1;
const NULL_ENTRY = 2;
const ASK = 3;

type Dictionary = readonly (string | undefined)[];

/** Values of one expression by dictionary code. */
export class LiftedTable {
  /** One state an entry. */
  states: Uint8Array = new Uint8Array(16);
  /** The number of an entry, when it has one. */
  values: Float64Array = new Float64Array(16);
  private readonly results: Value[] = [];
  private texts: (string | undefined)[] = [undefined];
  private textCodes = new Uint32Array(16);
  private textCodeOf = new Map<string, number>();
  private characters = 0;
  private dictionary: Dictionary | undefined;
  private asked = false;
  /** Whether some value is a bigint, which `values` does not hold. */
  private hasBig = false;
  private readonly expression: TypedExpression;
  private readonly environment: Environment;

  constructor(expression: TypedExpression, environment: Environment) {
    this.expression = expression;
    this.environment = environment;
  }

  /** Brings the table up to a dictionary, from which the codes of the next batch come. */
  update(dictionary: Dictionary): this {
    if (dictionary !== this.dictionary) {
      this.results.length = 0;
      this.asked = false;
      this.hasBig = false;
      this.dictionary = dictionary;
      if (this.characters > CHARACTERS_MAX / 2) this.forgetTexts();
    }
    if (this.results.length < dictionary.length) this.extend(dictionary);
    return this;
  }

  private forgetTexts(): void {
    this.texts = [undefined]; // Batches that were given out go on with the old ones.
    this.textCodeOf = new Map();
    this.characters = 0;
  }

  private extend(dictionary: Dictionary): void {
    if (this.states.length < dictionary.length) {
      const capacity = Math.max(dictionary.length, this.states.length * 2);
      this.states = grown(this.states, new Uint8Array(capacity));
      this.values = grown(this.values, new Float64Array(capacity));
      this.textCodes = grown(this.textCodes, new Uint32Array(capacity));
    }
    for (let code = this.results.length; code < dictionary.length; code++) this.compute(code, dictionary[code]);
  }

  private compute(code: number, text: string | undefined): void {
    let value: Value;
    try {
      value = evaluate(this.expression, () => text, this.environment);
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      // The entry may belong to no row of this query, so it fails only when a row has it.
      this.results.push(undefined);
      this.states[code] = ASK;
      this.asked = true;
      return;
    }
    if (typeof value === "string" && this.characters + value.length > CHARACTERS_MAX) {
      this.results.push(undefined);
      this.states[code] = ASK;
      this.asked = true;
      return;
    }
    this.results.push(value);
    if (typeof value === "bigint") this.hasBig = true;
    const number = typeof value === "number" ? value : 0;
    this.values[code] = number;
    if (value === undefined) this.states[code] = NULL_ENTRY;
    else if (typeof value === "boolean") this.states[code] = value ? TRUE : FALSE;
    else this.states[code] = typeof value === "bigint" ? ASK : TRUE;
    this.textCodes[code] = typeof value === "string" ? this.codeOf(value) : 0;
  }

  private codeOf(text: string): number {
    const known = this.textCodeOf.get(text);
    if (known !== undefined) return known;
    const code = this.texts.push(text) - 1;
    this.characters += text.length;
    this.textCodeOf.set(text, code);
    return code;
  }

  /** The values of rows, or undefined when the interpreter has to look at them or the type has no table. */
  vector(codes: Uint32Array, rowCount: number): Vector | undefined {
    const { kind } = this.expression.type;
    if (this.asked) return undefined;
    if (kind === "string") {
      const target = new Uint32Array(rowCount);
      for (let i = 0; i < rowCount; i++) target[i] = this.textCodes[codes[i] ?? 0] ?? 0;
      return { kind: "dictionary", codes: target, dictionary: this.texts };
    }
    if (isTimeType(this.expression.type) || (kind === "int" && this.hasBig)) {
      const values: Value[] = [];
      for (let i = 0; i < rowCount; i++) values.push(this.results[codes[i] ?? 0]);
      return valuesVector(this.expression.type, values);
    }
    if (!["int", "float", "date", "time", "boolean"].includes(kind)) return undefined;
    const values = new Float64Array(rowCount);
    const validity = new Uint8Array(rowCount);
    let nulls = false;
    for (let i = 0; i < rowCount; i++) {
      const code = codes[i] ?? 0;
      const state = this.states[code] ?? NULL_ENTRY;
      values[i] = kind === "boolean" ? state : (this.values[code] ?? 0);
      validity[i] = state === NULL_ENTRY ? 0 : 1;
      if (state === NULL_ENTRY) nulls = true;
    }
    return { kind: "number", values, validity: nulls ? validity : undefined };
  }
}

function grown<A extends Uint8Array | Float64Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
