/** Files in memory, for tests and benchmarks: write rows, open the bytes, read columns back as scalars. */
import type { DataType } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { textTableOf } from "../../../column/text-table.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { openParquet, type ParquetFile } from "../reading/file.ts";
import { decodeDictionary, decodePage } from "../reading/reader.ts";
import type { ColumnInput, PageDictionary, ParquetColumn, TagRuns, WriterOptions } from "../types.ts";
import { ParquetWriter } from "../writing/writer.ts";

/** The bytes of a file with these rows. */
export function writeToMemory(
  columns: readonly ParquetColumn[],
  rowCount: number,
  inputs: readonly ColumnInput[],
  options: Partial<WriterOptions> & { readonly seriesEnds?: Uint32Array; readonly keyValues?: Readonly<Record<string, string>> } = {},
): Uint8Array {
  const parts: Uint8Array[] = [];
  const { seriesEnds, keyValues, ...writerOptions } = options;
  const writer = new ParquetWriter(columns, { write: (bytes) => parts.push(bytes.slice()) }, writerOptions);
  writer.append(rowCount, inputs, seriesEnds);
  writer.finish(keyValues ?? {});
  return new Uint8Array(Buffer.concat(parts)); // Not the Buffer itself, whose `slice` is a view.
}

/** Opens a file that lies in memory, giving the reader as few bytes as it asks for. @throws DbError StorageUnavailable */
export function openMemory(bytes: Uint8Array, fileName = "memory.parquet"): ParquetFile {
  let length = Math.min(bytes.length, 8);
  for (let tries = 0; tries < 4; tries++) {
    const result = openParquet(fileName, bytes.length, bytes.subarray(bytes.length - length));
    if (result.kind === "file") return result.file;
    length = result.byteLength;
  }
  throw new Error("the reader keeps asking for more");
}

/** The dictionary of a chunk, if it has one. */
export function dictionaryOf(file: ParquetFile, bytes: Uint8Array, rowGroup: number, column: number): PageDictionary | undefined {
  const range = file.rowGroups[rowGroup]!.chunks[column]!.dictionary;
  if (range === undefined) return undefined;
  return decodeDictionary(file, rowGroup, column, bytes.subarray(range.offset, range.offset + range.length));
}

/** The stored bytes of a page. */
export function pageBytes(file: ParquetFile, bytes: Uint8Array, rowGroup: number, column: number, page: number): Uint8Array {
  const index = file.pageIndex(rowGroup, column);
  return bytes.subarray(index.offsets[page]!, index.offsets[page]! + index.lengths[page]!);
}

/** All values of a column. */
export function readColumn(file: ParquetFile, bytes: Uint8Array, column: number, verifyChecksum = true): Scalar[] {
  const { type } = file.columns[column]!;
  const values: Scalar[] = [];
  for (let rowGroup = 0; rowGroup < file.rowGroups.length; rowGroup++) {
    const dictionary = dictionaryOf(file, bytes, rowGroup, column);
    const index = file.pageIndex(rowGroup, column);
    for (let page = 0; page < index.pageCount; page++) {
      const stored = pageBytes(file, bytes, rowGroup, column, page);
      const vector = decodePage(file, { rowGroup, column, page }, stored, dictionary, { verifyChecksum });
      const rowCount = index.rowStarts[page + 1]! - index.rowStarts[page]!;
      for (let row = 0; row < rowCount; row++) values.push(scalarAt(vector, type, row));
    }
  }
  return values;
}

/** A field column that may be NULL. */
export function field(name: string, type: DataType): ParquetColumn {
  return { name, type, nullable: true, role: "field" };
}

/** The writer's input for scalars of a field or time column. */
export function inputOf(type: DataType, values: readonly Scalar[]): ColumnInput {
  const vector = vectorOf(type, values);
  if (vector.kind === "dictionary" || vector.kind === "coded") throw new Error("fields are never dictionaries");
  return vector;
}

/** The writer's input for a tag column, one run a range of equal values. */
export function runsOf(values: readonly (string | undefined)[]): TagRuns {
  const dictionary: (string | undefined)[] = [undefined];
  const ends: number[] = [];
  const codes: number[] = [];
  values.forEach((value, row) => {
    let code = value === undefined ? 0 : dictionary.indexOf(value);
    if (code < 0) code = dictionary.push(value) - 1;
    if (codes.length > 0 && codes[codes.length - 1] === code) {
      ends[ends.length - 1] = row + 1;
    } else {
      codes.push(code);
      ends.push(row + 1);
    }
  });
  return { kind: "runs", ends: Uint32Array.from(ends), codes: Uint32Array.from(codes), texts: textTableOf(dictionary) };
}
