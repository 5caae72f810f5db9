/**
 * Parquet files of any writer → rows, some thousand at a time: of files with an index of their pages only the pages needed lie in memory,
 * of others one row group of the wanted columns.
 */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { type AsyncBuffer, type Compressors, type FileMetaData, parquetMetadataAsync, parquetScan, type ParquetScan } from "hyparquet";
import { DbError, errorText } from "../../base/error.ts";
import type { OpenFile } from "../../table/file-access.ts";
import { badFile, type FileColumn, type FileRows, type FoundColumn } from "./file-rows.ts";
import { PARQUET_CHUNK_BYTES_MAX, PARQUET_FOOTER_BYTES_MAX, PARQUET_WINDOW_BYTES, PARQUET_WINDOW_ROWS } from "./limits.ts";
import { decompressLz4 } from "./lz4.ts";
import { bareElement, typeOfElement, valueReader } from "./parquet-types.ts";

/** Pages are unpacked with the length that their header tells as the limit. */
const COMPRESSORS: Compressors = {
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4,
};

/** The rows of a Parquet file. @throws DbError InvalidArguments, Unsupported for a nested column that is wanted */
export async function* parquetRows(file: OpenFile, names: readonly string[]): AsyncGenerator<FileRows> {
  const whole = await metadataOf(file);
  const elements = topElements(whole);
  const present = names.filter((name) => elements.has(name));
  for (const name of present) checkColumn(file, whole, name);
  const metadata: FileMetaData = { ...whole, schema: whole.schema.map(bareElement) };
  let first = 0;
  for (const group of whole.row_groups) {
    const rowCount = Number(group.num_rows);
    const { step, isIndexed } = windowOf(file, group, present, rowCount);
    for (let from = 0; from < rowCount; from += step) {
      const range = { rowStart: first + from, rowEnd: first + Math.min(rowCount, from + step) };
      const columns = await readColumns(file, whole, metadata, present, range, isIndexed);
      const placed = names.map((name) => columns.get(name));
      yield { rowCount: range.rowEnd - range.rowStart, columns: placed, placeOf: (row) => `row ${range.rowStart + row + 1}` };
    }
    first += rowCount;
  }
}

type RowGroup = FileMetaData["row_groups"][number];

/** How many rows of a group are read at a time. */
function windowOf(
  file: OpenFile,
  group: RowGroup,
  names: readonly string[],
  rowCount: number,
): { readonly step: number; readonly isIndexed: boolean } {
  const chunks = group.columns.filter(({ meta_data: data }) => names.includes(data?.path_in_schema[0] ?? ""));
  const bytes = chunks.reduce((sum, { meta_data: data }) => sum + Number(data?.total_uncompressed_size ?? 0n), 0);
  const isIndexed = chunks.every((chunk) => chunk.offset_index_offset !== undefined);
  if (!isIndexed) {
    if (bytes <= PARQUET_CHUNK_BYTES_MAX) return { step: Math.max(1, rowCount), isIndexed };
    const why = `a row group has ${bytes} bytes in the columns wanted and no index of its pages`;
    throw badFile(file.location, `${why}; write it with smaller row groups, or with a page index`);
  }
  const rowsOfBytes = Math.floor((PARQUET_WINDOW_BYTES * rowCount) / Math.max(1, bytes));
  return { step: Math.max(1, Math.min(PARQUET_WINDOW_ROWS, rowsOfBytes)), isIndexed };
}

interface RowRange {
  readonly rowStart: number;
  readonly rowEnd: number;
}

async function readColumns(
  file: OpenFile,
  whole: FileMetaData,
  metadata: FileMetaData,
  names: readonly string[],
  range: RowRange,
  useOffsetIndex: boolean,
): Promise<ReadonlyMap<string, FileColumn>> {
  const columns = new Map<string, FileColumn>();
  if (names.length === 0) return columns;
  const elements = topElements(whole);
  try {
    // A scan remembers what it read, so each range has its own.
    const scan: ParquetScan = await parquetScan({
      file: bufferOf(file),
      metadata,
      columns: [...names],
      ...range,
      compressors: COMPRESSORS,
      utf8: false,
      geoparquet: false,
      useOffsetIndex,
      parsers: { timestampFromNanoseconds: (nanos: bigint) => nanos },
    });
    for (const name of names) {
      const element = elements.get(name);
      const type = element && typeOfElement(element);
      if (element === undefined || type === undefined) continue;
      const read = valueReader(element, type);
      const stored = await scan.readColumn({ column: name, ...range });
      columns.set(name, { type, values: Array.from(stored as ArrayLike<unknown>, read) });
    }
  } catch (thrown) {
    throw damaged(file, thrown);
  }
  return columns;
}

/** The columns of a Parquet file that hold plain values. */
export async function parquetColumns(file: OpenFile): Promise<readonly FoundColumn[]> {
  const found: FoundColumn[] = [];
  for (const [name, element] of topElements(await metadataOf(file))) {
    const type = typeOfElement(element);
    if (type !== undefined) found.push({ name, type });
  }
  return found;
}

type Element = FileMetaData["schema"][number];

/** Schema elements right below the root, by name. */
function topElements({ schema }: FileMetaData): ReadonlyMap<string, Element> {
  const found = new Map<string, Element>();
  let at = 1;
  const skip = (): void => {
    const children = schema[at++]?.num_children ?? 0;
    for (let i = 0; i < children; i++) skip();
  };
  while (at < schema.length) {
    const element = schema[at];
    if (element === undefined) break;
    found.set(element.name, element);
    skip();
  }
  return found;
}

function checkColumn(file: OpenFile, whole: FileMetaData, name: string): void {
  const element = topElements(whole).get(name);
  if (element === undefined || typeOfElement(element) !== undefined) return;
  throw badFile(file.location, `column ${name} is a list, a map or a record, which no column holds; leave it out of the table`);
}

async function metadataOf(file: OpenFile): Promise<FileMetaData> {
  if (file.byteLength < 12) throw badFile(file.location, `it is no Parquet file: it has ${file.byteLength} bytes`);
  const tail = await file.read(file.byteLength - 8, 8);
  const length = new DataView(tail.buffer).getUint32(0, true);
  const magic = String.fromCharCode(...tail.subarray(4));
  if (magic !== "PAR1" || length + 12 > file.byteLength || length > PARQUET_FOOTER_BYTES_MAX) {
    throw badFile(file.location, magic === "PARE" ? "it is encrypted" : "it is no whole Parquet file");
  }
  try {
    return await parquetMetadataAsync(bufferOf(file), { geoparquet: false });
  } catch (thrown) {
    throw damaged(file, thrown);
  }
}

function damaged(file: OpenFile, thrown: unknown): DbError {
  if (thrown instanceof DbError) return thrown;
  return badFile(file.location, `the Parquet file is damaged: ${errorText(thrown)}`, thrown);
}

function bufferOf(file: OpenFile): AsyncBuffer {
  const { byteLength } = file;
  return {
    byteLength,
    async slice(start, end = byteLength) {
      const from = start < 0 ? Math.max(0, byteLength + start) : start;
      const bytes = await file.read(from, Math.min(end, byteLength) - from);
      return bytes.buffer;
    },
  };
}
