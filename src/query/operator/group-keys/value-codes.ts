/**
 * Gives each distinct value of one key a dense code, and a vector of values for codes in the end.
 *
 * Text of a dictionary is looked up once an entry, as long as the dictionary stays the same. Times are looked up by their distance from the
 * first one, since that of near times is a number: a bigint costs several times as much to make and to find.
 */
import { SplitMap, type SplitKey } from "../../../base/bytes/split-map.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { isInterval, textOf, type Value, valueKey } from "../../function/value/value.ts";
import { isTimeType, valueAt, valuesVector } from "../../expression/vector-values.ts";
import type { Reserve } from "../../function/aggregate/accumulator.ts";

/** What has no code: a value that was never added or, where NULL equals nothing, NULL. */
export const NO_CODE = -1;
/** The code of a dictionary's entry that was not asked for yet. */
const UNSEEN = -2;
/** About what one distinct value costs, bytes. */
const VALUE_BYTES = 64;

/** Codes of the entries of the dictionary that came last. */
interface Entries {
  readonly dictionary: readonly (string | undefined)[];
  /** Whether entries without a code got one. */
  readonly isNew: boolean;
  codes: Int32Array;
}

/** Codes of values of any type. NaN is one value, -0 is 0. */
export class ValueCodes {
  private readonly codes = new SplitMap<number>();
  private readonly values: Value[] = [];
  private texts: readonly (string | undefined)[] = [];
  private entries: Entries | undefined;
  /** What times are told from: the first one. */
  private origin: bigint | undefined;
  private readonly type: DataType;
  private readonly isTime: boolean;
  private readonly nullsMatch: boolean;
  private readonly reserve: Reserve;

  /** @param nullsMatch whether NULL has a code, as among groups, or none, as in joins */
  constructor(type: DataType, nullsMatch: boolean, reserve: Reserve) {
    this.type = type;
    this.isTime = isTimeType(type);
    this.nullsMatch = nullsMatch;
    this.reserve = reserve;
  }

  /** Codes given so far; they are dense. */
  get size(): number {
    return this.values.length;
  }

  /** The code of a value: a new one for a new value when `isNew`, `NO_CODE` otherwise. */
  codeOf(value: Value, isNew: boolean): number {
    if (value === undefined && !this.nullsMatch) return NO_CODE;
    return this.codes.get(this.keyOf(value)) ?? (isNew ? this.add(this.keyOf(value), value) : NO_CODE);
  }

  /** Codes of the rows of a vector, as `codeOf` gives them. */
  codesOf(vector: Vector, rowCount: number, isNew: boolean, into: Int32Array): void {
    if (vector.kind === "dictionary") return this.codesOfEntries(vector, rowCount, isNew, into);
    if (vector.kind === "time" && this.isTime) return this.codesOfTimes(vector, rowCount, isNew, into);
    if (vector.kind !== "number" || this.isTime || this.type.kind === "boolean") {
      for (let i = 0; i < rowCount; i++) into[i] = this.codeOf(valueAt(vector, this.type, i), isNew);
      return;
    }
    const { codes } = this;
    const { values, validity } = vector;
    for (let i = 0; i < rowCount; i++) {
      const value = values[i] as number;
      if (validity?.[i] === 0) into[i] = this.codeOf(undefined, isNew);
      else into[i] = codes.get(value) ?? (isNew ? this.add(value, value) : NO_CODE);
    }
  }

  private codesOfTimes(vector: Extract<Vector, { kind: "time" }>, rowCount: number, isNew: boolean, into: Int32Array): void {
    const { codes } = this;
    const { base, offsets, validity } = vector;
    this.origin ??= base;
    const shift = Number(base - this.origin);
    const isNear = Number.isSafeInteger(shift);
    for (let i = 0; i < rowCount; i++) {
      const offset = offsets[i] as number;
      const key = shift + offset;
      if (validity?.[i] === 0) into[i] = this.codeOf(undefined, isNew);
      else if (!isNear || !Number.isSafeInteger(key)) into[i] = this.codeOf(base + BigInt(offset), isNew);
      else into[i] = codes.get(key) ?? (isNew ? this.add(key, base + BigInt(offset)) : NO_CODE);
    }
  }

  private codesOfEntries(vector: Extract<Vector, { kind: "dictionary" }>, rowCount: number, isNew: boolean, into: Int32Array): void {
    const { codes, dictionary } = vector;
    const known = this.codesKnown(dictionary, isNew);
    for (let i = 0; i < rowCount; i++) {
      const entry = codes[i] as number;
      let code = known[entry] ?? UNSEEN;
      if (code === UNSEEN) {
        code = this.codeOf(dictionary[entry], isNew);
        known[entry] = code;
      }
      into[i] = code;
    }
  }

  /** Codes by entry of a dictionary, which may have grown. Those that were not found are looked for again once values are added. */
  private codesKnown(dictionary: readonly (string | undefined)[], isNew: boolean): Int32Array {
    const { entries } = this;
    const known = entries?.dictionary === dictionary && (entries.isNew || !isNew) ? entries : undefined;
    if (known !== undefined && known.isNew === isNew && known.codes.length >= dictionary.length) return known.codes;
    const codes = new Int32Array(dictionary.length).fill(UNSEEN);
    if (known !== undefined) codes.set(known.codes);
    this.entries = { dictionary, isNew, codes };
    return codes;
  }

  private keyOf(value: Value): SplitKey {
    if (value instanceof Uint8Array || isInterval(value)) return valueKey(value);
    if (!this.isTime || typeof value !== "bigint") return value;
    this.origin ??= value;
    const distance = Number(value - this.origin);
    return Number.isSafeInteger(distance) ? distance : value;
  }

  private add(key: SplitKey, value: Value): number {
    // Bytes may lie on a batch's memory, which ends with the batch.
    const code = this.values.push(value === 0 ? 0 : value instanceof Uint8Array ? value.slice() : value) - 1;
    this.codes.set(key, code);
    this.reserve(VALUE_BYTES + (typeof value === "string" ? value.length * 2 : value instanceof Uint8Array ? value.length * 3 : 0));
    return code;
  }

  /** All values behind the entry of NULL; made once for as many values as there are. */
  private dictionary(): readonly (string | undefined)[] {
    if (this.texts.length !== this.values.length + 1) {
      const texts: (string | undefined)[] = [undefined];
      for (const value of this.values) texts.push(value === undefined ? undefined : textOf(value));
      this.texts = texts;
    }
    return this.texts;
  }

  /** The values of codes. Text comes out as a dictionary, so that it is held once. */
  vector(codes: Uint32Array): Vector {
    if (this.type.kind === "string") {
      const dictionary = this.dictionary();
      const shifted = new Uint32Array(codes.length);
      for (let i = 0; i < codes.length; i++) shifted[i] = dictionary[(codes[i] as number) + 1] === undefined ? 0 : (codes[i] as number) + 1;
      return { kind: "dictionary", codes: shifted, dictionary };
    }
    const values: Value[] = [];
    for (let i = 0; i < codes.length; i++) values.push(this.values[codes[i] as number]);
    return valuesVector(this.type, values);
  }
}
