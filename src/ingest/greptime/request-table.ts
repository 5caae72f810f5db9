/**
 * One table of a request: its columns checked against each other and against what exists, and cells for its rows. What fills it reads
 * rows (`row-request.ts`) or columns (`column-request.ts`).
 */
import { isUtf8 } from "node:buffer";
import { partOf } from "../../base/bytes/longer-array.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import { displayName, sameType } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import { type Cells, cellsOf, type RowCount } from "../../table/field-cells.ts";
import { checkTableName } from "../../table/names.ts";
import type { FieldWrite, SchemaLookup, TableWrite } from "../../table/write-batch.ts";
import { Encoding } from "./column-type.ts";
import { invalidAt, type Place, type RowAction } from "./failure.ts";
import { CELL_BYTES, CELL_BYTES_MAX, WRITE_CELLS_MAX, WRITE_NEW_KEYS_MAX } from "./limits.ts";
import { RowTimes } from "./row-times.ts";
import type { RequestColumn } from "./schema-reader.ts";
import type { SeriesKeys, TagColumns } from "./series-keys.ts";

/** A field and its cells. */
interface Field {
  readonly column: RequestColumn;
  readonly cells: Cells;
}

/** See the file header. */
export class RequestTable {
  readonly place: Place;
  readonly columns: readonly RequestColumn[];
  readonly time: RequestColumn;
  readonly tags: TagColumns;
  readonly rowCount: number;
  /** The row that cells are set of, plus one. */
  readonly row: RowCount = { rows: 0 };
  readonly times: RowTimes;
  readonly keys: Uint32Array;
  /** By column; undefined for tags and the time index. */
  readonly cells: readonly (Cells | undefined)[];
  private readonly unit: TimeUnit;
  private readonly series: SeriesKeys;
  /** Keys that there were before. */
  private readonly keysBefore: number;

  /** @param rowCount counted, not claimed. @throws DbError InvalidArguments */
  constructor(place: Place, columns: readonly RequestColumn[], rowCount: number, keys: SeriesKeys) {
    this.place = place;
    this.columns = columns;
    this.rowCount = rowCount;
    this.series = keys;
    this.keysBefore = keys.dictionary.size;
    this.time = timeOf(place, columns);
    this.unit = this.time.type.type.kind === "timestamp" ? this.time.type.type.unit : "millisecond";
    checkCells(place, rowCount, columns.length);
    this.tags = keys.tagsOf(
      place.table,
      columns.filter(({ semantic }) => semantic === "tag"),
    );
    this.times = new RowTimes(rowCount);
    this.keys = new Uint32Array(rowCount);
    this.cells = columns.map(({ name, semantic, type }) =>
      semantic === "field" ? cellsOf(name, type.type, this.row, rowCount) : undefined,
    );
  }

  /** Tag sets of its rows that nobody had seen, once all of them are there. */
  get newKeyCount(): number {
    return this.series.dictionary.size - this.keysBefore;
  }

  /** The rows, once all of them are there: the more there are, the more writes. @throws DbError InvalidArguments for text that is none */
  *writes(): Generator<TableWrite> {
    const fields = this.cells.flatMap((cells, i): Field[] =>
      cells === undefined ? [] : [{ column: this.columns[i] as RequestColumn, cells }],
    );
    const shape = this.columns.map(({ definition }) => definition);
    const ofKeys = (WRITE_NEW_KEYS_MAX * this.rowCount) / Math.max(1, this.newKeyCount);
    const rowsMax = Math.max(1, Math.floor(Math.min(WRITE_CELLS_MAX / this.columns.length, ofKeys)));
    for (const { start, end, times } of this.times.each(this.rowCount, rowsMax)) {
      yield {
        table: this.place.table,
        rowCount: end - start,
        keys: partOf(this.keys, start, end),
        timeUnit: this.unit,
        times,
        fields: fields.map(({ column, cells }): FieldWrite => {
          const vector = cells.vector(start, end);
          if (column.type.encoding === Encoding.text) this.checkText(column, vector, start, end - start);
          return { name: column.name, type: column.type.type, vector };
        }),
        shape,
      };
    }
  }

  /** Each row is UTF-8: all of them together are, and none begins inside a character. */
  private checkText(column: RequestColumn, vector: Vector, firstRow: number, rowCount: number): void {
    if (vector.kind !== "bytes") return;
    const { bytes, offsets } = vector;
    const used = offsets[rowCount] as number;
    let isText = isUtf8(bytes.subarray(0, used));
    for (let row = 1; isText && row < rowCount; row++) {
      const start = offsets[row] as number;
      isText = start === used || ((bytes[start] as number) & 0xc0) !== 0x80;
    }
    if (isText) return;
    let bad = 0;
    while (bad < rowCount - 1 && isUtf8(bytes.subarray(offsets[bad], offsets[bad + 1]))) bad++;
    throw invalidAt({ ...this.place, column: column.name, row: firstRow + bad }, "its text is no UTF-8; send it as BINARY");
  }
}

/** @throws DbError InvalidArguments for rows that unfold to too much */
export function checkCells(place: Place, rowCount: number, columnCount: number): void {
  if (rowCount * columnCount * CELL_BYTES <= CELL_BYTES_MAX) return;
  const most = `${CELL_BYTES_MAX / 1024 / 1024} MiB`;
  const why = `${rowCount} rows of ${columnCount} columns unfold to more than ${most}; send fewer rows a request`;
  throw invalidAt(place, why);
}

/** @throws DbError InvalidArguments for tables that unfold to too much together */
export function checkMessage(action: RowAction, cells: number): void {
  if (cells * CELL_BYTES <= CELL_BYTES_MAX) return;
  const why = `its tables unfold to more than ${CELL_BYTES_MAX / 1024 / 1024} MiB together; send fewer rows a request`;
  throw new DbError(StatusCode.InvalidArguments, `cannot ${action} tables: ${why}`);
}

/** Checks the columns of a request against each other. @returns the time index. @throws DbError InvalidArguments */
function timeOf(place: Place, columns: readonly RequestColumn[]): RequestColumn {
  checkTableName(place.table);
  const seen = new Set<string>();
  for (const { name, semantic } of columns) {
    if (seen.has(name)) throw invalidAt({ ...place, column: name }, "the request has it twice");
    seen.add(name);
    if (semantic === "field" && place.action === "delete from")
      throw invalidAt({ ...place, column: name }, "it is a FIELD; rows to delete are named by their TAG and TIMESTAMP columns");
  }
  const [time, second] = columns.filter(({ semantic }) => semantic === "timestamp");
  if (time === undefined) throw invalidAt(place, "the request has no TIMESTAMP column; mark the time index as such");
  if (second !== undefined) {
    const why = `it is a second TIMESTAMP column beside ${time.name}; a table has one time index, mark the other FIELD`;
    throw invalidAt({ ...place, column: second.name }, why);
  }
  return time;
}

/** Checks the columns of a request against those that exist. @throws DbError InvalidArguments */
export function checkAgainstSchema(place: Place, columns: readonly RequestColumn[], database: string, schemas: SchemaLookup): void {
  for (const { name, semantic, type } of columns) {
    const known = schemas.columnOf(database, place.table, name);
    const at = { ...place, column: name };
    if (known === undefined) {
      if (semantic !== "timestamp" || schemas.rolesOf?.(database, place.table) === undefined) continue;
      throw invalidAt(at, "the table's time index has another name; see DESCRIBE TABLE, and send times under that name");
    }
    if (known.semantic !== semantic) {
      const why = `semantic_type incompatible, expected: ${known.semantic.toUpperCase()}, actual: ${semantic.toUpperCase()}`;
      throw invalidAt(at, `${why}; send it as the table has it`);
    }
    if (sameType(known.type, type.type) || (known.type.kind === "json" && type.type.kind === "json")) continue;
    const why = `datatype incompatible, expected: ${displayName(known.type)}, actual: ${displayName(type.type)}`;
    throw invalidAt(at, `${why}; send that type, or change the column with ALTER TABLE`);
  }
}
