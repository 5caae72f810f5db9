/** One column of a record batch: its own buffers, and those of what it is made of. */
import { type DataType, isNested, type NestedType } from "../../../column/data-type.ts";
import { intervalOfBytes } from "../../../column/interval-bytes.ts";
import { encodeNested, type NestedPart } from "../../../column/nested.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar, Validity, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { malformed } from "./arrow-failure.ts";
import type { ArrowDictionary, ArrowField } from "./arrow-field.ts";
import type { Body } from "./body.ts";
import { unpackedBits } from "./kernels/words.ts";
import { needBytes, readBytes, readFixed, readOffsets, readViews } from "./read-bytes.ts";
import { INTERVALS_AS_BYTES, readValues } from "./read-values.ts";
import type { Scratch } from "../scratch.ts";

/** A column and how many rows it has. Intervals are their 16 bytes. */
export interface ReadColumn {
  readonly vector: Vector;
  readonly rowCount: number;
}

/** What dictionaries hold by now. */
export interface Dictionaries {
  /** The rows of a column out of indexes of a dictionary. @throws DbError InvalidArguments */
  pick(encoding: ArrowDictionary, field: ArrowField, indexes: Vector, rowCount: number, scratch: Scratch): Vector;
}

/** Bytes that a row of a list, or one out of a run, is counted as. */
const ROW_BYTES = 16;

/** Reads columns of one message. */
export class ColumnReader {
  private readonly body: Body;
  private readonly dictionaries: Dictionaries;

  constructor(body: Body, dictionaries: Dictionaries) {
    this.body = body;
    this.dictionaries = dictionaries;
  }

  /** The next column. @throws DbError InvalidArguments, Unsupported, RuntimeResourcesExhausted */
  read(field: ArrowField): ReadColumn {
    const { dictionary } = field;
    if (dictionary === undefined) return this.plain(field);
    const { rowCount, validity } = this.begin(field);
    const indexes = readValues({ ...dictionary, kind: "int" }, this.body, field, rowCount, validity);
    this.body.allowance.take(rowCount * 4);
    if (isNested(field.type)) this.body.allowance.make(rowCount);
    return { rowCount, vector: this.dictionaries.pick(dictionary, field, indexes, rowCount, this.body.scratch) };
  }

  /** Rows and which of them are NULL. */
  private begin(field: ArrowField): { readonly rowCount: number; readonly validity: Validity } {
    const { rowCount, hasNulls } = this.body.nextNode();
    const bits = this.body.nextBuffer();
    if (!hasNulls) return { rowCount, validity: undefined };
    needBytes(bits, Math.ceil(rowCount / 8), field);
    this.body.allowance.take(rowCount);
    return { rowCount, validity: unpackedBits(bits, rowCount, this.body.scratch.bytes(rowCount)) };
  }

  /** A column that no dictionary encodes, or the values of a dictionary. */
  plain(field: ArrowField): ReadColumn {
    const { shape } = field;
    const { body } = this;
    if (shape.kind === "null") return this.nulls();
    if (shape.kind === "runs") return this.runs(field);
    const { rowCount, validity } = this.begin(field);
    switch (shape.kind) {
      case "bytes":
        return { rowCount, vector: readBytes(body, field, rowCount, shape.wide, validity) };
      case "fixed":
        return { rowCount, vector: readFixed(body, field, rowCount, shape.width, validity) };
      case "view":
        return { rowCount, vector: readViews(body, field, rowCount, validity) };
      case "list":
      case "map":
        return { rowCount, vector: this.lists(field, rowCount, validity, shape.kind === "list" && shape.wide) };
      case "fixed-list":
        return { rowCount, vector: this.fixedLists(field, rowCount, validity, shape.size) };
      case "struct":
        return { rowCount, vector: this.structs(field, rowCount, validity) };
      default:
        return { rowCount, vector: readValues(shape, body, field, rowCount, validity) };
    }
  }

  private nulls(): ReadColumn {
    const { rowCount } = this.body.nextNode();
    this.body.allowance.take(rowCount * 2);
    return { rowCount, vector: { kind: "number", values: new Uint8Array(rowCount), validity: new Uint8Array(rowCount) } };
  }

  /** Runs of equal values: the rows before `ends[i]` and not before the end before it have value `i`. */
  private runs(field: ArrowField): ReadColumn {
    const [endsField, valuesField] = field.children as readonly [ArrowField, ArrowField];
    const { rowCount } = this.body.nextNode();
    const ends = this.read(endsField);
    const values = this.read(valuesField);
    this.body.allowance.take(rowCount * ROW_BYTES);
    this.body.allowance.make(rowCount);
    const type = scalarType(valuesField.type);
    const rows: Scalar[] = [];
    for (let run = 0; run < ends.rowCount && rows.length < rowCount; run++) {
      const end = Number(scalarAt(ends.vector, endsField.type, run));
      if (!(end > rows.length) || run >= values.rowCount) throw malformed(`column ${field.path} has a run that ends before it begins`);
      const value = scalarAt(values.vector, type, run);
      while (rows.length < Math.min(end, rowCount)) rows.push(value);
    }
    if (rows.length < rowCount) throw malformed(`column ${field.path} has ${rowCount} rows; its runs end at ${rows.length}`);
    return { rowCount, vector: vectorOf(type, rows) };
  }

  private lists(field: ArrowField, rowCount: number, validity: Validity, wide: boolean): Vector {
    const [items] = field.children as readonly [ArrowField];
    const offsets = readOffsets(this.body, field, rowCount, wide, Number.POSITIVE_INFINITY);
    const end = offsets[offsets.length - 1]!;
    const partsOf = field.shape.kind === "map" ? this.entries(items, end) : this.items(items, end);
    return this.nested(field, rowCount, validity, (row) => partsOf(offsets[row]!, offsets[row + 1]!));
  }

  private fixedLists(field: ArrowField, rowCount: number, validity: Validity, size: number): Vector {
    const [items] = field.children as readonly [ArrowField];
    const partsOf = this.items(items, rowCount * size);
    return this.nested(field, rowCount, validity, (row) => partsOf(row * size, (row + 1) * size));
  }

  private structs(field: ArrowField, rowCount: number, validity: Validity): Vector {
    const parts = field.children.map((child) => this.parts(child, rowCount));
    return this.nested(field, rowCount, validity, (row) => parts.map((part) => part(row)));
  }

  private items(field: ArrowField, end: number): (from: number, to: number) => readonly NestedPart[] {
    const part = this.parts(field, end);
    return (from, to) => {
      this.body.allowance.make(to - from);
      return Array.from({ length: to - from }, (_, i) => part(from + i));
    };
  }

  private entries(field: ArrowField, end: number): (from: number, to: number) => readonly NestedPart[] {
    const { rowCount } = this.begin(field);
    if (rowCount < end) throw malformed(`column ${field.path} has ${rowCount} entries of maps; ${end} are needed`);
    const [key, value] = field.children.map((child) => this.parts(child, end)) as [
      (row: number) => NestedPart,
      (row: number) => NestedPart,
    ];
    return (from, to) => {
      this.body.allowance.make(2 * (to - from));
      return Array.from({ length: to - from }, (_, i) => [key(from + i), value(from + i)]).flat();
    };
  }

  /** Values of a column that others are made of. */
  private parts(field: ArrowField, rows: number): (row: number) => NestedPart {
    const { vector, rowCount } = this.read(field);
    if (rowCount < rows) throw malformed(`column ${field.path} has ${rowCount} values; ${rows} are needed`);
    const type = scalarType(field.type);
    if (field.type.kind !== "interval") return (row) => scalarAt(vector, type, row);
    return (row) => {
      const bytes = scalarAt(vector, type, row);
      return bytes instanceof Uint8Array ? intervalOfBytes(bytes) : undefined;
    };
  }

  private nested(field: ArrowField, rowCount: number, validity: Validity, partsOf: (row: number) => readonly NestedPart[]): Vector {
    this.body.allowance.take(rowCount * ROW_BYTES);
    this.body.allowance.make(rowCount * (field.shape.kind === "struct" ? 1 + field.children.length : 1));
    const type = field.type as NestedType; // of lists, maps and structs
    const values = Array.from({ length: rowCount }, (_, row) => {
      if (validity !== undefined && validity[row]! === 0) return undefined;
      const parts = partsOf(row);
      this.body.allowance.take(parts.length * ROW_BYTES);
      return encodeNested(type, parts);
    });
    return vectorOf(type, values);
  }
}

/** The type under which values are moved as scalars. */
export function scalarType(type: DataType): DataType {
  return type.kind === "interval" ? INTERVALS_AS_BYTES : type;
}
