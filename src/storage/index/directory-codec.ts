/**
 * The directory of a file's column indexes: where the filter or value list of each stretch of rows lies. FORMAT.md has the layout.
 */
import { ByteReader } from "../../base/bytes/byte-reader.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import type { IndexKind } from "./index-spec.ts";

/** Where the index of some rows lies. Pieces follow each other from row 0 on. */
export interface IndexPiece {
  readonly rowCount: number;
  /** Bytes of the file; `length` 0: these rows have none. */
  readonly offset: number;
  readonly length: number;
  readonly checksum: number;
}

/** One index of one column. */
export interface IndexEntry {
  readonly columnId: number;
  readonly kind: IndexKind;
  readonly pieces: readonly IndexPiece[];
}

/** Name of the directory's blob in the file. */
export const COLUMN_INDEX_BLOB = "column-indexes";

const VERSION = 1;
const KINDS: readonly IndexKind[] = ["values", "words", "list"];
/** Fewest bytes that a piece takes, against a length that lies. */
const PIECE_BYTES_MIN = 2;

/** The directory as bytes. */
export function encodeDirectory(entries: readonly IndexEntry[]): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(1 << 12);
  out.u32(VERSION);
  out.varint(entries.length);
  for (const { columnId, kind, pieces } of entries) {
    out.u32(columnId);
    out.u8(KINDS.indexOf(kind));
    out.varint(pieces.length);
    for (const { rowCount, offset, length, checksum } of pieces) {
      out.varint(rowCount);
      out.varint(length);
      if (length === 0) continue;
      out.varint(offset);
      out.u32(checksum);
    }
  }
  return out.copy();
}

/**
 * Decodes what `encodeDirectory` made. A kind that this server does not know is left out.
 *
 * @throws Error when the bytes are damaged or of another version
 */
export function decodeDirectory(bytes: Uint8Array): readonly IndexEntry[] {
  const input = new ByteReader(bytes);
  const version = input.u32();
  if (version !== VERSION) throw new Error(`column indexes have version ${version}, which this server does not know`);
  const entries: IndexEntry[] = [];
  for (let left = input.varint(); left > 0; left--) {
    const columnId = input.u32();
    const kind = KINDS[input.u8()];
    const count = input.varint();
    if (count * PIECE_BYTES_MIN > input.remaining) throw new Error(`${count} pieces in ${input.remaining} bytes`);
    const pieces: IndexPiece[] = [];
    for (let i = 0; i < count; i++) {
      const rowCount = input.varint();
      const length = input.varint();
      const [offset, checksum] = length === 0 ? [0, 0] : [input.varint(), input.u32()];
      pieces.push({ rowCount, offset, length, checksum });
    }
    if (kind !== undefined) entries.push({ columnId, kind, pieces });
  }
  if (input.remaining > 0) throw new Error(`the directory ends ${input.remaining} bytes before its blob`);
  return entries;
}
