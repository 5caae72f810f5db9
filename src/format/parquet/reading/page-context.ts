import type { DataPage } from "./page-reader.ts";
import type { PageDictionary, PageIndex, ParquetColumn } from "../types.ts";

/** What the decoder of one kind of page is given. */
export interface PageContext {
  readonly column: ParquetColumn;
  readonly page: DataPage;
  readonly rowCount: number;
  /** One byte a row, or undefined when no value is NULL. */
  readonly validity: Uint8Array | undefined;
  /** Values stored: rows that are not NULL. */
  readonly valueCount: number;
  readonly index: PageIndex;
  readonly pageNumber: number;
  readonly dictionary: PageDictionary | undefined;
  readonly allocate: (byteLength: number) => ArrayBuffer | SharedArrayBuffer;
  /** Whether the bytes of the values are memory of their own, which a vector may keep. */
  readonly ownsValues: boolean;
}
