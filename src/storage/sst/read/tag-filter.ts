/**
 * Whether a file may hold series with wanted tag values, from the bloom filters of its tags: asked before the series index is read, so that
 * a query for one series opens the files that hold it and no others.
 */
import {
  BLOOM_BLOCK_BYTES,
  type BloomBlocks,
  bloomBlockAt,
  bloomBlockHolds,
  bloomBlocks,
  type BloomHash,
} from "../../../format/parquet/chunks/bloom-filter.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import type { ParquetFile } from "../../../format/parquet/reading/file.ts";
import type { ByteRange } from "../../../format/parquet/types.ts";
import type { FileReader } from "../../file-store/file-store.ts";
import { columnsById } from "./columns-by-id.ts";

/** Hashes of values that a tag of text must have one of. */
export interface WantedTag {
  readonly columnId: number;
  readonly hashes: readonly BloomHash[];
  /** Whether NULL is one of the values. */
  readonly orNull: boolean;
  /** Whether what rows mean that are older than the tag, so that their file has no such column, is one of the values. */
  readonly orAbsent: boolean;
}

/** Most values of a tag that filters are asked for. Reason: each is a read; a longer list finds something in most files. */
export const WANTED_VALUES_MAX = 64;

/** A filter with what its bytes must be. */
interface StoredBloom extends ByteRange {
  readonly checksum: number;
}

/** A tag column of a row group. Without a filter, or with a damaged one, it may hold anything. */
interface TagChunk {
  readonly bloom: StoredBloom | undefined;
  readonly hasNull: boolean;
  /** Known once the filter was read and found whole. */
  blocks: BloomBlocks | "damaged" | undefined;
}

/** What a file's footer says of its tags: about 100 B a tag and row group. */
export class TagFilter {
  /** By column id, then by row group. A column that is missing is NULL in all rows. */
  private readonly chunks: ReadonlyMap<number, readonly TagChunk[]>;
  private readonly groupCount: number;
  private readonly warn: (trouble: string, why: string) => void;
  private hasWarned = false;

  private constructor(chunks: ReadonlyMap<number, readonly TagChunk[]>, groupCount: number, warn: (trouble: string, why: string) => void) {
    this.chunks = chunks;
    this.groupCount = groupCount;
    this.warn = warn;
  }

  /** The filter of an opened file. `warn` is told once when a filter is damaged. */
  static of(parquet: ParquetFile, warn: (trouble: string, why: string) => void): TagFilter {
    const chunks = new Map<number, readonly TagChunk[]>();
    for (const [id, position] of columnsById(parquet)) {
      if (parquet.columns[position]?.role !== "tag") continue;
      const ofGroups = parquet.rowGroups.map((group, g): TagChunk => {
        const chunk = group.chunks[position];
        const checksum = parquet.bloomChecksum(g, position);
        const bloom = chunk?.bloom === undefined || checksum === undefined ? undefined : { ...chunk.bloom, checksum };
        return { bloom, hasNull: chunk === undefined || chunk.nullCount > 0, blocks: undefined };
      });
      chunks.set(id, ofGroups);
    }
    return new TagFilter(chunks, parquet.rowGroups.length, warn);
  }

  /** Whether some row group may hold one of the values of every tag. @throws DbError StorageUnavailable when the file cannot be read */
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

  private async groupMayHold({ columnId, hashes, orNull, orAbsent }: WantedTag, group: number, reader: FileReader): Promise<boolean> {
    const chunk = this.chunks.get(columnId)?.[group];
    if (chunk === undefined) return orAbsent;
    const { bloom } = chunk;
    if (chunk.hasNull && orNull) return true;
    if (hashes.length === 0) return false;
    if (bloom === undefined) return true;
    // All of it is read once, to be sure of it; from then on one block a value.
    chunk.blocks ??= this.blocksOf(await reader.read(bloom.offset, bloom.length), bloom);
    if (chunk.blocks === "damaged") return true;
    for (const hash of hashes) {
      const block = await reader.read(bloom.offset + bloomBlockAt(chunk.blocks, hash), BLOOM_BLOCK_BYTES);
      if (bloomBlockHolds(block, hash)) return true;
    }
    return false;
  }

  private blocksOf(bytes: Uint8Array, { offset, checksum }: StoredBloom): BloomBlocks | "damaged" {
    if (crc32(bytes) === checksum) return bloomBlocks(bytes);
    if (!this.hasWarned) this.warn("tag filters of a data file are not used", `the one at byte ${offset} does not match its checksum`);
    this.hasWarned = true;
    return "damaged";
  }
}
