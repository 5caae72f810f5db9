/**
 * Rows of one table on their way to columns. A row is read whole before any of it is kept, so that a row which fails leaves nothing.
 *
 *   row ─► declared columns by place, other fields by name (new ones in alphabetical order) ─► RowCollector
 */
import {
  BINARY,
  BOOLEAN,
  type DataType,
  FLOAT64,
  INT64,
  STRING,
  sameType,
  TIMESTAMP_NANOSECOND,
  displayName,
} from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { type FieldCells, RowCollector, tagKey } from "../../table/rows/row-collector.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import { tagText } from "../../table/tag-value.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { failure } from "./failure.ts";
import { HINT_FIELDS } from "./hints.ts";
import { jsonText } from "./json/json-text.ts";
import { jsonb } from "./json/jsonb.ts";
import type { ScannedColumn, ScannedTable } from "../common/json-columns.ts";
import { type Layout, timeDefinition } from "./layout.ts";
import { FOUND_COLUMNS_MAX } from "./limits.ts";
import type { PipelineRunOptions } from "./types.ts";
import { kindOf, PipelineTime, type PipelineObject, type PipelineValue, setField, timeIn, WholeFloat } from "../common/value.ts";

/** A column that rows fill. */
interface Slot {
  readonly definition: ColumnDefinition;
  /** Undefined for tags. */
  readonly cells: FieldCells | undefined;
}

/** See the file header. */
export class TableSink implements ScannedTable {
  readonly table: string;
  readonly layout: Layout;
  private readonly run: PipelineRunOptions;
  private readonly dictionary: SeriesDictionary;
  private readonly collector: RowCollector;
  private readonly declared: readonly Slot[];
  private readonly found: Map<string, Slot> = new Map();
  private readonly timeName: string;
  private hasTags: boolean;
  private emptyKey = -1;
  /** What the row that is read sets. Kept between rows. */
  private readonly slots: Slot[] = [];
  private readonly values: Scalar[] = [];
  private count = 0;

  constructor(table: string, layout: Layout, dictionary: SeriesDictionary, run: PipelineRunOptions) {
    this.table = table;
    this.layout = layout;
    this.run = run;
    this.dictionary = dictionary;
    this.collector = new RowCollector(table, layout.time.unit);
    this.timeName = layout.time.name ?? run.timeColumn;
    this.declared = layout.declared.map((column) => this.slotOf(definitionOf(column)));
    this.hasTags = layout.declared.some(({ semantic }) => semantic === "tag");
  }

  /** Rows kept. */
  get rowCount(): number {
    return this.collector.rowCount;
  }

  /** Keeps a row. @throws DbError InvalidArguments, and keeps nothing of it */
  add(row: PipelineObject): void {
    const { layout, run } = this;
    this.count = 0;
    for (let i = 0; i < layout.declared.length; i++) {
      const cell = layout.declared[i]?.cell(row, run.nowNanos);
      if (cell !== undefined) this.put(this.declared[i] as Slot, cell); // as many as declared columns
    }
    const time = layout.time.of(row, run.nowNanos, run.timeColumn);
    if (layout.findsColumns) this.find(row);
    this.collector.begin(time, this.hasTags ? this.tagKey() : this.untaggedKey());
    for (let i = 0; i < this.count; i++) this.slots[i]?.cells?.set(this.values[i]);
  }

  get timeField(): string | undefined {
    return this.layout.time.name;
  }

  knownColumn(name: string): ScannedColumn | undefined {
    const slot = this.found.get(name);
    if (slot === undefined || slot.definition.semantic !== "tag") return slot?.cells;
    return slot.definition.type.kind === "string" ? "tag" : undefined;
  }

  beginScanned(names: string[], texts: string[], value: PipelineValue): void {
    const { layout, run, timeField } = this;
    if (timeField === undefined && names.length === 0) {
      this.collector.begin(run.nowNanos, this.untaggedKey());
      return;
    }
    const row: PipelineObject = {};
    if (timeField !== undefined) setField(row, timeField, value);
    const time = layout.time.of(row, run.nowNanos, run.timeColumn);
    for (let i = names.length - 1; i >= 0; i--) {
      if (texts[i] !== "") continue;
      names.splice(i, 1);
      texts.splice(i, 1);
    }
    this.collector.begin(time, names.length === 0 ? this.untaggedKey() : tagKey(this.dictionary, this.table, names, texts));
  }

  /** All rows, with the shape of the table. The sink is used up. */
  writes(): TableWrite[] {
    const columns: ColumnDefinition[] = this.declared.map(({ definition }) => definition);
    columns.splice(this.layout.timePlace, 0, timeDefinition(this.layout.time, this.run.timeColumn));
    for (const { definition } of this.found.values()) columns.push(definition);
    return this.collector.writes(columns);
  }

  private put(slot: Slot, value: Scalar): void {
    this.slots[this.count] = slot;
    this.values[this.count++] = value;
  }

  private find(row: PipelineObject): void {
    let unknown: string[] | undefined;
    for (const name in row) {
      const value = row[name];
      if (value === null || value === undefined) continue;
      const slot = this.found.get(name);
      if (slot !== undefined) this.put(slot, foundCell(value, slot.definition));
      else if (!this.isIgnored(name)) {
        unknown ??= [];
        unknown.push(name);
      }
    }
    if (unknown !== undefined) this.addColumns(row, unknown.sort());
  }

  private isIgnored(name: string): boolean {
    return name === this.timeName || this.layout.consumed.has(name) || HINT_FIELDS.has(name);
  }

  private addColumns(row: PipelineObject, names: readonly string[]): void {
    if (this.found.size + names.length > FOUND_COLUMNS_MAX) {
      throw failure(`Table ${this.table} would get more than ${FOUND_COLUMNS_MAX} columns`);
    }
    const cells = names.map((name) => {
      if (this.declared.some(({ definition }) => definition.name === name)) {
        throw failure(`Field ${name} has the name of a column of the transform`);
      }
      const definition = this.definitionFor(name, row[name]);
      return [definition, foundCell(row[name], definition)] as const;
    });
    for (const [definition, cell] of cells) {
      const slot = this.slotOf(definition);
      this.found.set(definition.name, slot);
      if (definition.semantic === "tag") this.hasTags = true;
      this.put(slot, cell);
    }
  }

  /** A column of the table as it is, a new one by its value. */
  private definitionFor(name: string, value: PipelineValue): ColumnDefinition {
    const known = this.run.schemas.columnOf(this.run.database, this.table, name);
    if (known === undefined) return { name, type: foundType(value), semantic: "field", nullable: true };
    if (known.semantic === "timestamp")
      throw failure(`Column ${name} of table ${this.table} is its time index, but a field in the pipeline`);
    return { name, type: known.type, semantic: known.semantic, nullable: true };
  }

  private slotOf(definition: ColumnDefinition): Slot {
    return { definition, cells: definition.semantic === "tag" ? undefined : this.collector.field(definition.name, definition.type) };
  }

  private untaggedKey(): number {
    if (this.emptyKey < 0) this.emptyKey = tagKey(this.dictionary, this.table, [], []);
    return this.emptyKey;
  }

  private tagKey(): number {
    const names: string[] = [];
    const texts: string[] = [];
    for (let i = 0; i < this.count; i++) {
      const { definition, cells } = this.slots[i] as Slot; // filled up to count
      if (cells !== undefined) continue;
      const text = tagText(this.values[i], definition.type);
      if (text === undefined || text === "") continue;
      names.push(definition.name);
      texts.push(text);
    }
    return tagKey(this.dictionary, this.table, names, texts);
  }
}

function definitionOf({ name, type, semantic, nullable, indexes }: ColumnDefinition): ColumnDefinition {
  return { name, type, semantic, nullable, ...(indexes === undefined ? {} : { indexes }) };
}

/** The type of a column that a value makes. */
function foundType(value: PipelineValue): DataType {
  switch (kindOf(value)) {
    case "int":
      return INT64;
    case "float":
      return FLOAT64;
    case "boolean":
      return BOOLEAN;
    case "string":
      return STRING;
    case "time":
      return TIMESTAMP_NANOSECOND;
    default:
      return BINARY;
  }
}

/** The cell of a value in a column of its kind. @throws DbError InvalidArguments for another kind */
function foundCell(value: PipelineValue, { name, type }: ColumnDefinition): Scalar {
  switch (typeof value) {
    case "string":
      if (type.kind === "string") return value;
      break;
    case "number":
      if (type.kind === (Number.isSafeInteger(value) && !Object.is(value, -0) ? "int" : "float") && hasAllBits(type)) return value;
      break;
    case "boolean":
      if (type.kind === "boolean") return value;
      break;
    case "bigint":
      if (type.kind === "int" && hasAllBits(type)) return inRange(value, name, type);
      break;
    default:
      if (value instanceof WholeFloat) {
        if (type.kind === "float" && type.bits === 64) return value.value;
      } else if (value instanceof PipelineTime) {
        if (type.kind === "timestamp") return timeIn(value, type.unit);
      } else if (type.kind === "json") return jsonText(value);
      else if (type.kind === "binary") return jsonb(value);
  }
  const [expected, actual] = [displayName(type), displayName(foundType(value))];
  throw failure(`Column datatype mismatch. For column: ${name}, expected datatype: ${expected}, actual datatype: ${actual}`);
}

function hasAllBits(type: DataType): boolean {
  return type.kind === "float" ? type.bits === 64 : sameType(type, INT64);
}

function inRange(value: bigint, name: string, type: DataType): bigint {
  if (BigInt.asIntN(64, value) === value) return value;
  throw failure(`Column ${name} of type ${displayName(type)} cannot hold ${value}`);
}
