/**
 * A column of the winners of all groups (`winner-states.ts`), in the form that the batches have for as long as they have one:
 *
 *   numbers      as narrow as the batches' while they are bytes: most of what follows is a quarter of the work then
 *   dictionary   codes of one dictionary: tags
 *   texts        bytes of every kind, copied
 *   values       what is left, and columns whose batches change their form
 */
import { type DataType, formOf } from "../../../column/data-type.ts";
import type { BytesVector, CodedVector, DictionaryVector, NumberArray, NumberVector, Vector } from "../../../column/vector.ts";
import { grown } from "../../../base/bytes/longer-array.ts";
import { growth, owned, type Reserve, textBytes } from "../../function/aggregate/accumulator.ts";
import type { Value } from "../../function/value/value.ts";
import { valueAt, valuesVector } from "../../expression/vector-values.ts";
import { KeptTexts } from "../kernels/texts/kept-texts.ts";
import type { WinnerTracker } from "./winner-states.ts";

type Dictionary = DictionaryVector["dictionary"];

const encoder = new TextEncoder();

/** See the file header. */
export class WinnerColumn {
  private numbers: Float64Array | Int8Array | undefined;
  private validity: Uint8Array = new Uint8Array(64);
  private codes: Uint32Array = new Uint32Array(64);
  private dictionary: Dictionary | undefined;
  private texts: KeptTexts | undefined;
  private values: Value[] | undefined;
  private bytes = 0;
  private readonly type: DataType;
  private readonly held: (bytes: number) => void;

  constructor(type: DataType, reserve: Reserve) {
    this.type = type;
    this.held = growth(reserve);
  }

  /** Copies the values of changed winners out of a batch's vector. */
  update(vector: Vector, tracker: WinnerTracker, groupCount: number): void {
    this.validity = grown(this.validity, groupCount);
    const isPlain = this.values === undefined && this.texts === undefined;
    if (isPlain && vector.kind === "dictionary" && (this.dictionary ?? vector.dictionary) === vector.dictionary) {
      this.takeCodes(vector, tracker, groupCount);
    } else if (isPlain && this.dictionary === undefined && vector.kind === "number") this.takeNumbers(vector, tracker, groupCount);
    else if (this.holdsBytes(vector)) this.takeTexts(vector, tracker, groupCount);
    else this.takeValues(vector, tracker);
  }

  private takeCodes({ codes, dictionary }: DictionaryVector, { changed, rows }: WinnerTracker, groupCount: number): void {
    this.dictionary = dictionary;
    this.codes = grown(this.codes, groupCount);
    for (const group of changed) this.codes[group] = codes[rows[group] as number] as number;
  }

  private takeNumbers({ values, validity }: NumberVector, { changed, rows }: WinnerTracker, groupCount: number): void {
    const numbers = this.numbersFor(values, groupCount);
    this.numbers = numbers;
    for (const group of changed) {
      const row = rows[group] as number;
      numbers[group] = values[row] as number;
      this.validity[group] = validity?.[row] ?? 1;
    }
  }

  private takeTexts(vector: BytesVector | CodedVector | DictionaryVector, { changed, rows }: WinnerTracker, groupCount: number): void {
    const texts = this.texts ?? this.asTexts();
    this.texts = texts;
    texts.reach(groupCount);
    for (const group of changed) {
      const row = rows[group] as number;
      if (vector.kind === "dictionary") keepString(texts, group, vector.dictionary[vector.codes[row] as number]);
      else if (vector.kind === "coded") {
        const code = vector.codes[row] as number;
        const { starts, bytes } = vector.entries;
        const start = starts[code] as number;
        if (code === 0) texts.clear(group);
        else texts.set(group, bytes, start, (starts[code + 1] as number) - start);
      } else if (vector.validity?.[row] === 0) texts.clear(group);
      else {
        const start = vector.offsets[row] as number;
        texts.set(group, vector.bytes, start, (vector.offsets[row + 1] as number) - start);
      }
    }
    this.held(texts.bytesHeld);
  }

  private takeValues(vector: Vector, { changed, rows }: WinnerTracker): void {
    const values = this.values ?? this.asValues();
    this.values = values;
    for (const group of changed) {
      const value = owned(valueAt(vector, this.type, rows[group] as number));
      this.bytes += textBytes(value) - textBytes(values[group]);
      values[group] = value;
    }
    this.held(this.bytes);
  }

  /** Whether a vector's values, and those that are kept, are bytes or texts. */
  private holdsBytes(vector: Vector): vector is BytesVector | CodedVector | DictionaryVector {
    if (this.values !== undefined || this.numbers !== undefined || formOf(this.type) !== "bytes") return false;
    return vector.kind === "bytes" || vector.kind === "coded" || (vector.kind === "dictionary" && this.type.kind === "string");
  }

  private numbersFor(values: NumberArray, groupCount: number): Float64Array | Int8Array {
    const { numbers } = this;
    if (this.type.kind === "int" && values instanceof Int8Array && !(numbers instanceof Float64Array))
      return grown(numbers ?? new Int8Array(0), groupCount);
    return grown(numbers instanceof Float64Array ? numbers : Float64Array.from(numbers ?? []), groupCount);
  }

  private asTexts(): KeptTexts {
    const texts = new KeptTexts();
    const { dictionary, codes } = this;
    if (dictionary === undefined) return texts;
    texts.reach(codes.length);
    for (let group = 0; group < codes.length; group++) keepString(texts, group, dictionary[codes[group] as number]);
    this.dictionary = undefined;
    return texts;
  }

  private asValues(): Value[] {
    const { texts, dictionary } = this;
    if (texts !== undefined) {
      this.texts = undefined;
      const vector: Vector = { kind: "bytes", ...texts.texts(texts.bits.length) };
      return Array.from(texts.bits, (_, group) => owned(valueAt(vector, this.type, group)));
    }
    if (dictionary !== undefined) return Array.from(this.codes, (code) => dictionary[code]);
    const isBoolean = this.type.kind === "boolean";
    return Array.from(this.validity, (valid, g) => (valid === 0 ? undefined : isBoolean ? this.numbers?.[g] !== 0 : this.numbers?.[g]));
  }

  /** The column. */
  vector(groupCount: number): Vector {
    if (this.values !== undefined)
      return valuesVector(
        this.type,
        Array.from({ length: groupCount }, (_, g) => this.values?.[g]),
      );
    if (this.texts !== undefined) return { kind: "bytes", ...this.texts.texts(groupCount) };
    if (this.dictionary !== undefined)
      return { kind: "dictionary", codes: grown(this.codes, groupCount).subarray(0, groupCount), dictionary: this.dictionary };
    const validity = grown(this.validity, groupCount).subarray(0, groupCount);
    return {
      kind: "number",
      values: this.numbersFor(this.numbers ?? new Float64Array(0), groupCount).subarray(0, groupCount),
      validity: validity.includes(0) ? validity : undefined,
    };
  }
}

function keepString(texts: KeptTexts, group: number, text: string | undefined): void {
  if (text === undefined) return texts.clear(group);
  const bytes = encoder.encode(text);
  texts.set(group, bytes, 0, bytes.length);
}
