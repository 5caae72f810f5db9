/** Scanned rows of COPY as vectors: by loops where the texts are plain, else as texts, which the table casts. */
import { type DataType, STRING, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { RowIntake } from "../../../table/rows/row-intake.ts";
import { castValue } from "../../../value/cast.ts";
import { parameterValue } from "../parameter-values.ts";
import { Format } from "../results.ts";
import { Oid, oidOf } from "../types.ts";
import { floatVector, type ScannedColumn, stampVector, textVector, wholeVector } from "./kernels/read-values.ts";
import { TagTexts } from "./kernels/tag-texts.ts";
import type { ScannedRows } from "./kernels/scan-rows.ts";

/** Columns of some rows and their types. */
interface CopiedColumns {
  readonly vectors: readonly Vector[];
  readonly types: readonly DataType[];
}

/** What makes columns of scanned rows. */
export interface ColumnReader {
  of(bytes: Uint8Array, rows: ScannedRows, width: number): CopiedColumns;
}

/** A reader for these columns. @param timeZone of texts without a zone */
export function copyColumns(columns: RowIntake["columns"], isBinary: boolean, timeZone: string): ColumnReader {
  const own = columns.map(({ type }) => type);
  const tags = columns.map(({ type, isTag }) => (isTag && type.kind === "string" ? new TagTexts() : undefined));
  let last: readonly DataType[] = own;
  return {
    of(bytes, rows, width) {
      const vectors: Vector[] = [];
      const types: DataType[] = [];
      for (const [column, type] of own.entries()) {
        const scanned: ScannedColumn = { bytes, rows, width, column };
        const tag = tags[column];
        const vector =
          tag !== undefined ? tag.of(scanned) : isBinary ? binaryVector(scanned, type, timeZone) : plainVector(scanned, type, timeZone);
        vectors.push(vector ?? textVector(scanned));
        types.push(vector === undefined ? STRING : type);
      }
      // The same list for the same types: the table prepares itself for each.
      if (types.some((type, i) => type !== last[i])) last = types;
      return { vectors, types: last };
    },
  };
}

function plainVector(scanned: ScannedColumn, type: DataType, timeZone: string): Vector | undefined {
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
    case "binary":
      return scalarVector(scanned, type, (bytes) => byteaOf(bytes, timeZone));
    default:
      return undefined;
  }
}

function byteaOf(bytes: Uint8Array, timeZone: string): Scalar {
  return parameterValue({ oid: Oid.Bytea, format: Format.Text, bytes }, timeZone).value as Scalar; // bytes
}

/** Values one after the other. */
function scalarVector({ bytes, rows, width, column }: ScannedColumn, type: DataType, read: (bytes: Uint8Array) => Scalar): Vector {
  const values: Scalar[] = [];
  for (let row = 0; row < rows.rows; row++) {
    const i = row * width + column;
    const [start = 0, end = 0] = [rows.starts[i], rows.ends[i]];
    values.push(end < start ? undefined : read(bytes.subarray(start, end)));
  }
  return vectorOf(type, values);
}

function binaryVector(scanned: ScannedColumn, type: DataType, timeZone: string): Vector {
  if (type.kind === "string" || type.kind === "binary") return textVector(scanned);
  const oid = oidOf(type);
  return scalarVector(scanned, type, (bytes) => {
    const { value, type: given } = parameterValue({ oid, format: Format.Binary, bytes }, timeZone);
    return castValue(value, given, type, { timeZone }) as Scalar; // No column holds intervals.
  });
}
