/**
 * What a log record says of the series that its segment has not seen: texts of tag values by code, each once a segment, and the codes of
 * each series. Layout in FORMAT.md.
 *
 * A TSBS series of ten tags takes about 35 B, of which 12 are its own host name; with every text written out it took 115.
 */
import { longer } from "../../base/bytes/longer-array.ts";
import { assert } from "../../base/assert.ts";
import type { ByteReader } from "../../base/bytes/byte-reader.ts";
import type { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { SERIES_PER_TABLE_MAX } from "../../base/limits.ts";
import { type TextTable, utf8Text } from "../../column/text-table.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";

/** Tag values of one table that log segments have defined: the last segment that did, by tag position and code. */
export class TagMarks {
  private readonly marks: Uint32Array[] = [];

  /** The marks of a tag column, with room for codes below `count`. Segment ids are above 0. */
  reserve(position: number, count: number): Uint32Array {
    const known = this.marks[position] ?? new Uint32Array(16);
    const marks = known.length < count ? longer(known, count) : known;
    this.marks[position] = marks;
    return marks;
  }

  /** Bytes held. */
  get byteLength(): number {
    let bytes = 0;
    for (const marks of this.marks) bytes += marks.byteLength;
    return bytes;
  }

  /** Forgets all marks: every value is defined again with its next use. */
  forget(): void {
    this.marks.length = 0;
  }
}

/** Writes the definitions of `series`, marking the values that `segment` now knows. */
export function writeDefinitions(
  series: readonly number[],
  registry: SeriesRegistry,
  marks: TagMarks,
  segment: number,
  out: ByteWriter,
): void {
  const count = series.length;
  out.varint(count);
  if (count === 0) return;
  const { columnCount } = registry;
  if (scratch.length < count) scratch = new Uint32Array(count * 2);
  for (let c = 0; c < columnCount; c++) {
    const texts = registry.textsAt(c);
    const marked = marks.reserve(c, texts.size);
    writeTexts(texts, markFresh(series, registry.codesAt(c), marked, segment, scratch), out);
  }
  for (let i = 0; i < count; i++) scratch[i] = series[i] as number;
  out.varints(scratch, count);
  for (let c = 0; c < columnCount; c++) {
    const codes = registry.codesAt(c);
    for (let i = 0; i < count; i++) scratch[i] = codes[series[i] as number] as number;
    out.varints(scratch, count);
  }
}

/** One number a series that is being written. */
let scratch = new Uint32Array(1024);

/** Writes the codes that `segment` does not know to `fresh`, each once, marks them, and returns how many there are. */
function markFresh(series: readonly number[], codes: Uint32Array, marked: Uint32Array, segment: number, fresh: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < series.length; i++) {
    const code = codes[series[i] as number] as number;
    if (code === 0 || marked[code] === segment) continue;
    marked[code] = segment;
    fresh[count++] = code;
  }
  return count;
}

/** Writes the texts of the first `count` codes of `scratch`. */
function writeTexts({ bytes, starts }: TextTable, count: number, out: ByteWriter): void {
  out.varint(count);
  for (let i = 0; i < count; i++) {
    const code = scratch[i] as number;
    const start = starts[code] as number;
    const end = starts[code + 1] as number;
    out.varint(code);
    out.varint(end - start);
    out.piece(bytes, start, end);
  }
}

/** Tag values that a record defines: value i is `bytes[spans[2 i], spans[2 i + 1])` of the record. */
export interface DefinedTexts {
  /** Of the writing process; 0 never. */
  readonly codes: Uint32Array;
  readonly spans: Uint32Array;
}

/** Definitions read back. */
export interface SeriesDefinitions {
  /** Numbers that the writing process used. */
  readonly series: Uint32Array;
  /** `codes[c][i]`: code of series i in tag column c; 0 is NULL. */
  readonly codes: readonly Uint32Array[];
  /** New values of each tag column. Codes of versions 1 and 2 mean something in this record only; later, in this segment. */
  readonly texts: readonly DefinedTexts[];
  readonly bytes: Uint8Array;
}

/** Reads what `writeDefinitions` wrote. @throws ByteReadError when it ends too early */
export function readDefinitions(input: ByteReader, columnCount: number, bytes: Uint8Array): SeriesDefinitions {
  const count = input.varint();
  const texts: DefinedTexts[] = [];
  const codes: Uint32Array[] = [];
  if (count === 0) return { series: new Uint32Array(0), codes, texts, bytes };
  for (let c = 0; c < columnCount; c++) texts.push(readTexts(input));
  const series = readNumbers(input, count, checkSeries);
  for (let c = 0; c < columnCount; c++) codes.push(readNumbers(input, count, checkCode));
  return { series, codes, texts, bytes };
}

/** Each text takes two bytes at least, so memory for them is bounded by the record. */
function readTexts(input: ByteReader): DefinedTexts {
  const count = input.varint();
  const room = Math.min(count, input.remaining);
  const codes = new Uint32Array(room);
  const spans = new Uint32Array(2 * room);
  for (let i = 0; i < count; i++) {
    const code = input.varint();
    checkCode(code);
    codes[i] = code;
    const length = input.varint();
    spans[2 * i] = input.offset;
    input.raw(length);
    spans[2 * i + 1] = input.offset;
  }
  return { codes, spans };
}

/** Reads the definitions of versions 1 and 2, which write every text out. Codes are positions in the lists of this record. */
export function readDefinitionTexts(input: ByteReader, columnCount: number, bytes: Uint8Array): SeriesDefinitions {
  const series: number[] = [];
  const codes: number[][] = Array.from({ length: columnCount }, () => []);
  const spans: number[][] = Array.from({ length: columnCount }, () => []);
  const known: Map<string, number>[] = Array.from({ length: columnCount }, () => new Map());
  for (let left = input.varint(); left > 0; left--) {
    const number = input.varint();
    checkSeries(number);
    series.push(number);
    for (let c = 0; c < columnCount; c++) {
      const length = input.varint();
      const start = input.offset;
      if (length > 0) input.raw(length - 1);
      codes[c]?.push(length === 0 ? 0 : codeOfText(bytes, start, start + length - 1, spans[c] ?? [], known[c] ?? new Map()));
    }
  }
  const texts = spans.map((column) => ({
    codes: Uint32Array.from({ length: column.length / 2 }, (_, i) => i + 1),
    spans: Uint32Array.from(column),
  }));
  return { series: Uint32Array.from(series), codes: codes.map((column) => Uint32Array.from(column)), texts, bytes };
}

/** Codes are given in the order of first use: value i has code i + 1. */
function codeOfText(bytes: Uint8Array, start: number, end: number, spans: number[], known: Map<string, number>): number {
  const text = utf8Text(bytes, start, end);
  let code = known.get(text);
  if (code === undefined) {
    code = known.size + 1;
    known.set(text, code);
    spans.push(start, end);
  }
  return code;
}

/** Each number takes a byte at least, so memory for them is bounded by the record. */
function readNumbers(input: ByteReader, count: number, check: (value: number) => void): Uint32Array {
  const numbers = new Uint32Array(Math.min(count, input.remaining));
  for (let i = 0; i < count; i++) {
    const number = input.varint();
    check(number);
    numbers[i] = number;
  }
  return numbers;
}

function checkSeries(number: number): void {
  if (number >= SERIES_PER_TABLE_MAX) assert(false, `series number < ${SERIES_PER_TABLE_MAX}; got ${number}`);
}

/** A column has as many values as series at most, and those of rejected writes: twice as many is beyond all. */
function checkCode(code: number): void {
  if (code >= 2 * SERIES_PER_TABLE_MAX) assert(false, `tag code < ${2 * SERIES_PER_TABLE_MAX}; got ${code}`);
}
