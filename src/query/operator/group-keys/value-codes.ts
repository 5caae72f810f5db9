/**
 * Gives each distinct value of one key a dense code, and a vector of values for codes in the end, a value at a time: for what is looked up
 * once a series, and for intervals. Times are looked up by their distance from the first one, since that of near times is a number.
 */
import { SplitMap, type SplitKey } from "../../../base/bytes/split-map.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { isInterval, textOf, type Value, valueKey } from "../../function/value/value.ts";
import { isTimeType, valueAt, valuesVector } from "../../expression/vector-values.ts";
import type { Reserve } from "../../function/aggregate/accumulator.ts";

/** What has no code: a value that was never added. */
export const NO_CODE = -1;
/** About what one distinct value costs, bytes. */
const VALUE_BYTES = 64;

/** Codes of values of any type. NaN is one value, -0 is 0. */
export class ValueCodes {
  private readonly codes = new SplitMap<number>();
  private readonly values: Value[] = [];
  private texts: readonly (string | undefined)[] = [];
  /** What times are told from: the first one. */
  private origin: bigint | undefined;
  private readonly type: DataType;
  private readonly isTime: boolean;
  private readonly reserve: Reserve;

  constructor(type: DataType, reserve: Reserve) {
    this.type = type;
    this.isTime = isTimeType(type);
    this.reserve = reserve;
  }

  /** Codes given so far; they are dense. */
  get size(): number {
    return this.values.length;
  }

  /** The code of a value: a new one for a new value when `isNew`, `NO_CODE` otherwise. */
  codeOf(value: Value, isNew: boolean): number {
    const key = this.keyOf(value);
    return this.codes.get(key) ?? (isNew ? this.add(key, value) : NO_CODE);
  }

  /** Codes of the rows of a vector, as `codeOf` gives them. */
  codesOf(vector: Vector, rowCount: number, isNew: boolean, into: Int32Array): void {
    for (let i = 0; i < rowCount; i++) into[i] = this.codeOf(valueAt(vector, this.type, i), isNew);
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
