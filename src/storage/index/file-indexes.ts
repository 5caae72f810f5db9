/**
 * The column indexes of an opened file: which rows certainly do not meet a condition. Filters and lists are read when they are first
 * asked for, and kept with the pages in the cache. What is damaged is reported once and then says "maybe" of everything.
 */
import { errorText } from "../../base/error.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import type { DataType } from "../../column/data-type.ts";
import type { ScanMetrics } from "../../table/scan.ts";
import type { PageCache } from "../cache/page-cache.ts";
import type { Awaitable } from "../file-store/file-store.ts";
import { decodeDirectory, type IndexEntry, type IndexPiece } from "./directory-codec.ts";
import { BLOCK_BYTES } from "./key-filter.ts";
import { unpackValueList } from "./value-list.ts";

/** What indexes are read through. */
export interface IndexedFile {
  read(offset: number, length: number): Awaitable<Uint8Array>;
  /** Type of a column by its id. */
  typeOf(columnId: number): DataType | undefined;
  /** Told once why the indexes cannot be used. */
  onDamage(why: string): void;
}

/** An index with the rows of its pieces. */
export interface FileIndex extends IndexEntry {
  readonly type: DataType;
  /** First row of each piece, and the end of the last. */
  readonly starts: Float64Array;
  /** Key of the first piece in the cache. */
  readonly firstKey: number;
}

/** See the file header. */
export class FileIndexes {
  private readonly file: IndexedFile;
  private readonly cache: PageCache;
  private readonly byColumn: Map<number, FileIndex[]> = new Map();
  private isDamaged = false;

  /** @throws Error when the directory is damaged */
  constructor(directory: Uint8Array, rowCount: number, file: IndexedFile, cache: PageCache) {
    this.file = file;
    this.cache = cache;
    for (const entry of decodeDirectory(directory)) {
      const type = file.typeOf(entry.columnId);
      if (type === undefined) throw new Error(`column indexes of column ${entry.columnId}, which the file does not have`);
      const starts = startsOf(entry.pieces);
      if (starts.at(-1) !== rowCount) throw new Error(`column indexes of ${starts.at(-1)} rows in a file of ${rowCount}`);
      const index = { ...entry, type, starts, firstKey: cache.takeKeys(entry.pieces.length) };
      this.byColumn.set(entry.columnId, [...(this.byColumn.get(entry.columnId) ?? []), index]);
    }
  }

  /** The indexes of a column; none when they are damaged. */
  of(columnId: number): readonly FileIndex[] {
    return this.isDamaged ? [] : (this.byColumn.get(columnId) ?? []);
  }

  /** The bytes of a piece, a list unpacked; undefined when there are none or they are damaged. */
  async piece(index: FileIndex, at: number, metrics: ScanMetrics | undefined): Promise<Uint8Array | undefined> {
    const piece = index.pieces[at]!;
    if (piece.length === 0 || this.isDamaged) return undefined;
    const cached = this.cache.get(index.firstKey + at);
    if (cached?.kind === "number" && cached.values instanceof Uint8Array) return cached.values;
    const stored = await this.file.read(piece.offset, piece.length);
    if (metrics !== undefined) metrics.bytesRead += stored.length;
    try {
      const bytes = checked(stored, piece, index);
      this.cache.put(index.firstKey + at, { kind: "number", values: bytes, validity: undefined });
      return bytes;
    } catch (error) {
      this.markDamaged(error);
      return undefined;
    }
  }

  /** From now on nothing is ruled out. */
  markDamaged(error: unknown): void {
    if (this.isDamaged) return;
    this.isDamaged = true;
    this.file.onDamage(errorText(error));
  }
}

function startsOf(pieces: readonly IndexPiece[]): Float64Array {
  const starts = new Float64Array(pieces.length + 1);
  for (let i = 0; i < pieces.length; i++) starts[i + 1] = starts[i]! + pieces[i]!.rowCount;
  return starts;
}

/** @throws Error when the bytes are not what was written */
function checked(stored: Uint8Array, piece: IndexPiece, { kind, columnId }: IndexEntry): Uint8Array {
  if (crc32(stored) !== piece.checksum)
    throw new Error(`the index of column ${columnId} at byte ${piece.offset} does not match its checksum`);
  if (kind === "list") return unpackValueList(stored);
  if (stored.length % BLOCK_BYTES !== 0) throw new Error(`a filter of ${stored.length} bytes`);
  return new Uint8Array(stored); // What was read may be a view on more.
}
