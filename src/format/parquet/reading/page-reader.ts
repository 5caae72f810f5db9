/**
 * From the stored bytes of a page to its levels and values: header, checksum, zstd.
 */
import { zstdContentSize } from "../../zstd/frames.ts";
import { errorText } from "../../../base/error.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import { corruption } from "../corruption.ts";
import { ByteCursor } from "../encodings/byte-cursor.ts";
import type { ParquetFile } from "./file.ts";
import { PAGE_BYTES_MAX } from "../limits.ts";
import { type DataPageHeader, decodePageHeader, type DictionaryPageHeader } from "../page/page-header.ts";
import { ThriftReader } from "../thrift/thrift-compact.ts";

/** A data page, checked and uncompressed. */
export interface DataPage {
  readonly header: DataPageHeader;
  /** Definition levels; empty for a column that is never NULL. */
  readonly levels: ByteCursor;
  readonly values: ByteCursor;
}

interface StoredPage {
  readonly header: DataPageHeader | DictionaryPageHeader;
  readonly body: Uint8Array;
}

/** A dictionary page, checked and uncompressed. */
export interface DictionaryPage {
  readonly header: DictionaryPageHeader;
  readonly values: ByteCursor;
}

/**
 * Reads a data page.
 *
 * @param bytes the page, header included, as it lies at `fileOffset`
 * @throws DbError StorageUnavailable
 */
export function readDataPage(file: ParquetFile, fileOffset: number, bytes: Uint8Array, verify: boolean): DataPage {
  const { fileName } = file;
  const { header, body } = openPage(fileName, fileOffset, bytes, verify);
  if (header.kind !== "data") throw corruption(fileName, fileOffset, "a dictionary where a data page belongs");
  const { levelByteLength } = header;
  if (levelByteLength > body.length || levelByteLength > header.uncompressedByteLength) {
    throw corruption(fileName, fileOffset, `${levelByteLength} bytes of levels in a page of ${body.length}`);
  }
  const stored = body.subarray(levelByteLength);
  const byteLength = header.uncompressedByteLength - levelByteLength;
  if (!header.compressed && stored.length !== byteLength) {
    throw corruption(fileName, fileOffset, `${stored.length} bytes of values where ${byteLength} belong`);
  }
  const values = header.compressed ? uncompress(fileName, fileOffset, stored, byteLength) : stored;
  return {
    header,
    levels: new ByteCursor(body.subarray(0, levelByteLength), fileName, fileOffset),
    values: new ByteCursor(values, fileName, fileOffset),
  };
}

/** Reads a dictionary page. @throws DbError StorageUnavailable */
export function readDictionaryPage(file: ParquetFile, fileOffset: number, bytes: Uint8Array): DictionaryPage {
  const { fileName } = file;
  const { header, body } = openPage(fileName, fileOffset, bytes, true);
  if (header.kind !== "dictionary") throw corruption(fileName, fileOffset, "a data page where a dictionary belongs");
  const values = uncompress(fileName, fileOffset, body, header.uncompressedByteLength);
  return { header, values: new ByteCursor(values, fileName, fileOffset) };
}

/** A page's header, and its body, which has the length and, if `verify`, the checksum that the header says. */
function openPage(fileName: string, fileOffset: number, bytes: Uint8Array, verify: boolean): StoredPage {
  const reader = new ThriftReader(bytes, 0, fileName, fileOffset);
  const header = decodePageHeader(reader);
  const body = bytes.subarray(reader.offset);
  if (body.length !== header.storedByteLength) {
    throw corruption(fileName, fileOffset, `a page of ${header.storedByteLength} bytes in ${body.length}`);
  }
  if (verify && crc32(body) !== header.crc) {
    throw corruption(fileName, fileOffset, "the page does not match its checksum", "checksum");
  }
  return { header, body };
}

function uncompress(fileName: string, fileOffset: number, stored: Uint8Array, byteLength: number): Uint8Array {
  if (byteLength > PAGE_BYTES_MAX) throw corruption(fileName, fileOffset, `a page of ${byteLength} bytes`);
  const announced = zstdContentSize(stored);
  if (announced !== byteLength)
    throw corruption(fileName, fileOffset, `zstd of ${announced ?? "unsaid many"} bytes where ${byteLength} belong`);
  let values: Uint8Array;
  try {
    values = Bun.zstdDecompressSync(stored);
  } catch (error) {
    throw corruption(fileName, fileOffset, `zstd: ${errorText(error)}`);
  }
  if (values.length !== byteLength) throw corruption(fileName, fileOffset, `${values.length} bytes where ${byteLength} belong`);
  return values;
}
