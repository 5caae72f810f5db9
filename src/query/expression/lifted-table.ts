/**
 * An expression over one column of codes, computed once for each entry of the dictionary that rows have, instead of once a row.
 * Grows with the dictionary, and with the entries that rows have: a dictionary may be longer than a query has rows, or than one turn of
 * the event loop suffices for.
 */
import { textAt, type TextTable } from "../../column/text-table.ts";
import { DbError } from "../../base/error.ts";
import type { CodedVector, DictionaryVector, Vector } from "../../column/vector.ts";
import type { Environment } from "../function/signature/environment.ts";
import type { Value } from "../function/value/value.ts";
import type { TypedExpression } from "./expression.ts";
import { checkCancelled } from "../../base/scheduler/pace.ts";
import { EntryTables, type EntryTable, type OfEntries } from "./entry-tables.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { evaluate } from "./interpreter.ts";
import { RowValues } from "./row-values.ts";
import { isTimeType, valuesVector } from "./vector-values.ts";

/**
 * States of entries: Boolean values, a value, NULL, "ask the interpreter" (the entry fails, or is an integer beyond ±2^53), or not looked
 * at: no row had it.
 */
const FALSE = 0;
const TRUE = 1;
const NULL_ENTRY = 2;
const ASK = 3;
const UNKNOWN = 4;

/** Most characters of texts that a table holds. Reason: `repeat(s, 100000)` of each entry of a dictionary may be more than all memory. */
const CHARACTERS_MAX = 16 * 1024 * 1024;

type Dictionary = readonly (string | undefined)[] | TextTable;
type CodesVector = DictionaryVector | CodedVector;

const dictionaryOf = (vector: CodesVector): Dictionary => (vector.kind === "coded" ? vector.entries : vector.dictionary);

const sizeOf = (dictionary: Dictionary): number => ("size" in dictionary ? dictionary.size : dictionary.length);

const textOf = (dictionary: Dictionary, code: number): string | undefined =>
  "size" in dictionary ? textAt(dictionary, code) : dictionary[code];

/** Values of one expression by dictionary code. */
export class LiftedTable {
  /** One state an entry. */
  states: Uint8Array = new Uint8Array(16);
  /** The number of an entry, when it has one. */
  values: Float64Array = new Float64Array(16);
  /** Sparse: of the entries that were looked at. */
  private readonly results: Value[] = [];
  /** How many these are. */
  private known = 0;
  private texts: (string | undefined)[] = [undefined];
  private textCodes = new Uint32Array(16);
  private textCodeOf = new Map<string, number>();
  private dictionary: Dictionary | undefined;
  private asked = false;
  /** Of the texts held. Over the limit there is no table, for good. */
  private characters = 0;
  /** Whether some value is a bigint, which `values` does not hold. */
  private hasBig = false;
  private readonly expression: TypedExpression;
  private readonly environment: Environment;
  private readonly ofEntries: OfEntries;
  private quick: EntryTables | "none" | undefined;
  private ofNull: Value;

  /** @param ofEntries computes the expression for entries that lie as bytes */
  constructor(expression: TypedExpression, environment: Environment, ofEntries: OfEntries) {
    this.expression = expression;
    this.environment = environment;
    this.ofEntries = ofEntries;
  }

  /** States and numbers by code for these rows, where they come from bytes; undefined: `update` has to look at each entry. */
  quickTable(vector: CodesVector, rowCount: number): EntryTable | undefined {
    if (vector.kind !== "coded" || this.expression.type.kind === "string") return undefined;
    const table = this.entryTables()?.of(vector.entries);
    if (table === undefined || table.look(vector.codes, rowCount, this.ofEntries)) return table;
    this.quick = "none";
    return undefined;
  }

  /** The values of rows, where they come from bytes. */
  quickVector(vector: CodesVector, rowCount: number): Vector | undefined {
    if (vector.kind !== "coded") return undefined;
    const { kind } = this.expression.type;
    if (kind === "string") {
      return this.entryTables()?.of(vector.entries).textsOf(vector, rowCount, this.ofEntries, this.ofNull);
    }
    const table = NUMBER_KINDS.has(kind) ? this.quickTable(vector, rowCount) : undefined;
    return table === undefined ? undefined : numbersOf(table, vector.codes, rowCount, kind);
  }

  /** Tables of entries; undefined: entries are only looked at one by one. */
  private entryTables(): EntryTables | undefined {
    if (this.quick === undefined) {
      const { kind } = this.expression.type;
      this.quick = this.knowsNull() ? new EntryTables({ isText: kind === "string", isTruth: kind === "boolean" }, this.ofNull) : "none";
    }
    return this.quick === "none" ? undefined : this.quick;
  }

  /** Finds out what NULL becomes; false: an error, or what is no number. */
  private knowsNull(): boolean {
    try {
      this.ofNull = evaluate(this.expression, () => undefined, this.environment);
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      return false;
    }
    return typeof this.ofNull !== "bigint";
  }

  /** Brings the table up to a dictionary and the entries that these rows have. */
  update(vector: CodesVector, rowCount: number): this {
    const { codes } = vector;
    const dictionary = dictionaryOf(vector);
    this.begin(dictionary);
    if (this.isFull || this.known === sizeOf(dictionary)) return this;
    const { states } = this;
    for (let row = 0; row < rowCount; row++) {
      const code = codes[row] as number;
      if (states[code] === UNKNOWN) this.compute(code, textOf(dictionary, code));
      if (this.isFull) break;
    }
    if (this.isFull) this.forget();
    return this;
  }

  /** As `update`, with turns for others; what takes long is computed on another thread. */
  async updateInTurns(vector: CodesVector, rowCount: number, context: EvaluationContext): Promise<void> {
    const { codes } = vector;
    const dictionary = dictionaryOf(vector);
    this.begin(dictionary);
    if (this.isFull || this.known === sizeOf(dictionary)) return;
    const values = new RowValues(this.expression, context);
    for (let row = 0; row < rowCount && !this.isFull; row++) {
      const code = codes[row] as number;
      if (this.states[code] !== UNKNOWN) continue;
      const text = textOf(dictionary, code);
      try {
        const value = values.of(() => text);
        this.note(code, value instanceof Promise ? await value : value);
      } catch (thrown) {
        checkCancelled(context);
        this.noteFailed(code, thrown);
      }
    }
    if (this.isFull) this.forget();
  }

  private get isFull(): boolean {
    return this.characters > CHARACTERS_MAX;
  }

  /** Makes room for a dictionary. */
  private begin(dictionary: Dictionary): void {
    if (this.isFull) return;
    if (dictionary !== this.dictionary) {
      this.results.length = 0;
      this.known = 0;
      this.asked = false;
      this.hasBig = false;
      this.dictionary = dictionary;
      // Vectors that were made keep what they have. Files have many dictionaries, whose texts together would fill it for good.
      if (this.characters > CHARACTERS_MAX / 2) {
        this.forget();
        this.textCodeOf = new Map();
        this.characters = 0;
      }
    }
    const size = sizeOf(dictionary);
    if (this.results.length < size) this.extend(size);
  }

  /** Lets go of all texts: from now on the interpreter computes each row's. */
  private forget(): void {
    this.results.length = 0;
    this.texts = [undefined];
    this.textCodeOf.clear();
  }

  /** Makes room for entries that nobody looked at yet. */
  private extend(length: number): void {
    if (this.states.length < length) {
      const capacity = Math.max(length, this.states.length * 2);
      this.states = grown(this.states, new Uint8Array(capacity));
      this.values = grown(this.values, new Float64Array(capacity));
      this.textCodes = grown(this.textCodes, new Uint32Array(capacity));
    }
    this.states.fill(UNKNOWN, this.results.length, length);
    this.results.length = length;
  }

  private compute(code: number, text: string | undefined): void {
    try {
      this.note(
        code,
        evaluate(this.expression, () => text, this.environment),
      );
    } catch (thrown) {
      this.noteFailed(code, thrown);
    }
  }

  private noteFailed(code: number, thrown: unknown): void {
    if (!(thrown instanceof DbError)) throw thrown;
    this.known++;
    // The row may be none that counts, so the entry fails only when the interpreter comes to it.
    this.states[code] = ASK;
    this.asked = true;
  }

  private note(code: number, value: Value): void {
    this.known++;
    this.results[code] = value;
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
    if (this.asked || this.isFull) return undefined;
    if (kind === "string") {
      const target = new Uint32Array(rowCount);
      for (let i = 0; i < rowCount; i++) target[i] = this.textCodes[codes[i] as number] as number;
      return { kind: "dictionary", codes: target, dictionary: this.texts };
    }
    if (isTimeType(this.expression.type) || (kind === "int" && this.hasBig)) {
      const values: Value[] = [];
      for (let i = 0; i < rowCount; i++) values.push(this.results[codes[i] as number]);
      return valuesVector(this.expression.type, values);
    }
    return NUMBER_KINDS.has(kind) ? numbersOf(this, codes, rowCount, kind) : undefined;
  }
}

/** Types whose values a table holds as numbers. */
const NUMBER_KINDS: ReadonlySet<string> = new Set(["int", "float", "date", "time", "boolean"]);

/** The numbers of rows, or truths as 0 and 1. */
function numbersOf(
  { states, values: byCode }: Pick<EntryTable, "states" | "values">,
  codes: Uint32Array,
  rowCount: number,
  kind: string,
): Vector {
  const values = new Float64Array(rowCount);
  const validity = new Uint8Array(rowCount);
  let nulls = false;
  for (let i = 0; i < rowCount; i++) {
    const code = codes[i] as number;
    const state = states[code] ?? NULL_ENTRY;
    values[i] = kind === "boolean" ? state : (byCode[code] as number);
    validity[i] = state === NULL_ENTRY ? 0 : 1;
    if (state === NULL_ENTRY) nulls = true;
  }
  return { kind: "number", values, validity: nulls ? validity : undefined };
}

function grown<A extends Uint8Array | Float64Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
