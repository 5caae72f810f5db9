/**
 * The index of a block of Prometheus: its series, one after the other, each with its labels and where its chunks lie.
 *
 * Source: tsdb/docs/format/index.md of Prometheus; version 2, in which labels name symbols by their number. The file is mapped, not read.
 */
import { crc32c } from "../../../ingest/prometheus/read/read-series.ts";
import type { Label } from "./series-pieces.ts";

const MAGIC = 0xbaaa_d700;
const VERSION = 2;
const TOC_BYTES = 52;
const SERIES_ALIGNMENT = 16;
const CRC_BYTES = 4;

/** A series of a block. */
export interface BlockSeries {
  readonly labels: readonly Label[];
  /** Places of its chunks: the segment's number from 0, and the byte in it. */
  readonly chunks: readonly { readonly segment: number; readonly offset: number }[];
  /** Where its entry ends in the index. */
  readonly end: number;
}

/** See the file header. */
export class BlockIndex {
  /** First and last byte of the series' entries. */
  readonly seriesStart: number;
  readonly seriesEnd: number;
  private readonly path: string;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly symbols: Float64Array;
  private readonly texts: Map<number, string> = new Map();

  /** @throws Error for a file that is no index of this version, or is damaged */
  constructor(path: string, bytes: Uint8Array) {
    this.path = path;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < TOC_BYTES + 5 || this.view.getUint32(0) !== MAGIC) throw this.damaged("it is no index of a block", 0);
    const version = bytes[4];
    if (version !== VERSION) throw new Error(`cannot read ${path}: version ${version}; only ${VERSION} is read`);
    const toc = bytes.length - TOC_BYTES;
    this.checkSum(toc, TOC_BYTES - CRC_BYTES);
    const places = Array.from({ length: 6 }, (_, i) => Number(this.view.getBigUint64(toc + i * 8)));
    const [symbolsAt = 0, seriesAt = 0] = places;
    this.symbols = this.readSymbols(symbolsAt);
    this.seriesStart = seriesAt;
    this.seriesEnd = Math.min(toc, ...places.slice(2).filter((place) => place > seriesAt));
  }

  /** All series, in the order of their labels. @throws Error where the index is damaged */
  *series(): Generator<BlockSeries> {
    for (let at = this.seriesStart; at < this.seriesEnd; ) {
      at = Math.ceil(at / SERIES_ALIGNMENT) * SERIES_ALIGNMENT;
      if (at >= this.seriesEnd) return;
      const entry = new Numbers(this, at);
      const length = entry.unsigned();
      if (length === 0) return; // What is left up to the next section is filled up.
      this.checkSum(entry.at, length);
      const end = entry.at + length + CRC_BYTES;
      yield this.entry(entry, end);
      at = end;
    }
  }

  private entry(entry: Numbers, end: number): BlockSeries {
    const labels: Label[] = [];
    for (let left = entry.unsigned(); left > 0; left--) labels.push([this.text(entry.unsigned()), this.text(entry.unsigned())]);
    const chunks: { segment: number; offset: number }[] = [];
    let reference = 0;
    for (let left = entry.unsigned(); left > 0; left--) {
      // Times are those of the chunk, which has them too: the first one signed, the others as differences.
      if (chunks.length === 0) entry.signed();
      else entry.unsigned();
      entry.unsigned();
      reference = chunks.length === 0 ? entry.unsigned() : reference + entry.signed();
      chunks.push({ segment: Math.floor(reference / 2 ** 32), offset: reference % 2 ** 32 });
      if (entry.at > end) throw this.damaged("an entry that is longer than it says", entry.at);
    }
    return { labels, chunks, end };
  }

  private readSymbols(at: number): Float64Array {
    this.need(at, 8);
    const length = this.view.getUint32(at);
    this.checkSum(at + 4, length);
    const count = this.view.getUint32(at + 4);
    if (count > length) throw this.damaged(`${count} symbols in ${length} bytes`, at);
    const places = new Float64Array(count);
    const numbers = new Numbers(this, at + 8);
    for (let i = 0; i < count; i++) {
      places[i] = numbers.at;
      const bytes = numbers.unsigned();
      numbers.at += bytes;
    }
    return places;
  }

  private text(symbol: number): string {
    let text = this.texts.get(symbol);
    if (text !== undefined) return text;
    const place = this.symbols[symbol];
    if (place === undefined) throw this.damaged(`symbol ${symbol} of ${this.symbols.length}`, 0);
    const numbers = new Numbers(this, place);
    const length = numbers.unsigned();
    this.need(numbers.at, length);
    text = Buffer.from(this.bytes.subarray(numbers.at, numbers.at + length)).toString("utf8");
    this.texts.set(symbol, text);
    return text;
  }

  private checkSum(at: number, length: number): void {
    this.need(at, length + CRC_BYTES);
    if (crc32c(this.bytes.subarray(at, at + length)) !== this.view.getUint32(at + length)) throw this.damaged("a wrong checksum", at);
  }

  /** The byte at a place. @throws Error behind the end */
  byte(at: number): number {
    const byte = this.bytes[at];
    if (byte === undefined) throw this.damaged("it is cut off", at);
    return byte;
  }

  private need(at: number, length: number): void {
    if (!(at >= 0 && length >= 0 && at + length <= this.bytes.length)) throw this.damaged("it is cut off", at);
  }

  private damaged(why: string, at: number): Error {
    return new Error(`cannot read ${this.path}: ${why}, at byte ${at}`);
  }
}

/** Numbers of seven bits a byte. */
class Numbers {
  at: number;
  private readonly index: BlockIndex;

  constructor(index: BlockIndex, at: number) {
    this.index = index;
    this.at = at;
  }

  unsigned(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 64; scale *= 128) {
      const byte = this.index.byte(this.at++);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new Error(`a number of more than ten bytes at byte ${this.at}`);
  }

  signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
