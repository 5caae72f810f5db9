/**
 * Series that rows will name, as the payload of a frame (`FORMAT.md`): a column a tag, its texts once a stream.
 *
 *   count │ tags │ empty: count, places │ columns │ for each: place │ new texts │ codes
 *   codes = dense: one a series, or sparse: (gap, code) of those that have one
 *
 * Columns in which no series has a value are left out: a physical table may have hundreds, of which each series has few.
 */
import { ByteReader, ByteReadError } from "../../base/bytes/byte-reader.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { invalidArguments } from "../../base/error.ts";
import { SERIES_IN_FRAME_MAX, TAGS_MAX } from "./limits.ts";
import type { DefinedSeries } from "./shard-request.ts";

/** How the codes of a column lie there. */
const DENSE = 0;
const SPARSE = 1;

/** One tag of some series. */
export interface SentTag {
  /** Of the tag in the schema's primary key; of those of a frame they ascend. */
  readonly place: number;
  /** Texts that had no code before: they get the next ones, from 1 on. */
  readonly texts: readonly string[];
  /** By series of the frame; 0 is NULL. May be longer. */
  readonly codes: Uint32Array;
}

/**
 * The payload.
 *
 * @param count at most `SERIES_IN_FRAME_MAX`
 * @param tagCount of the primary key, at most `TAGS_MAX`
 * @param emptyTags see `DefinedSeries`
 */
export function encodeSeries(
  count: number,
  tagCount: number,
  tags: readonly SentTag[],
  emptyTags: readonly number[] = [],
): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(count * tags.length * 2 + 64);
  out.varint(count);
  out.varint(tagCount);
  out.varint(emptyTags.length);
  for (const place of emptyTags) out.varint(place);
  const filled = tags.filter(({ codes }) => firstOf(codes, count) < count);
  out.varint(filled.length);
  for (const { place, texts, codes } of filled) {
    out.varint(place);
    out.varint(texts.length);
    for (const text of texts) out.text(text);
    writeCodes(codes, count, out);
  }
  return out.bytes();
}

function firstOf(codes: Uint32Array, count: number): number {
  let at = 0;
  while (at < count && codes[at] === 0) at++;
  return at;
}

function writeCodes(codes: Uint32Array, count: number, out: ByteWriter): void {
  let filled = 0;
  for (let i = 0; i < count; i++) if (codes[i] !== 0) filled++;
  if (filled * 2 >= count) {
    out.u8(DENSE);
    out.varints(codes, count);
    return;
  }
  out.u8(SPARSE);
  out.varint(filled);
  let next = 0;
  for (let i = 0; i < count; i++) {
    const code = codes[i] as number;
    if (code === 0) continue;
    out.varint(i - next);
    out.varint(code);
    next = i + 1;
  }
}

/** Reads the frames of one stream. */
export class SeriesReader {
  /** Series defined so far. */
  count = 0;
  private readonly texts: Map<number, (string | undefined)[]> = new Map();

  /** @throws DbError InvalidArguments */
  read(payload: Uint8Array): DefinedSeries {
    try {
      const defined = this.defined(new ByteReader(payload));
      this.count += defined.count;
      return defined;
    } catch (error) {
      if (error instanceof ByteReadError) throw wrong(error.message, error);
      throw error;
    }
  }

  private defined(from: ByteReader): DefinedSeries {
    const count = within(from.varint(), SERIES_IN_FRAME_MAX, "series");
    const tagCount = within(from.varint(), TAGS_MAX, "tags");
    const emptyTags = Array.from({ length: within(from.varint(), tagCount, "empty tags") }, () => from.varint());
    for (const place of emptyTags) if (place >= tagCount) throw wrong(`an empty tag has place ${place}`);
    const columns = within(from.varint(), tagCount, "columns");
    const empty: readonly undefined[] = new Array<undefined>(count).fill(undefined);
    const tags: (readonly (string | undefined)[])[] = new Array<readonly undefined[]>(tagCount).fill(empty);
    let least = 0;
    for (let i = 0; i < columns; i++) {
      const place = from.varint();
      if (place < least || place >= tagCount) throw wrong(`a column has place ${place}`);
      least = place + 1;
      tags[place] = this.column(place, count, from);
    }
    if (from.remaining > 0) throw wrong(`${from.remaining} bytes follow its end`);
    return { count, tags, emptyTags };
  }

  private column(place: number, count: number, from: ByteReader): readonly (string | undefined)[] {
    let texts = this.texts.get(place);
    if (texts === undefined) {
      texts = [undefined];
      this.texts.set(place, texts);
    }
    const added = within(from.varint(), from.remaining, "texts");
    for (let i = 0; i < added; i++) texts.push(from.text());
    const known = texts;
    const textAt = (code: number): string | undefined => (code < known.length ? known[code] : nowhere(code));
    const form = from.u8();
    if (form === DENSE) return Array.from({ length: within(count, from.remaining, "codes") }, () => textAt(from.varint()));
    if (form !== SPARSE) throw wrong(`a column has form ${form}`);
    const filled = within(from.varint(), count, "values");
    const values = new Array<string | undefined>(count).fill(undefined);
    let next = 0;
    for (let i = 0; i < filled; i++) {
      const at = next + from.varint();
      if (at >= count) throw wrong(`a value is of series ${at} of ${count}`);
      values[at] = textAt(from.varint());
      next = at + 1;
    }
    return values;
  }
}

function within(value: number, most: number, what: string): number {
  return value <= most ? value : tooMany(value, most, what);
}

function tooMany(value: number, most: number, what: string): never {
  throw wrong(`it is said to have ${value} ${what}, and ${most} may be there`);
}

function nowhere(code: number): never {
  throw wrong(`a tag has code ${code}, of no text that came`);
}

function wrong(why: string, cause?: unknown): Error {
  return invalidArguments(`cannot read the series of an answer: ${why}`, cause);
}
