/**
 * Holds a page against everything that says what it must be: its checksum, its decoded values, the page index, and its own header byte by
 * byte. Readers trust a header's fields where others do not contradict them; here every one must be as the writer would have written it.
 */
import { corruption } from "../corruption.ts";
import { decodePageHeader, encodePageHeader, Encoding, type PageHeader } from "../page/page-header.ts";
import { ThriftReader } from "../thrift/thrift-compact.ts";
import type { PageAddress, PageDictionary } from "../types.ts";
import type { ParquetFile } from "./file.ts";
import { decodeDictionary, decodePage } from "./reader.ts";

/** @param bytes the page, header included @throws DbError StorageUnavailable naming what is wrong */
export function verifyPage(file: ParquetFile, at: PageAddress, bytes: Uint8Array, dictionary: PageDictionary | undefined): void {
  const offset = file.pageIndex(at.rowGroup, at.column).offsets[at.page]!;
  verifyHeader(file, bytes, offset);
  decodePage(file, at, bytes, dictionary);
}

/** As `verifyPage`, of a dictionary page at `offset`, which it returns decoded. */
export function verifyDictionary(file: ParquetFile, rowGroup: number, column: number, bytes: Uint8Array, offset: number): PageDictionary {
  const header = verifyHeader(file, bytes, offset);
  if (header.encoding !== Encoding.Plain) throw corruption(file.fileName, offset, `a dictionary of encoding ${header.encoding}`);
  return decodeDictionary(file, rowGroup, column, bytes);
}

function verifyHeader({ fileName }: ParquetFile, bytes: Uint8Array, offset: number): PageHeader {
  const reader = new ThriftReader(bytes, 0, fileName, offset);
  const header = decodePageHeader(reader);
  const written = encodePageHeader(header);
  const isSame = written.length === reader.offset && written.every((byte, i) => byte === bytes[i]);
  if (!isSame) throw corruption(fileName, offset, "the page's header is not as it was written");
  return header;
}
