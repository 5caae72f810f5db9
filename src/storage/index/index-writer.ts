/**
 * Column indexes of a file while it is written: each append of rows leaves its filters and value lists in the file at once, so that only
 * the directory is kept.
 *
 *   rows ─► keys of a block ─► filter ─► place(bytes) ─► directory entry
 */
import { crc32 } from "../../base/bytes/hash.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import type { IndexEntry, IndexPiece } from "./directory-codec.ts";
import type { IndexKind, IndexSpec } from "./index-spec.ts";
import { buildFilter } from "./key-filter.ts";
import { FILTER_KEYS_MAX } from "./limits.ts";
import { PairSet } from "./pair-set.ts";
import { TextKeys } from "./text-keys.ts";
import { RowKeys } from "./value-keys.ts";
import { encodeValueList } from "./value-list.ts";

/** Writes bytes to the file and says where they begin. */
export type PlaceBytes = (bytes: Uint8Array) => number;

/** Pieces of one index so far. */
interface Stream {
  readonly columnId: number;
  readonly kind: IndexKind;
  readonly pieces: IndexPiece[];
  rowCount: number;
}

/** See the file header. Scratch: the keys of one block (36 MB at most) and 2 MB of marks when there are texts. */
export class IndexWriter {
  private readonly specs: readonly IndexSpec[];
  private readonly place: PlaceBytes;
  private readonly streams: Map<string, Stream> = new Map();
  private readonly keys = new PairSet(FILTER_KEYS_MAX);
  private readonly rowKeys = new RowKeys();
  private readonly texts: TextKeys | undefined;
  private rowCount = 0;

  constructor(specs: readonly IndexSpec[], place: PlaceBytes) {
    this.specs = specs;
    this.place = place;
    this.texts = specs.some(({ kind }) => kind === "words") ? new TextKeys() : undefined;
  }

  /**
   * Indexes the next rows, which end with the last page.
   *
   * @param pageEnds ends of the pages, counted from the first of the rows
   * @param vectorOf gives a field by its position in the schema; vectors are borrowed
   */
  append(pageEnds: Uint32Array, vectorOf: (position: number) => { readonly vector: Vector; readonly type: DataType }): void {
    for (const spec of this.specs) {
      const { vector, type } = vectorOf(spec.position);
      if (spec.kind === "list") this.addList(spec, vector, type, pageEnds);
      else this.addFilters(spec, spec.kind, vector, pageEnds);
    }
    this.rowCount += pageEnds.at(-1) ?? 0;
  }

  /** The directory's entries; none when no column has an index. */
  finish(): readonly IndexEntry[] {
    for (const stream of this.streams.values()) this.fillUp(stream, this.rowCount);
    return [...this.streams.values()].filter(({ pieces }) => pieces.some(({ length }) => length > 0));
  }

  /** A column with too many values for a list gets filters of them. */
  private addList(spec: IndexSpec, vector: Vector, type: DataType, pageEnds: Uint32Array): void {
    const bytes = encodeValueList(vector, type, spec.keyKind, pageEnds);
    if (bytes === undefined) this.addFilters(spec, "values", vector, pageEnds);
    else this.add(this.streamOf(spec.columnId, "list"), pageEnds.at(-1) ?? 0, bytes);
  }

  private addFilters(spec: IndexSpec, kind: "values" | "words", vector: Vector, pageEnds: Uint32Array): void {
    const stream = this.streamOf(spec.columnId, kind);
    // Both a skipping index and a list that was too long ask for filters of values: one of them is enough.
    if (stream.rowCount > this.rowCount) return;
    let start = 0;
    for (const end of blockEnds(pageEnds, spec.granularity)) {
      this.keys.clear();
      const fits = kind === "values" ? this.gatherValues(vector, spec, start, end) : this.gatherWords(vector, start, end);
      this.add(stream, end - start, fits ? buildFilter(this.keys, spec.falsePositiveRate) : undefined);
      start = end;
    }
  }

  private gatherValues(vector: Vector, { keyKind }: IndexSpec, start: number, end: number): boolean {
    const { keys, rowKeys } = this;
    rowKeys.take(vector, keyKind, start, end);
    const { highs, lows, count } = rowKeys;
    for (let i = 0; i < count; i++) if (keys.add(highs[i]!, lows[i]!) < 0) return false;
    return true;
  }

  private gatherWords(vector: Vector, start: number, end: number): boolean {
    const { texts, keys } = this;
    if (vector.kind !== "bytes" || texts === undefined) return false;
    const { offsets, bytes, validity } = vector;
    let fits = true;
    for (let row = start; row < end && fits; row++) {
      if (validity === undefined || validity[row] !== 0) fits = texts.add(bytes, offsets[row]!, offsets[row + 1]!, keys);
    }
    return texts.finish(keys) && fits;
  }

  private streamOf(columnId: number, kind: IndexKind): Stream {
    const key = `${columnId} ${kind}`;
    const stream = this.streams.get(key) ?? { columnId, kind, pieces: [], rowCount: 0 };
    this.streams.set(key, stream);
    this.fillUp(stream, this.rowCount);
    return stream;
  }

  /** Says that the rows up to `rowCount` that have no piece have no index. */
  private fillUp(stream: Stream, rowCount: number): void {
    if (stream.rowCount < rowCount) this.add(stream, rowCount - stream.rowCount, undefined);
  }

  private add(stream: Stream, rowCount: number, bytes: Uint8Array | undefined): void {
    stream.rowCount += rowCount;
    if (bytes === undefined) stream.pieces.push({ rowCount, offset: 0, length: 0, checksum: 0 });
    else stream.pieces.push({ rowCount, offset: this.place(bytes), length: bytes.length, checksum: crc32(bytes) });
  }
}

/** Ends of blocks of at most `granularity` rows: whole pages together, or one in equal parts, since pages are what scans leave out. */
export function blockEnds(pageEnds: Uint32Array, granularity: number): readonly number[] {
  const ends: number[] = [];
  let blockStart = 0;
  let pageStart = 0;
  for (const pageEnd of pageEnds) {
    if (pageEnd - blockStart > granularity && pageStart > blockStart) {
      ends.push(pageStart);
      blockStart = pageStart;
    }
    if (pageEnd - blockStart > granularity) {
      const parts = Math.ceil((pageEnd - blockStart) / granularity);
      for (let part = 1; part <= parts; part++) ends.push(blockStart + Math.round(((pageEnd - blockStart) * part) / parts));
      blockStart = pageEnd;
    }
    pageStart = pageEnd;
  }
  if (pageStart > blockStart) ends.push(pageStart);
  return ends;
}
