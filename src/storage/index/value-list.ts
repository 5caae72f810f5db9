/**
 * The list of a column's distinct values, in order, each with the pages where it occurs. Laid out so that it is searched as it
 * lies (FORMAT.md): no object a value.
 *
 *   values  [ 200 | 404 | 500 ]        500 ─► pages 3, 17
 */
import { countingUp } from "../../base/bytes/counting-up.ts";
import { ByteReader } from "../../base/bytes/byte-reader.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import type { DataType } from "../../column/data-type.ts";
import type { BytesVector, Scalar, Vector } from "../../column/vector.ts";
import { compareBytes } from "../../format/parquet/page/statistics.ts";
import { LIST_BYTES_MAX, LIST_VALUES_MAX } from "./limits.ts";
import { PairSet } from "./pair-set.ts";
import { type KeyKind, RowKeys } from "./value-keys.ts";
import { numberOrderOf, type NumberOrder, type Place, placeOf, toOrdered } from "./value-order.ts";

const encoder = new TextEncoder();

/** What a value list is made of: distinct keys, the first row of each, and which value occurs in which page, ordered by page. */
interface Gathered {
  readonly keys: PairSet;
  readonly firstRows: number[];
  readonly ids: number[];
  readonly pages: number[];
}

/**
 * The encoded list of the rows of pages.
 *
 * @param pageEnds ends of the pages, ascending; rows begin at 0
 * @returns undefined when there are too many values for a list
 */
export function encodeValueList(vector: Vector, type: DataType, kind: KeyKind, pageEnds: Uint32Array): Uint8Array<ArrayBuffer> | undefined {
  const gathered = gather(vector, kind, pageEnds);
  if (gathered === undefined) return undefined;
  const { keys, firstRows, ids, pages } = gathered;
  const texts = vector.kind === "bytes" ? vector : undefined;
  if (texts === undefined) toOrdered(keys.highs, keys.lows, keys.count, numberOrderOf(type));
  const order = texts === undefined ? orderOfNumbers(keys) : orderOfTexts(texts, firstRows);
  const out = new ByteWriter(1 << 14);
  out.u32(keys.count);
  out.u32(pageEnds.length);
  for (const end of pageEnds) out.u32(end);
  const postings = postingsOf(order, ids, pages, keys.count);
  for (const end of postings.ends) out.u32(end);
  if (texts === undefined) {
    for (const id of order) out.u32(keys.highs[id]!);
    for (const id of order) out.u32(keys.lows[id]!);
  } else writeTexts(out, texts, order, firstRows);
  out.raw(postings.bytes);
  const header = new ByteWriter(16);
  header.u32(out.length);
  header.raw(Bun.zstdCompressSync(out.bytes(), { level: 1 }));
  return header.copy();
}

function gather(vector: Vector, kind: KeyKind, pageEnds: Uint32Array): Gathered | undefined {
  const keys = new PairSet(LIST_VALUES_MAX);
  const taken = new RowKeys();
  const firstRows: number[] = [];
  const lastPage = new Int32Array(LIST_VALUES_MAX).fill(-1);
  const ids: number[] = [];
  const pages: number[] = [];
  let bytes = 0;
  for (let page = 0; page < pageEnds.length; page++) {
    taken.take(vector, kind, page === 0 ? 0 : pageEnds[page - 1]!, pageEnds[page]!);
    for (let i = 0; i < taken.count; i++) {
      const known = keys.count;
      const id = keys.add(taken.highs[i]!, taken.lows[i]!);
      if (id < 0) return undefined;
      const row = taken.rows[i]!;
      if (vector.kind === "bytes") {
        if (id < known && !sameBytes(vector, firstRows[id]!, row)) return undefined; // Two texts of one hash.
        if (id === known) bytes += vector.offsets[row + 1]! - vector.offsets[row]!;
        if (bytes > LIST_BYTES_MAX) return undefined;
      }
      if (id === known) firstRows.push(row);
      if (lastPage[id] === page) continue;
      lastPage[id] = page;
      ids.push(id);
      pages.push(page);
    }
  }
  return { keys, firstRows, ids, pages };
}

function sameBytes({ offsets, bytes }: BytesVector, a: number, b: number): boolean {
  const start = offsets[a]!;
  const other = offsets[b]!;
  const length = offsets[a + 1]! - start;
  if (offsets[b + 1]! - other !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[start + i] !== bytes[other + i]) return false;
  return true;
}

function orderOfNumbers({ highs, lows, count }: PairSet): Uint32Array {
  return countingUp(count).sort((a, b) => highs[a]! - highs[b]! || lows[a]! - lows[b]!);
}

function orderOfTexts({ offsets, bytes }: BytesVector, firstRows: readonly number[]): Uint32Array {
  return countingUp(firstRows.length).sort((a, b) => {
    const [x, y] = [firstRows[a]!, firstRows[b]!];
    return compareBytes(bytes, offsets[x]!, offsets[x + 1]!, bytes, offsets[y]!, offsets[y + 1]!);
  });
}

function writeTexts(out: ByteWriter, { offsets, bytes }: BytesVector, order: Uint32Array, firstRows: readonly number[]): void {
  let end = 0;
  for (const id of order) {
    const row = firstRows[id]!;
    end += offsets[row + 1]! - offsets[row]!;
    out.u32(end);
  }
  for (const id of order) {
    const row = firstRows[id]!;
    out.raw(bytes.subarray(offsets[row], offsets[row + 1]));
  }
}

/** Pages of each value in the order of values: differences as varints. */
function postingsOf(
  order: Uint32Array,
  ids: readonly number[],
  pages: readonly number[],
  count: number,
): { readonly ends: Uint32Array; readonly bytes: Uint8Array } {
  const rankOf = new Uint32Array(count);
  for (let rank = 0; rank < count; rank++) rankOf[order[rank]!] = rank;
  const starts = new Uint32Array(count + 1);
  for (const id of ids) starts[rankOf[id]! + 1]!++;
  for (let rank = 0; rank < count; rank++) starts[rank + 1]! += starts[rank]!;
  const sorted = new Uint32Array(ids.length);
  const next = starts.slice();
  for (let i = 0; i < ids.length; i++) sorted[next[rankOf[ids[i]!]!]!++] = pages[i]!; // Stable, so pages ascend.
  const out = new ByteWriter(1 << 14);
  const ends = new Uint32Array(count);
  for (let rank = 0; rank < count; rank++) {
    let last = -1;
    for (let i = starts[rank]!; i < starts[rank + 1]!; i++) {
      out.varint(sorted[i]! - last - 1);
      last = sorted[i]!;
    }
    ends[rank] = out.length;
  }
  return { ends, bytes: out.bytes() };
}

/** A value list as it was read. */
export class ValueList {
  /** Ends of the pages, counted from the first row of the list. */
  readonly pageEnds: Uint32Array;
  private readonly count: number;
  private readonly kind: KeyKind;
  private readonly order: NumberOrder;
  private readonly postingEnds: Uint32Array;
  /** Halves of numbers, or ends of texts. */
  private readonly highs: Uint32Array;
  private readonly lows: Uint32Array;
  private readonly texts: Uint8Array;
  private readonly postings: Uint8Array;

  /**
   * @param plain from `unpackValueList`; kept
   * @throws ByteReadError when the bytes are damaged
   */
  constructor(plain: Uint8Array, type: DataType, kind: KeyKind) {
    const input = new ByteReader(plain);
    this.count = input.u32();
    this.pageEnds = wordsOf(input, input.u32());
    this.kind = kind;
    this.order = numberOrderOf(type);
    this.postingEnds = wordsOf(input, this.count);
    this.highs = wordsOf(input, this.count);
    this.lows = kind === "bytes" ? new Uint32Array(0) : wordsOf(input, this.count);
    this.texts = kind === "bytes" ? input.raw(this.highs[this.count - 1] ?? 0) : new Uint8Array(0);
    this.postings = input.raw(this.postingEnds[this.count - 1] ?? 0);
  }

  /** Marks pages that hold a value equal to `value`. Returns false, and marks nothing, when the list cannot tell. */
  markEqual(value: Scalar, marks: Uint8Array): boolean {
    return this.markRange(value, value, marks);
  }

  /** Marks pages that hold a value in `[min, max]`; undefined is open. Returns false, and marks nothing, when the list cannot tell. */
  markRange(min: Scalar, max: Scalar, marks: Uint8Array): boolean {
    const low = min === undefined ? undefined : this.probeOf(min);
    const high = max === undefined ? undefined : this.probeOf(max);
    if ((min !== undefined && low === undefined) || (max !== undefined && high === undefined)) return false;
    for (let at = low === undefined ? 0 : this.firstNotBelow(low); at < this.count; at++) {
      if (high !== undefined && this.compare(at, high) > 0) break;
      this.mark(at, marks);
    }
    return true;
  }

  private mark(at: number, marks: Uint8Array): void {
    const input = new ByteReader(this.postings, at === 0 ? 0 : this.postingEnds[at - 1]!);
    let page = -1;
    while (input.offset < this.postingEnds[at]!) {
      page += input.varint() + 1;
      marks[page] = 1;
    }
  }

  /** What a value is compared as; undefined when it is none of the list's kind. */
  private probeOf(value: Scalar): Uint8Array | Place | undefined {
    if (this.kind !== "bytes") return placeOf(value, this.kind, this.order);
    return typeof value === "string" ? encoder.encode(value) : value instanceof Uint8Array ? value : undefined;
  }

  /** Position of the first value that is not below `probe`. */
  private firstNotBelow(probe: Uint8Array | Place): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(middle, probe) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Negative, 0 or positive as the value at `at` is below, equal to or above `probe`. */
  private compare(at: number, probe: Uint8Array | Place): number {
    if (probe === "below") return 1;
    if (probe === "above") return -1;
    if (probe instanceof Uint8Array) {
      return compareBytes(this.texts, at === 0 ? 0 : this.highs[at - 1]!, this.highs[at]!, probe, 0, probe.length);
    }
    return this.highs[at]! - probe.high || this.lows[at]! - probe.low;
  }
}

/** The plain bytes of an encoded list. @throws Error of the decompressor when they are damaged */
export function unpackValueList(bytes: Uint8Array): Uint8Array {
  const length = new ByteReader(bytes).u32();
  const plain = new Uint8Array(Bun.zstdDecompressSync(bytes.subarray(4)));
  if (plain.length !== length) throw new Error(`a value list of ${length} bytes; got ${plain.length}`);
  return plain;
}

function wordsOf(input: ByteReader, count: number): Uint32Array {
  const bytes = input.raw(count * 4);
  const words = new Uint32Array(count);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let i = 0; i < count; i++) words[i] = view.getUint32(i * 4, true);
  return words;
}
