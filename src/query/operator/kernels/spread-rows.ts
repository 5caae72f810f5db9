/**
 * Rows spread over parts by a hash of their keys: a table of a part, and what goes with it, stays in the cache while some thousand of its
 * rows are worked on, where one table of all is a miss of the cache a row.
 *
 *   batch   1,024 rows at a time ─► hash ─► part ─► place behind the rows that the part has ─► each column is copied to the places
 *   part    p: places [p * ROOM_ROWS, …) of each column; given out once there are PART_ROWS, in the order they came
 *
 * Measured: `../aggregate/README.md`.
 */
import { HASH_FACTOR, HASH_SEED } from "../../../base/bytes/hash.ts";
import { assert } from "../../../base/assert.ts";
import type { BytesVector, CodedVector, NumberArray, Validity, Vector } from "../../../column/vector.ts";
import { arrayLoop } from "./array-loop.ts";
import type { HashedTexts } from "./texts/compact-texts.ts";
import { textHash, viewOf } from "./texts/text-hash.ts";

const PART_BITS = 8;
/** Parts of the rows. */
export const PARTS: number = 1 << PART_BITS;
/** Rows that a part gathers. */
const PART_ROWS = 4096;
/** Rows that are spread before parts are looked at. */
const STEP_ROWS = 1024;
/** Places of a part. */
const ROOM_ROWS = PART_ROWS + STEP_ROWS;

/** What a column of rows is held as: one word a row, two (low first), a double, or bytes. */
export type SpreadForm = "word" | "pair" | "double" | "bytes";

/** Bytes of texts that a part gathers. */
const PART_BYTES = 128 * 1024;

/** Bytes that the places of a column take, about. */
export function spreadBytes(form: SpreadForm): number {
  return PARTS * (ROOM_ROWS * (form === "word" ? 5 : 9) + (form === "bytes" ? PART_BYTES : 0));
}

/** A column of rows that come: words as `lanes.ts` writes them, or any numbers. */
export interface ComingNumbers {
  readonly kind: "number";
  readonly values: NumberArray;
  readonly validity: Validity;
}

/** Texts that come, as they are or by code, with the hash of each. */
export interface ComingTexts {
  readonly kind: "texts";
  readonly texts: BytesVector | CodedVector;
  readonly hashes: Int32Array;
}

/** See above. */
export type ComingColumn = ComingNumbers | ComingTexts;

/** What words are mixed with where there is none. */
const NULL_WORD = 0x5bd1e995;

/** Folds a column of words into the hashes of rows, `width` words each: equal rows, equal hashes. */
export function foldWords(words: Int32Array, width: 1 | 2, validity: Validity, rowCount: number, hashes: Int32Array): void {
  if (validity !== undefined) foldSome(words, width, validity, rowCount, hashes);
  else if (width === 1) foldSingles(words, rowCount, hashes);
  else foldPairs(words, rowCount, hashes);
}

function foldSingles(words: Int32Array, rowCount: number, hashes: Int32Array): void {
  for (let i = 0; i < rowCount; i++) {
    const h = Math.imul(hashes[i]! ^ words[i]!, 0x85ebca6b);
    hashes[i] = Math.imul(h ^ (h >>> 15), HASH_FACTOR);
  }
}

function foldPairs(words: Int32Array, rowCount: number, hashes: Int32Array): void {
  for (let i = 0; i < rowCount; i++) {
    let h = Math.imul(hashes[i]! ^ words[2 * i]!, 0x85ebca6b);
    h = Math.imul(Math.imul(h ^ (h >>> 15), HASH_FACTOR) ^ words[2 * i + 1]!, 0x85ebca6b);
    hashes[i] = Math.imul(h ^ (h >>> 15), HASH_FACTOR);
  }
}

/** Words under NULL are arbitrary. */
function foldSome(words: Int32Array, width: 1 | 2, validity: Uint8Array, rowCount: number, hashes: Int32Array): void {
  for (let i = 0; i < rowCount; i++) {
    const isNull = validity[i] === 0;
    let h = Math.imul(hashes[i]! ^ (isNull ? NULL_WORD : words[i * width]!), 0x85ebca6b);
    if (width === 2) h = Math.imul(Math.imul(h ^ (h >>> 15), HASH_FACTOR) ^ (isNull ? NULL_WORD : words[2 * i + 1]!), 0x85ebca6b);
    hashes[i] = Math.imul(h ^ (h >>> 15), HASH_FACTOR);
  }
}

/** The part of each row, from hashes that all columns of keys were folded into. */
export function partsOf(hashes: Int32Array, rowCount: number, parts: Uint8Array): void {
  for (let i = 0; i < rowCount; i++) {
    const h = Math.imul(hashes[i]!, 0xc2b2ae35);
    parts[i] = (h ^ (h >>> 13)) >>> (32 - PART_BITS);
  }
}

/** The hashes of texts (`text-hash.ts`); those of NULL are all the same. */
export function hashTexts(column: BytesVector | CodedVector, rowCount: number, into: Int32Array): void {
  const codes = column.kind === "coded" ? column.codes : undefined;
  const validity = column.kind === "coded" ? undefined : column.validity;
  const view = viewOf(column.kind === "coded" ? column.entries.bytes : column.bytes);
  const starts = column.kind === "coded" ? column.entries.starts : column.offsets;
  for (let i = 0; i < rowCount; i++) {
    const entry = codes === undefined ? i : codes[i]!;
    const isNull = codes === undefined ? validity !== undefined && validity[i] === 0 : entry === 0;
    into[i] = isNull ? NULL_WORD : textHash(view, starts[entry]!, starts[entry + 1]!);
  }
}

/** Begins the hashes of rows. */
export function beginHashes(hashes: Int32Array, rowCount: number): void {
  hashes.fill(HASH_SEED ^ 0x2545f491, 0, rowCount);
}

/** Row positions part by part, ascending in each, and where each part begins; with the number of rows at the end. */
export function byPart(parts: Uint8Array, rowCount: number): { readonly order: Uint32Array; readonly starts: Uint32Array } {
  const starts = new Uint32Array(PARTS + 1);
  for (let i = 0; i < rowCount; i++) starts[parts[i]! + 1]!++;
  for (let p = 0; p < PARTS; p++) starts[p + 1]! += starts[p]!;
  const next = starts.slice(0, PARTS);
  const order = new Uint32Array(rowCount);
  for (let i = 0; i < rowCount; i++) order[next[parts[i]!]!++] = i;
  return { order, starts };
}

/** Places of rows `[from, to)`, each behind those that its part has: `ends` go on. */
function place(parts: Uint8Array, from: number, to: number, ends: Uint32Array, places: Uint32Array): void {
  for (let i = from; i < to; i++) places[i - from] = ends[parts[i]!]!++;
}

type Scatter = (v: NumberArray, from: number, to: number, places: Uint32Array, out: NumberArray) => void;

function scatterPairs(v: NumberArray, from: number, to: number, places: Uint32Array, out: NumberArray): void {
  for (let i = from; i < to; i++) {
    const at = places[i - from]! * 2;
    out[at] = v[2 * i]!;
    out[at + 1] = v[2 * i + 1]!;
  }
}

function scatter(v: NumberArray, form: SpreadForm): Scatter {
  return arrayLoop(`spread-${form}`, ["v", "from", "to", "places", "out"], v, undefined, () => {
    return "for (let i = from; i < to; i++) out[places[i - from]] = v[i];";
  });
}

/** One column of the rows that are held. */
interface SpreadColumn {
  /** Copies rows `[from, to)` to their places. */
  take(column: ComingColumn, parts: Uint8Array, from: number, to: number, places: Uint32Array): void;
  /** The rows of a part, at places `[from, to)`; it has none then. */
  vector(part: number, from: number, to: number): Vector;
}

/** Marks the places of rows `[from, to)` that are NULL, where `marks` are 0; undefined as long as there is none. */
function spreadMarks(
  known: Uint8Array<ArrayBuffer> | undefined,
  marks: Uint8Array | Uint32Array | undefined,
  from: number,
  to: number,
  places: Uint32Array,
): Uint8Array<ArrayBuffer> | undefined {
  if (known === undefined && (marks === undefined || !marks.subarray(from, to).includes(0))) return undefined;
  const validity = known ?? new Uint8Array(PARTS * ROOM_ROWS).fill(1);
  for (let i = from; i < to; i++) validity[places[i - from]!] = marks === undefined || marks[i] !== 0 ? 1 : 0;
  return validity;
}

class SpreadNumbers implements SpreadColumn {
  readonly form: Exclude<SpreadForm, "bytes">;
  private readonly values: Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
  /** Undefined as long as nothing is NULL. */
  private validity: Uint8Array<ArrayBuffer> | undefined;

  constructor(form: Exclude<SpreadForm, "bytes">) {
    this.form = form;
    const places = PARTS * ROOM_ROWS;
    this.values = form === "double" ? new Float64Array(places) : new Int32Array(form === "pair" ? places * 2 : places);
  }

  take(column: ComingColumn, _: Uint8Array, from: number, to: number, places: Uint32Array): void {
    assert(column.kind === "number", "numbers are spread as numbers");
    const { values, validity } = column;
    if (this.form === "pair") scatterPairs(values, from, to, places, this.values);
    else scatter(values, this.form)(values, from, to, places, this.values);
    this.validity = spreadMarks(this.validity, validity, from, to, places);
  }

  /** Pairs come as 64-bit integers, whatever they stand for. */
  vector(_: number, from: number, to: number): Vector {
    const { values, form } = this;
    const validity = this.validity?.subarray(from, to);
    if (form !== "pair") return { kind: "number", values: values.subarray(from, to), validity };
    return { kind: "wide", values: new BigInt64Array(values.buffer, from * 8, to - from), validity };
  }
}

class SpreadTexts implements SpreadColumn {
  /** By place: where the text begins among those of its part; that of the next is its end. */
  private readonly offsets: Uint32Array = new Uint32Array(PARTS * (ROOM_ROWS + 1));
  private readonly hashes: Int32Array = new Int32Array(PARTS * ROOM_ROWS);
  private readonly bytes: Uint8Array<ArrayBuffer> = new Uint8Array(PARTS * PART_BYTES);
  private readonly view: DataView = viewOf(this.bytes);
  /** By part: bytes that it has, and that it would have more. */
  private readonly ends: Uint32Array = new Uint32Array(PARTS);
  private readonly more: Uint32Array = new Uint32Array(PARTS);
  private validity: Uint8Array<ArrayBuffer> | undefined;

  /** Makes room for rows `[from, to)`: full parts are given out. False where those of a part are too long for it. */
  reach(column: ComingColumn, parts: Uint8Array, from: number, to: number, give: (part: number) => void): boolean {
    assert(column.kind === "texts", "texts are spread as texts");
    const { texts } = column;
    const { more, ends } = this;
    more.fill(0);
    if (texts.kind === "coded") {
      const { codes, entries } = texts;
      for (let i = from; i < to; i++) more[parts[i]!]! += entries.starts[codes[i]! + 1]! - entries.starts[codes[i]!]!;
    } else for (let i = from; i < to; i++) more[parts[i]!]! += texts.offsets[i + 1]! - texts.offsets[i]!;
    for (let part = 0; part < PARTS; part++) if (more[part]! > PART_BYTES) return false;
    for (let part = 0; part < PARTS; part++) if (ends[part]! + more[part]! > PART_BYTES) give(part);
    return true;
  }

  take(column: ComingColumn, parts: Uint8Array, from: number, to: number, places: Uint32Array): void {
    assert(column.kind === "texts", "texts are spread as texts");
    const { texts, hashes } = column;
    const isCoded = texts.kind === "coded";
    const codes = isCoded ? texts.codes : undefined;
    this.copy(isCoded ? texts.entries.bytes : texts.bytes, isCoded ? texts.entries.starts : texts.offsets, codes, parts, from, to, places);
    for (let i = from; i < to; i++) this.hashes[places[i - from]!] = hashes[i]!;
    this.validity = spreadMarks(this.validity, texts.kind === "coded" ? texts.codes : texts.validity, from, to, places);
  }

  private copy(
    bytes: Uint8Array,
    starts: Uint32Array,
    codes: Uint32Array | undefined,
    parts: Uint8Array,
    from: number,
    to: number,
    places: Uint32Array,
  ): void {
    const source = viewOf(bytes);
    const { offsets, view, ends, bytes: all } = this;
    for (let i = from; i < to; i++) {
      const part = parts[i]!;
      const entry = codes === undefined ? i : codes[i]!;
      let at = starts[entry]!;
      const end = starts[entry + 1]!;
      const base = part * PART_BYTES;
      let target = base + ends[part]!;
      if (end - at > LONG_BYTES) {
        all.set(bytes.subarray(at, end), target);
        target += end - at;
      } else {
        for (; at + 4 <= end; at += 4, target += 4) view.setInt32(target, source.getInt32(at, true), true);
        for (; at < end; at++, target++) all[target] = bytes[at]!;
      }
      ends[part] = target - base;
      // Each part has one offset more than it has places.
      offsets[places[i - from]! + part + 1] = target - base;
    }
  }

  vector(part: number, from: number, to: number): HashedBytes {
    const base = part * PART_BYTES;
    const bytes = this.bytes.subarray(base, base + this.ends[part]!);
    this.ends[part] = 0;
    const offsets = this.offsets.subarray(from + part, to + part + 1);
    return { kind: "bytes", offsets, bytes, validity: this.validity?.subarray(from, to), hashes: this.hashes.subarray(from, to) };
  }
}

type HashedBytes = BytesVector & HashedTexts;

/** Texts longer than that are copied by a native call. */
const LONG_BYTES = 128;

/** Takes the rows of a part, whose vectors are valid until it returns. */
export type TakePart = (part: number, rowCount: number, vectors: readonly Vector[]) => void;

/** See the file header. */
export class SpreadRows {
  private readonly columns: readonly SpreadColumn[];
  private readonly ends: Uint32Array;
  private readonly places: Uint32Array = new Uint32Array(STEP_ROWS);
  private readonly give: TakePart;

  constructor(forms: readonly SpreadForm[], give: TakePart) {
    this.columns = forms.map((form) => (form === "bytes" ? new SpreadTexts() : new SpreadNumbers(form)));
    this.ends = Uint32Array.from({ length: PARTS }, (_, part) => part * ROOM_ROWS);
    this.give = give;
  }

  /**
   * Takes rows, a column for each form, which it copies, up to where there is no room for texts: rows `[0, taken)`.
   *
   * @param parts the part of each row
   */
  add(columns: readonly ComingColumn[], parts: Uint8Array, rowCount: number): number {
    const { ends, places } = this;
    const flush = (part: number): void => this.flushPart(part);
    for (let from = 0; from < rowCount; from += STEP_ROWS) {
      const to = Math.min(rowCount, from + STEP_ROWS);
      for (let c = 0; c < columns.length; c++) {
        const column = this.columns[c];
        if (column instanceof SpreadTexts && !column.reach(columns[c]!, parts, from, to, flush)) return from;
      }
      place(parts, from, to, ends, places);
      for (let c = 0; c < columns.length; c++) this.columns[c]!.take(columns[c]!, parts, from, to, places);
      for (let part = 0; part < PARTS; part++) {
        if (ends[part]! - part * ROOM_ROWS >= PART_ROWS) this.flushPart(part);
      }
    }
    return rowCount;
  }

  /** Gives out all rows that are held, a part a step: all at once, they take some ten milliseconds. */
  *flushing(): Generator<void, void> {
    for (let part = 0; part < PARTS; part++) {
      this.flushPart(part);
      yield;
    }
  }

  private flushPart(part: number): void {
    const from = part * ROOM_ROWS;
    const to = this.ends[part]!;
    if (to === from) return;
    this.ends[part] = from;
    const vectors = this.columns.map((column) => column.vector(part, from, to));
    this.give(part, to - from, vectors);
  }
}
