/**
 * Our keys in the footer's key-value list. Keys of callers never begin with `varve.parquet.` or `varve.blob.`.
 */
import type { ParquetColumn } from "../types.ts";

/** Version of our extras; the reader refuses a higher one. */
export const KEY_VERSION = "varve.parquet.version";

/** The highest version that this server reads. */
export const EXTRAS_VERSION = 2;

/**
 * What `KEY_VERSION` holds of a file with these columns: 2 where decimals or times of day make it unreadable to servers that know version
 * 1, else 1, so that those go on reading what they can.
 */
export function versionFor(columns: readonly ParquetColumn[]): number {
  return columns.some(({ type }) => type.kind === "decimal" || type.kind === "time") ? 2 : 1;
}

/** Our description of the columns, JSON. */
export const KEY_COLUMNS = "varve.parquet.columns";

/** "crc32:crc32:…" of the bloom filters, by row group, then column; absent without filters, and in files of servers before it came. */
export const KEY_BLOOMS = "varve.parquet.blooms";

/** "offset:crc32": where the tail begins (page sums, then the indexes) and the checksum of its bytes up to the footer. */
export const KEY_TAIL = "varve.parquet.tail";

/**
 * CRC-32 of the footer in eight hexadecimal digits, computed with `00000000` in their place. The last key of the list, so that its
 * digits are the last place in the footer where the key is followed by them.
 */
export const KEY_CHECKSUM = "varve.parquet.checksum";

/** What stands in the checksum's place while it is computed. */
export const CHECKSUM_PLACEHOLDER = "00000000";

/** Keys of blobs: this and the name; the value is "offset:length:crc32". */
export const BLOB_PREFIX = "varve.blob.";

/** Prefixes that callers may not use. */
export const RESERVED_PREFIXES: readonly string[] = ["varve.parquet.", BLOB_PREFIX];

/** Blob with the sums of numeric fields. */
export const BLOB_PAGE_SUMS = "page-sums";

/** "a:b:c" of whole numbers, or undefined when the text is not `count` of them. */
export function parseNumbers(text: string, count: number): number[] | undefined {
  if (!/^\d{1,16}(:\d{1,16})*$/.test(text)) return undefined;
  const numbers = text.split(":").map(Number);
  return numbers.length === count && numbers.every(Number.isSafeInteger) ? numbers : undefined;
}

/** Where the digits of the checksum lie in a footer, or -1. */
export function checksumPosition(footer: Uint8Array): number {
  const at = Buffer.from(footer.buffer, footer.byteOffset, footer.length).lastIndexOf(KEY_CHECKSUM, footer.length, "latin1");
  // The key is followed by the header of field 2 (binary, 0x18) and the length 8.
  const digits = at + KEY_CHECKSUM.length + 2;
  if (at < 0 || digits + CHECKSUM_PLACEHOLDER.length > footer.length) return -1;
  return footer[digits - 2] === 0x18 && footer[digits - 1] === CHECKSUM_PLACEHOLDER.length ? digits : -1;
}
