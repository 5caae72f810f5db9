/** The symbols of a request of version 2, under numbers that stay the same from request to request. */
import { longer } from "../../base/bytes/longer-array.ts";
import type { ProtoReader } from "../../format/proto/reader.ts";
import { invalid } from "./failure.ts";
import { KeyIndex } from "../common/key-index.ts";
import type { TextReader } from "./label-set.ts";

const UNKNOWN = 0xffff_ffff;

/** See the file header. */
export class Symbols {
  /** Symbols of this request. */
  count = 0;
  private readonly index: KeyIndex = new KeyIndex();
  private readonly texts: TextReader;
  private starts: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private ends: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  /** Number of each symbol of the request that was asked for. */
  private numbers: Uint32Array<ArrayBuffer> = new Uint32Array(1024);

  constructor(texts: TextReader) {
    this.texts = texts;
  }

  get memoryBytes(): number {
    return this.index.memoryBytes + 3 * this.starts.byteLength;
  }

  /** Whether it is time to `clear`. */
  get full(): boolean {
    return this.index.dictionary.full;
  }

  /** Forgets all numbers. */
  clear(): void {
    this.index.clear();
  }

  /** Takes the next symbol of the request: the bytes `[start, end)` of its body. */
  push(start: number, end: number): void {
    const at = this.count++;
    if (at === this.starts.length) {
      this.starts = longer(this.starts);
      this.ends = longer(this.ends);
      this.numbers = longer(this.numbers);
    }
    this.starts[at] = start;
    this.ends[at] = end;
    this.numbers[at] = UNKNOWN;
  }

  /** The lasting number of a symbol. @throws DbError InvalidArguments for one that is not there or is no UTF-8 */
  numberOf(ref: number, { bytes, view }: ProtoReader): number {
    this.check(ref);
    const known = this.numbers[ref] as number;
    if (known !== UNKNOWN) return known;
    const start = this.starts[ref] as number;
    const end = this.ends[ref] as number;
    let number = this.index.find(view, start, end);
    if (number < 0) {
      const text = this.texts.text(bytes, start, end);
      number = this.index.add(bytes, start, end, { table: text, names: [], values: [] });
    }
    this.numbers[ref] = number;
    return number;
  }

  /** The text of a lasting number. */
  textOf(number: number): string {
    return this.index.dictionary.shapeOf(number).table;
  }

  /** The text of a symbol that is not remembered. @throws DbError InvalidArguments for one that is not there or is no UTF-8 */
  text(ref: number, { bytes }: ProtoReader): string {
    this.check(ref);
    return this.texts.text(bytes, this.starts[ref] as number, this.ends[ref] as number);
  }

  /** Begins a request. */
  begin(): void {
    this.count = 0;
  }

  /** @throws DbError InvalidArguments unless the first symbol is the empty text */
  checkFirst(): void {
    if (this.count === 0 || this.starts[0] !== this.ends[0]) throw invalid("the first symbol must be the empty text");
  }

  private check(ref: number): void {
    if (ref >= this.count) throw invalid(`a reference to symbol ${ref} where there are ${this.count}`);
  }
}
