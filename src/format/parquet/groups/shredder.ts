/**
 * Lists, structs, maps and vectors → the columns that Parquet has for them: one for each part that holds values (a leaf), with levels that
 * say where lists begin and what is NULL.
 *
 *   table      l BIGINT[]                          file       l      optional group, LIST
 *   rows       [1, 2]   [NULL]   []   NULL                      list   repeated group
 *                                                                  element   optional INT64
 *   entries    1  2  NULL  NULL  NULL
 *   repetition 0  1   0     0     0                0 begins a row, 1 goes on with the list
 *   definition 3  3   2     1     0                3 a value, 2 a NULL element, 1 an empty list, 0 a NULL list
 *
 * Source: Apache Parquet, LogicalTypes.md, "Nested Types"; the levels are those of the Dremel paper (Melnik et al., 2010).
 */
import { assert } from "../../../base/assert.ts";
import { type DbError, invalidArguments } from "../../../base/error.ts";
import { type DataType, FLOAT32, isNested, STRING } from "../../../column/data-type.ts";
import { intervalText } from "../../../value/interval/interval-text.ts";
import { decodeNested, type NestedPart } from "../../../column/nested.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { SchemaNode } from "../footer/file-metadata-writer.ts";
import type { ColumnInput, LeafLevels, ParquetColumn } from "../types.ts";
import { LevelBuffer } from "./level-buffer.ts";

/** Most levels of a leaf. Reason: a level takes a byte. Error: InvalidArguments. */
const LEVELS_MAX = 255;

/** Whether values of a type take a group of columns in a file. */
export function isGrouped(type: DataType): boolean {
  return isNested(type) || type.kind === "vector";
}

/** Entries of a leaf: as a column of the file takes them. */
export interface LeafRows {
  readonly input: ColumnInput;
  readonly levels: LeafLevels;
  readonly entryCount: number;
}

/** What a name in the schema does with values. */
interface Part {
  readonly node: SchemaNode;
  /** A value or NULL. @param repetition level of the first entry that it makes */
  put(value: NestedPart, repetition: number): void;
  /** Something above is NULL or empty: one entry in every leaf. */
  absent(repetition: number, definition: number): void;
}

/** Where a part stands. */
interface Place {
  readonly name: string;
  /** Names down to the part, its own included. */
  readonly path: readonly string[];
  readonly isRequired: boolean;
  /** Level of the part when it is not NULL. */
  readonly definition: number;
  readonly repetition: number;
}

/** Owns the entries of one column of the table until `take` hands them out. */
export class Shredder {
  /** The column's group. */
  readonly node: SchemaNode;
  /** Columns of the file, in the order of `take`. */
  readonly columns: readonly ParquetColumn[];
  private readonly part: Part;
  private readonly leaves: Leaf[] = [];

  /**
   * @param firstColumn number of the first leaf among the columns of the file
   * @throws DbError InvalidArguments for a type that a file cannot have
   */
  constructor(name: string, type: DataType, firstColumn: number) {
    const place: Place = { name, path: [name], isRequired: false, definition: 1, repetition: 0 };
    this.part = partOf(type, place, (leaf) => firstColumn + this.leaves.push(leaf) - 1);
    this.node = this.part.node;
    this.columns = this.leaves.map(({ column }) => column);
  }

  /** Adds a row: a value's bytes, or NULL. */
  add(value: Uint8Array | undefined): void {
    this.part.put(value, 0);
  }

  /** The entries of all rows added, by leaf. */
  take(): readonly LeafRows[] {
    return this.leaves.map((leaf) => leaf.take());
  }
}

/** A column of the file. */
class Leaf implements Part {
  readonly node: SchemaNode;
  readonly column: ParquetColumn;
  private readonly definitionMax: number;
  private readonly definition = new LevelBuffer();
  private readonly repetition: LevelBuffer | undefined;
  private values: Scalar[] = [];

  constructor(type: DataType, { name, path, isRequired, definition, repetition }: Place, numberOf: (leaf: Leaf) => number) {
    // A column of nothing but NULL has no type of its own.
    const stored = type.kind === "null" ? STRING : type;
    this.definitionMax = definition;
    this.repetition = repetition === 0 ? undefined : new LevelBuffer();
    const leaf = { path, definitionMax: definition, repetitionMax: repetition };
    this.column = { name: path.join("."), type: stored, nullable: true, role: "field", leaf };
    this.node = { kind: "leaf", name, isRequired, column: numberOf(this) };
  }

  put(value: NestedPart, repetition: number): void {
    this.definition.push(value === undefined ? this.definitionMax - 1 : this.definitionMax);
    this.repetition?.push(repetition);
    this.values.push(typeof value === "object" && !(value instanceof Uint8Array) ? intervalText(value) : value);
  }

  absent(repetition: number, definition: number): void {
    this.definition.push(definition);
    this.repetition?.push(repetition);
    this.values.push(undefined);
  }

  take(): LeafRows {
    const input = vectorOf(this.column.type, this.values);
    assert(input.kind !== "dictionary" && input.kind !== "coded", "vectors made of values have no dictionary");
    const entryCount = this.values.length;
    this.values = [];
    return { input, entryCount, levels: { definition: this.definition.take(), repetition: this.repetition?.take() } };
  }
}

function partOf(type: DataType, place: Place, numberOf: (leaf: Leaf) => number): Part {
  if (place.definition + 2 > LEVELS_MAX) throw unwritable(place, `it is nested deeper than ${LEVELS_MAX} levels`);
  switch (type.kind) {
    case "list":
      return listPart(type.element, place, numberOf, (bytes) => decodeNested(type, bytes));
    case "vector":
      return listPart(FLOAT32, place, numberOf, floatsOf);
    case "map":
      return mapPart(type, place, numberOf);
    case "struct":
      return structPart(type, place, numberOf);
    default:
      return new Leaf(type, place, numberOf);
  }
}

/** The place of a part below another. @param levels that it adds: `optional` ones, and `repeated` ones among them */
function below(place: Place, names: readonly string[], isRequired: boolean, definition: number, repetition: number): Place {
  return {
    name: names.at(-1) ?? "",
    path: [...place.path, ...names],
    isRequired,
    definition: place.definition + definition,
    repetition: place.repetition + repetition,
  };
}

function listPart(element: DataType, place: Place, numberOf: (leaf: Leaf) => number, partsOf: (bytes: Uint8Array) => NestedPart[]): Part {
  const inner = partOf(element, below(place, ["list", "element"], false, 2, 1), numberOf);
  const again = place.repetition + 1;
  return {
    node: groupNode(place, "list", [{ kind: "group", name: "list", repetition: "repeated", children: [inner.node] }]),
    put(value, repetition) {
      const bytes = bytesOf(value, place);
      if (bytes === undefined) return inner.absent(repetition, place.definition - 1);
      const parts = partsOf(bytes);
      if (parts.length === 0) inner.absent(repetition, place.definition);
      for (let i = 0; i < parts.length; i++) inner.put(parts[i], i === 0 ? repetition : again);
    },
    absent: (repetition, definition) => inner.absent(repetition, definition),
  };
}

function mapPart(type: Extract<DataType, { kind: "map" }>, place: Place, numberOf: (leaf: Leaf) => number): Part {
  const key = partOf(type.key, below(place, ["key_value", "key"], true, 1, 1), numberOf);
  const item = partOf(type.value, below(place, ["key_value", "value"], false, 2, 1), numberOf);
  const again = place.repetition + 1;
  const absent = (repetition: number, definition: number): void => {
    key.absent(repetition, definition);
    item.absent(repetition, definition);
  };
  return {
    node: groupNode(place, "map", [{ kind: "group", name: "key_value", repetition: "repeated", children: [key.node, item.node] }]),
    put(value, repetition) {
      const bytes = bytesOf(value, place);
      if (bytes === undefined) return absent(repetition, place.definition - 1);
      const parts = decodeNested(type, bytes);
      if (parts.length === 0) absent(repetition, place.definition);
      for (let i = 0; i + 1 < parts.length; i += 2) {
        if (parts[i] === undefined) throw unwritable(place, "a map has NULL as a key");
        const level = i === 0 ? repetition : again;
        key.put(parts[i], level);
        item.put(parts[i + 1], level);
      }
    },
    absent,
  };
}

function structPart(type: Extract<DataType, { kind: "struct" }>, place: Place, numberOf: (leaf: Leaf) => number): Part {
  const { fields } = type;
  if (fields.length === 0) throw unwritable(place, "it has no fields, and Parquet no groups without any");
  const twice = fields.find(({ name }, i) => fields.findIndex((other) => other.name === name) !== i);
  if (twice !== undefined) throw unwritable(place, `two of its fields are called ${twice.name}`);
  const parts = fields.map((field) => partOf(field.type, below(place, [field.name], false, 1, 0), numberOf));
  const absent = (repetition: number, definition: number): void => {
    for (const part of parts) part.absent(repetition, definition);
  };
  return {
    node: groupNode(
      place,
      undefined,
      parts.map(({ node }) => node),
    ),
    put(value, repetition) {
      const bytes = bytesOf(value, place);
      if (bytes === undefined) return absent(repetition, place.definition - 1);
      const values = decodeNested(type, bytes);
      for (let i = 0; i < parts.length; i++) parts[i]!.put(values[i], repetition);
    },
    absent,
  };
}

function groupNode({ name, isRequired }: Place, holds: "list" | "map" | undefined, children: readonly SchemaNode[]): SchemaNode {
  return { kind: "group", name, repetition: isRequired ? "required" : "optional", ...(holds && { holds }), children };
}

function bytesOf(value: NestedPart, { path }: Place): Uint8Array | undefined {
  assert(value === undefined || value instanceof Uint8Array, `values of ${path.join(".")} are bytes`);
  return value;
}

/** The floats of a vector (`value/embedding.ts`). */
function floatsOf(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length >> 2 }, (_, i) => view.getFloat32(i * 4, true));
}

function unwritable({ path }: Place, why: string): DbError {
  return invalidArguments(`cannot write column ${path.join(".")} as Parquet: ${why}`);
}
