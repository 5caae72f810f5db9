/** External tables as relations: their files are read, whole, whenever a query asks for rows. */
import type { Pace } from "../../../base/scheduler/pace.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { CONNECTION_KEYS, type FileAccess, type FileConnection, type FoundFile } from "../../../table/file-access.ts";
import { LOCATION_OPTION } from "../../../table/file-table.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";
import { converterOf } from "../../copy/column-converter.ts";
import { type CopyOptions, copyOptions } from "../../copy/copy-options.ts";
import { fileRows } from "../../copy/file-reader.ts";
import type { FileRows } from "../../copy/file-rows.ts";
import { COPY_FILES_MAX } from "../../copy/limits.ts";
import type { ComputedRows } from "../common/computed-rows.ts";

/** What options of an external table say. */
export interface ExternalOptions {
  readonly location: string;
  readonly connection: FileConnection;
  readonly options: CopyOptions;
}

/** The options of an external table, checked. @throws DbError InvalidArguments */
export function externalOptions(given: Readonly<Record<string, string>>): ExternalOptions {
  const all = Object.entries(given).map(([key, value]) => [key.toLowerCase(), value] as const);
  const location = all.find(([key]) => key === LOCATION_OPTION)?.[1];
  if (location === undefined || location === "") {
    throw invalidArguments("Missing required field: location; say where the files are, WITH (location = '…')");
  }
  const connection = Object.fromEntries(all.filter(([key]) => CONNECTION_KEYS.has(key)));
  const options = copyOptions(Object.fromEntries(all.filter(([key]) => !CONNECTION_KEYS.has(key))), "external");
  return { location, connection, options };
}

/** The files that an external table is made of. @throws DbError InvalidArguments */
export async function externalFilesOf(
  { location, connection, options }: ExternalOptions,
  files: FileAccess,
): Promise<readonly FoundFile[]> {
  const found = (await files.list(location, connection)).filter(({ name }) => options.pattern?.test(name) ?? true);
  if (found.length <= COPY_FILES_MAX) return found;
  const why = `${found.length} files, at most ${COPY_FILES_MAX} make a table`;
  throw invalidArguments(`cannot read '${location}': ${why}; narrow it with pattern`);
}

/** An external table as a relation. @throws DbError Unsupported on a server without files, InvalidArguments for its options */
export function externalRelation(schema: TableSchema, files: FileAccess | undefined): ComputedRows {
  filesFor(schema, files);
  externalOptions(schema.options);
  const columns = schema.columns.map(({ name, type }): ColumnHeader => ({ name, type }));
  return { columns, source: { kind: "external-table", database: schema.database, table: schema.name, id: schema.id } };
}

/** Its rows. @throws DbError as `externalRelation` */
export function externalRows(schema: TableSchema, files: FileAccess | undefined, pace: Pace): AsyncIterable<Batch> {
  return batchesOf(schema, externalOptions(schema.options), filesFor(schema, files), pace);
}

function filesFor(schema: TableSchema, files: FileAccess | undefined): FileAccess {
  if (files !== undefined) return files;
  throw new DbError(StatusCode.Unsupported, `cannot read table ${schema.name}: it is an external table, and this server reaches no files`);
}

async function* batchesOf(schema: TableSchema, external: ExternalOptions, files: FileAccess, pace: Pace): AsyncIterable<Batch> {
  const names = schema.columns.map(({ name }) => name);
  for (const { location } of await externalFilesOf(external, files)) {
    const file = await files.open(location, external.connection);
    try {
      for await (const rows of fileRows(file, names, external.options, pace)) yield batchOf(schema, rows, external.options, location);
    } finally {
      await file.close();
    }
  }
}

function batchOf(schema: TableSchema, rows: FileRows, options: CopyOptions, location: string): Batch {
  const bad = new Set<number>();
  const columns = schema.columns.map((column, i) => valuesOf(column, rows, i, { options, location, bad }));
  const good = bad.size === 0 ? columns : columns.map((values) => values.filter((_, row) => !bad.has(row)));
  return {
    rowCount: rows.rowCount - bad.size,
    vectors: schema.columns.map(({ type }, i) => vectorOf(type, good[i] ?? [])),
  };
}

/** What the columns of one batch share. */
interface Reading {
  readonly options: CopyOptions;
  readonly location: string;
  /** Rows that are to be left out. */
  readonly bad: Set<number>;
}

function valuesOf(column: ColumnSchema, rows: FileRows, at: number, { options, location, bad }: Reading): readonly Scalar[] {
  const found = rows.columns[at];
  const missing = column.default?.kind === "literal" ? column.default.value : undefined;
  if (found === undefined) return new Array<Scalar>(rows.rowCount).fill(missing);
  let row = -1;
  try {
    const convert = converterOf(found.type, column.type, options);
    const values: Scalar[] = [];
    for (row = 0; row < rows.rowCount; row++) {
      if (found.isAbsent?.(row) === true) values.push(missing);
      else values.push(converted(convert, found.values[row], row, options.skipBadRecords ? bad : undefined));
    }
    return values;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    const place = row < 0 ? "" : ` ${rows.placeOf(row)},`;
    const message = `cannot read '${location}':${place} column ${column.name}: ${thrown.message}`;
    throw invalidArguments(message, thrown);
  }
}

function converted(convert: (value: Scalar) => Scalar, value: Scalar, row: number, bad: Set<number> | undefined): Scalar {
  try {
    return convert(value);
  } catch (thrown) {
    if (bad === undefined || !(thrown instanceof DbError)) throw thrown;
    bad.add(row);
    return undefined;
  }
}
