/** Scanned rows as vectors: by loops where the texts are plain, else as texts, which the table casts. */
import { type DataType, STRING, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { RowIntake } from "../../../table/rows/row-intake.ts";
import { floatVector, type ScannedColumn, stampVector, textVector, wholeVector } from "./kernels/read-values.ts";
import { TagTexts } from "./kernels/tag-texts.ts";
import type { ScannedRows } from "./scanned-rows.ts";

/** Columns of some rows and their types. */
interface ReadColumns {
  readonly vectors: readonly Vector[];
  readonly types: readonly DataType[];
}

/** Reads a column as vectors of its type; undefined where its texts are to be cast. */
export type ValueReader = (scanned: ScannedColumn, type: DataType) => Vector | undefined;

/** What makes columns of scanned rows. */
export class ColumnReader {
  private readonly own: readonly DataType[];
  private readonly tags: readonly (TagTexts | undefined)[];
  private readonly read: ValueReader;
  private last: readonly DataType[];

  constructor(columns: RowIntake["columns"], read: ValueReader) {
    this.own = columns.map(({ type }) => type);
    this.tags = columns.map(({ type, isTag }) => (isTag && type.kind === "string" ? new TagTexts() : undefined));
    this.read = read;
    this.last = this.own;
  }

  /** @param width values of a row @param places of each column's value among them */
  of(bytes: Uint8Array, rows: ScannedRows, width: number, places: readonly number[]): ReadColumns {
    const vectors: Vector[] = [];
    const types: DataType[] = [];
    for (const [i, type] of this.own.entries()) {
      const scanned: ScannedColumn = { bytes, rows, width, column: places[i] ?? i };
      const tag = this.tags[i];
      const vector = tag === undefined ? this.read(scanned, type) : tag.of(scanned);
      vectors.push(vector ?? textVector(scanned));
      types.push(vector === undefined ? STRING : type);
    }
    // The same list for the same types: the table prepares itself for each.
    if (types.some((type, i) => type !== this.last[i])) this.last = types;
    return { vectors, types: this.last };
  }
}

/** Whole numbers, floats, times and texts that are plain. @param timeZone of texts without a zone */
export function plainVector(scanned: ScannedColumn, type: DataType, timeZone: string): Vector | undefined {
  switch (type.kind) {
    case "int": {
      const most = type.bits === 64 ? Number.MAX_SAFE_INTEGER : 2 ** (type.signed ? type.bits - 1 : type.bits) - 1;
      return wholeVector(scanned, type.signed ? -most - (type.bits === 64 ? 0 : 1) : 0, most);
    }
    case "float":
      return floatVector(scanned, type.bits);
    case "timestamp":
      return timeZone === "UTC" ? stampVector(scanned, UNITS_PER_SECOND[type.unit]) : undefined;
    case "string":
      return textVector(scanned);
    default:
      return undefined;
  }
}

/** Values one after the other. */
export function scalarVector({ bytes, rows, width, column }: ScannedColumn, type: DataType, read: (bytes: Uint8Array) => Scalar): Vector {
  const values: Scalar[] = [];
  for (let row = 0; row < rows.rows; row++) {
    const i = row * width + column;
    const [start = 0, end = 0] = [rows.starts[i], rows.ends[i]];
    values.push(end < start ? undefined : read(bytes.subarray(start, end)));
  }
  return vectorOf(type, values);
}
