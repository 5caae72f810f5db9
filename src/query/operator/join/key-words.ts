/**
 * Keys of a join as 32-bit words side by side, equal words for equal keys: those of fixed width as they are (`kernels/lanes.ts`), texts and
 * other bytes as numbers that the held side gives and the streaming side looks up (`group-keys/text-codes.ts`).
 */
import { presenceOf } from "../../../column/coded-text.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import { growth, type Reserve } from "../../function/aggregate/accumulator.ts";
import { isBytesKey, TextCodes } from "../group-keys/text-codes.ts";
import { ValueCodes } from "../group-keys/value-codes.ts";
import { type LaneForm, laneFormOf, lanesInPlace, writeLanes } from "../kernels/lanes.ts";

/** A key, and where its words lie among those of a row. */
type Key = { readonly at: number } & (
  | { readonly kind: "lanes"; readonly form: LaneForm }
  | { readonly kind: "codes"; readonly codes: TextCodes | ValueCodes }
);

/** Words of some rows; `present` is 0 where a key is NULL or, of rows that are looked up, was never held. */
export interface WordsOfRows {
  readonly words: Int32Array;
  readonly present: Validity;
}

/** See the file header. */
export class KeyWords {
  /** Words of a row. */
  readonly width: number;
  private readonly keys: readonly Key[];
  /** Hears of the bytes that are held by now, about. */
  private readonly held: (bytes: number) => void;
  private scratch = new Int32Array(0);
  private codes = new Int32Array(0);

  /** @param types of the keys, which both sides' vectors are read as */
  constructor(types: readonly DataType[], reserve: Reserve) {
    let width = 0;
    this.keys = types.map((type): Key => {
      const at = width;
      const form = laneFormOf(type);
      width += form?.width ?? 1;
      if (form !== undefined) return { kind: "lanes", at, form };
      return { kind: "codes", at, codes: isBytesKey(type) ? new TextCodes(type) : new ValueCodes(type, reserve) };
    });
    this.width = width;
    this.held = growth(reserve);
  }

  /** The words of all rows where they lie in the only key as they are. */
  inPlace(vectors: readonly Vector[], rowCount: number): WordsOfRows | undefined {
    const [key] = this.keys;
    const [vector] = vectors;
    if (this.keys.length !== 1 || key?.kind !== "lanes" || vector === undefined) return undefined;
    const words = lanesInPlace(vector, key.form, rowCount);
    return words === undefined ? undefined : { words, present: presenceOf(vector, rowCount) };
  }

  /** Whether there is one key, whose word is a number that only held rows have. */
  get areNumbers(): boolean {
    return this.keys.length === 1 && this.keys[0]?.kind === "codes";
  }

  /** The numbers of keys that are held, negative ones for others: where `areNumbers`. */
  findNumbers([vector]: readonly Vector[], rowCount: number, into: Int32Array): void {
    const [key] = this.keys;
    if (key?.kind === "codes" && vector !== undefined) numbersOf(key.codes, vector, rowCount, false, into);
  }

  /** Writes words of rows that are held to `into[at * width]` on. @returns which rows have all keys */
  writeHeld(vectors: readonly Vector[], rowCount: number, into: Int32Array, at: number): Validity {
    const present = this.write(vectors, rowCount, true, into, at * this.width);
    let bytes = 0;
    for (const key of this.keys) if (key.kind === "codes" && key.codes instanceof TextCodes) bytes += key.codes.bytes;
    this.held(bytes);
    return present;
  }

  /** Words of rows that are looked up; valid until the next call. */
  wordsOf(vectors: readonly Vector[], rowCount: number): WordsOfRows {
    const inPlace = this.inPlace(vectors, rowCount);
    if (inPlace !== undefined) return inPlace;
    if (this.scratch.length < rowCount * this.width) this.scratch = new Int32Array(rowCount * this.width);
    return { words: this.scratch, present: this.write(vectors, rowCount, false, this.scratch, 0) };
  }

  private write(vectors: readonly Vector[], rowCount: number, isHeld: boolean, into: Int32Array, from: number): Validity {
    const { width } = this;
    let present: Uint8Array | undefined;
    for (const [i, key] of this.keys.entries()) {
      const vector = vectors[i];
      if (vector === undefined) continue;
      const validity = presenceOf(vector, rowCount);
      if (validity !== undefined) present = both(present, validity, rowCount);
      if (key.kind === "lanes") writeLanes(vector, key.form, rowCount, into, from + key.at, width);
      else if (this.writeCodes(key.codes, vector, rowCount, isHeld, into, from + key.at))
        present = withCodes(present, this.codes, rowCount);
    }
    return present;
  }

  /** @returns whether some have no code */
  private writeCodes(
    codes: TextCodes | ValueCodes,
    vector: Vector,
    rowCount: number,
    isHeld: boolean,
    into: Int32Array,
    from: number,
  ): boolean {
    if (this.codes.length < rowCount) this.codes = new Int32Array(rowCount);
    const { codes: own, width } = this;
    numbersOf(codes, vector, rowCount, isHeld, own);
    let sign = 0;
    for (let row = 0, at = from; row < rowCount; row++, at += width) {
      const code = own[row] as number;
      into[at] = code;
      sign |= code;
    }
    return sign < 0;
  }
}

function numbersOf(codes: TextCodes | ValueCodes, vector: Vector, rowCount: number, isHeld: boolean, into: Int32Array): void {
  if (codes instanceof TextCodes) codes.codesOf(vector, rowCount, isHeld, false, into);
  else codes.codesOf(vector, rowCount, isHeld, into);
}

function both(present: Uint8Array | undefined, validity: Uint8Array, rowCount: number): Uint8Array {
  if (present === undefined) return validity.slice(0, rowCount);
  for (let row = 0; row < rowCount; row++) present[row] = (present[row] as number) & (validity[row] as number);
  return present;
}

function withCodes(present: Uint8Array | undefined, codes: Int32Array, rowCount: number): Uint8Array {
  const made = present ?? new Uint8Array(rowCount).fill(1);
  for (let row = 0; row < rowCount; row++) if ((codes[row] as number) < 0) made[row] = 0;
  return made;
}
