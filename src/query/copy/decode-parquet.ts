/**
 * Parquet files of any writer → rows, some thousand at a time: in memory lie the pages of the wanted columns that these rows are in,
 * whatever the sizes of row groups. The footer is read by the library, pages by `parquet/`.
 */
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync } from "hyparquet";
import { corruptionOf, DbError, errorText } from "../../base/error.ts";
import type { OpenFile } from "../../table/file-access.ts";
import { badFile, type FileColumn, type FileRows, type FoundColumn } from "./file-rows.ts";
import { PARQUET_FOOTER_BYTES_MAX, PARQUET_WINDOW_BYTES, PARQUET_WINDOW_ROWS, READ_BYTES, READ_BYTES_MIN } from "./limits.ts";
import { ColumnSource } from "./parquet/column-source.ts";
import { leavesOf, type ParquetNode, schemaTree } from "./parquet/schema-tree.ts";

/** A column of the file and where it goes. */
interface Wanted {
  readonly at: number;
  readonly name: string;
  readonly node: ParquetNode;
}

/** The rows of a Parquet file. @throws DbError InvalidArguments naming file and column */
export async function* parquetRows(file: OpenFile, names: readonly string[]): AsyncGenerator<FileRows> {
  const metadata = await metadataOf(file);
  const tree = treeOf(file, metadata);
  const wanted = names.flatMap((name, at): readonly Wanted[] => {
    const node = tree.get(name);
    if (node !== undefined && node.type === undefined) throw badFile(file.location, `column ${name} is of a type that is not known`);
    return node === undefined ? [] : [{ at, name, node }];
  });
  let first = 0;
  for (const group of metadata.row_groups) {
    const rowCount = Number(group.num_rows);
    // Every row is a value, a NULL or an empty list of each column.
    const fewest = group.columns[0]?.meta_data?.num_values ?? 0n;
    if (rowCount < 0 || group.num_rows > fewest) throw badFile(file.location, `a row group of ${group.num_rows} rows has ${fewest} values`);
    for await (const columns of rowsOf(file, group, wanted, rowCount)) {
      const place = first + 1;
      yield { ...columns, columns: names.map((_, at) => columns.columns[at]), placeOf: (row) => `row ${place + row}` };
      first += columns.rowCount;
    }
  }
}

type RowGroup = FileMetaData["row_groups"][number];
type Window = Pick<FileRows, "rowCount" | "columns">;

async function* rowsOf(file: OpenFile, group: RowGroup, wanted: readonly Wanted[], rowCount: number): AsyncGenerator<Window> {
  const leafCount = wanted.reduce((sum, { node }) => sum + leavesOf(node).length, 0);
  const pieceBytes = Math.max(READ_BYTES_MIN, Math.min(READ_BYTES, Math.floor(PARQUET_WINDOW_BYTES / Math.max(1, leafCount))));
  const bytesMax = PARQUET_WINDOW_BYTES / Math.max(1, wanted.length);
  const sources = wanted.map(({ name, node }) => inColumn(file, name, () => new ColumnSource(file, node, group, pieceBytes)));
  for (let left = rowCount; left > 0; ) {
    const rows = Math.min(left, PARQUET_WINDOW_ROWS);
    const ready = await Promise.all(sources.map((source, i) => filled(file, wanted[i]?.name ?? "", source, rows, bytesMax)));
    const count = Math.min(rows, ...ready);
    const columns: FileColumn[] = [];
    for (const [i, { at, node }] of wanted.entries()) columns[at] = { type: node.type, values: sources[i]?.take(count) ?? [] };
    yield { rowCount: count, columns };
    left -= count;
  }
}

function inColumn<T>(file: OpenFile, name: string, make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    throw damaged(file, thrown, name);
  }
}

async function filled(file: OpenFile, name: string, source: ColumnSource, rows: number, bytesMax: number): Promise<number> {
  try {
    return await source.fill(rows, bytesMax);
  } catch (thrown) {
    throw damaged(file, thrown, name);
  }
}

/** The columns of a Parquet file whose types are known. */
export async function parquetColumns(file: OpenFile): Promise<readonly FoundColumn[]> {
  const found: FoundColumn[] = [];
  for (const [name, { type }] of treeOf(file, await metadataOf(file))) if (type !== undefined) found.push({ name, type });
  return found;
}

function treeOf(file: OpenFile, metadata: FileMetaData): ReadonlyMap<string, ParquetNode> {
  try {
    return schemaTree(metadata);
  } catch (thrown) {
    throw damaged(file, thrown);
  }
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

/** The pages' own errors are of storage; these files are the user's. */
function damaged(file: OpenFile, thrown: unknown, column?: string): DbError {
  if (thrown instanceof DbError && corruptionOf(thrown) === undefined) return thrown;
  const where = column === undefined ? "" : `, in column ${column}`;
  return badFile(file.location, `the Parquet file is damaged${where}: ${errorText(thrown)}`, thrown);
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
