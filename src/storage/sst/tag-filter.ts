/**
 * Whether a file may hold series with wanted tag values, from the bloom filters of its tags: asked before the series index is read, so that
 * a query for one series opens the files that hold it and no others.
 */
import { BLOOM_HEADER_BYTES_MAX, bloomBlockAt, bloomBlockHolds } from "../../format/parquet/bloom-filter.ts";
import type { ParquetFile } from "../../format/parquet/file.ts";
import type { ByteRange } from "../../format/parquet/types.ts";
import type { FileReader } from "../file-store/file-store.ts";
import { columnsById } from "./columns-by-id.ts";

/** Values that a tag of text must have one of; undefined is NULL. */
export interface WantedTag {
  readonly columnId: number;
  readonly values: readonly (Uint8Array | undefined)[];
}

/** Most values of a tag that filters are asked for. Reason: each is a read; a longer list finds something in most files. */
export const WANTED_VALUES_MAX = 64;

/** Filters up to this size are read whole, larger ones block by block. */
const WHOLE_BYTES_MAX = 16 * 1024;
const BLOCK_BYTES = 32;

/** A tag column of a row group. Without a filter it may hold anything. */
interface TagChunk {
  readonly bloom: ByteRange | undefined;
  readonly hasNull: boolean;
}

/** What a file's footer says of its tags: about 100 B a tag and row group. */
export class TagFilter {
  /** By column id, then by row group. A column that is missing is NULL in all rows. */
  private readonly chunks: ReadonlyMap<number, readonly TagChunk[]>;
  private readonly groupCount: number;

  private constructor(chunks: ReadonlyMap<number, readonly TagChunk[]>, groupCount: number) {
    this.chunks = chunks;
    this.groupCount = groupCount;
  }

  /** The filter of an opened file. */
  static of(parquet: ParquetFile): TagFilter {
    const chunks = new Map<number, readonly TagChunk[]>();
    for (const [id, position] of columnsById(parquet)) {
      if (parquet.columns[position]?.role !== "tag") continue;
      const ofGroups = parquet.rowGroups.map((group): TagChunk => {
        const chunk = group.chunks[position];
        return { bloom: chunk?.bloom, hasNull: chunk === undefined || chunk.nullCount > 0 };
      });
      chunks.set(id, ofGroups);
    }
    return new TagFilter(chunks, parquet.rowGroups.length);
  }

  /** Whether some row group may hold one of the values of every tag. @throws DbError StorageUnavailable when a filter is damaged */
  async mayHold(wanted: readonly WantedTag[], reader: FileReader): Promise<boolean> {
    for (let group = 0; group < this.groupCount; group++) {
      let holdsAll = true;
      for (const tag of wanted) {
        holdsAll = await this.groupMayHold(tag, group, reader);
        if (!holdsAll) break;
      }
      if (holdsAll) return true;
    }
    return false;
  }

  private async groupMayHold({ columnId, values }: WantedTag, group: number, reader: FileReader): Promise<boolean> {
    const chunk = this.chunks.get(columnId)?.[group];
    if (chunk === undefined) return values.includes(undefined);
    const { bloom, hasNull } = chunk;
    if (hasNull && values.includes(undefined)) return true;
    const texts = values.filter((value) => value !== undefined);
    if (texts.length === 0) return false;
    if (bloom === undefined) return true;
    const head = await reader.read(bloom.offset, bloom.length <= WHOLE_BYTES_MAX ? bloom.length : BLOOM_HEADER_BYTES_MAX);
    for (const text of texts) {
      const at = bloomBlockAt(head, bloom.length, text);
      const isHere = at + BLOCK_BYTES <= head.length;
      const block = isHere ? head.subarray(at, at + BLOCK_BYTES) : await reader.read(bloom.offset + at, BLOCK_BYTES);
      if (bloomBlockHolds(block, text)) return true;
    }
    return false;
  }
}
