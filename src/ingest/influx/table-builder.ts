/**
 * One measurement while a request is decoded: its field names, the columns of its rows, and what its names may be.
 *
 * It lives on between requests for its arrays and its guesses; `begin` forgets the rows. A name is checked against the existing
 * table when a line first uses it in a request. Fields that a line brings count only when the line proves good: `rollback` takes the
 * others away again.
 */
import { TABLE_COLUMNS_MAX } from "../../base/limits.ts";
import { type DataType, sameType, sqlName } from "../../column/data-type.ts";
import type { TagShape as DictionaryShape } from "../../table/series-dictionary.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import type { Budget } from "./budget.ts";
import { type Failure, Reason } from "./failure.ts";
import { DATA_TYPES, FieldType, NO_COLUMN } from "./field-column.ts";
import { type FieldName, FieldNames } from "./field-names.ts";
import { FIELD_NAMES_MAX } from "./limits.ts";
import { windowOf } from "../common/time-window.ts";
import { TablePart } from "./table-part.ts";
import type { DecodeOptions } from "./types.ts";

/** The tag names of some series of a table, in the order sent. Shared by all their keys. */
export interface TagShape {
  readonly table: TableBuilder;
  readonly names: readonly string[];
  /** What the dictionary keeps of each key. */
  readonly tags: DictionaryShape;
  /** Request in which the names were last accepted. */
  epoch: number;
}

/** What an existing table says about a name. */
interface ExistingColumn {
  readonly type: DataType;
  readonly semantic: "tag" | "field" | "timestamp";
}

/** Most names, used or not, that a measurement remembers within a request: bad lines bring names, too. */
const REGISTERED_NAMES_MAX: number = 2 * TABLE_COLUMNS_MAX;

export class TableBuilder {
  readonly table: string;
  names: FieldNames = new FieldNames();
  /** Fields that good lines of this request have, in the order in which they came, and those of the current line behind them. */
  readonly active: FieldName[] = [];
  /** The part of the current line. */
  part: TablePart;
  /** Request for which `begin` was last called. */
  epoch = 0;
  /** Tag names that good lines of this request have. */
  private readonly tagNames: Set<string> = new Set();
  private readonly existing: Map<string, ExistingColumn | undefined> = new Map();
  private parts: TablePart[] = [];
  /** The part that holds a window. */
  private readonly partOf: Map<number, TablePart> = new Map();
  private readonly budget: Budget;
  private accepted = true;

  constructor(table: string, budget: Budget) {
    this.table = table;
    this.budget = budget;
    this.part = this.addPart();
  }

  /** Starts a request. */
  begin(epoch: number, options: DecodeOptions): void {
    this.clearRows();
    if (this.names.list.length > TABLE_COLUMNS_MAX) this.forgetNames();
    this.tagNames.clear();
    this.existing.clear();
    this.epoch = epoch;
    this.accepted = options.acceptsTable === undefined || options.acceptsTable(this.table);
  }

  /** Checks the tag names of a line. They count from `commitTags` on. Returns 0, or -1 with the reason in `failure`. */
  checkTags(shape: TagShape, options: DecodeOptions, failure: Failure): 0 | -1 {
    if (!this.accepted) {
      failure.column = this.table;
      return failure.at(Reason.TableName, 0, 0);
    }
    for (const name of shape.names) {
      if (this.tagNames.has(name)) continue;
      if (name === options.timeColumn) return failure.conflict(name, "the time column", "a tag");
      const field = this.names.named(name);
      if (field !== undefined && field.type !== FieldType.None) return failure.conflict(name, "a field", "a tag");
      const column = this.lookup(name, options);
      if (column === undefined) continue;
      if (column.semantic !== "tag") return failure.conflict(name, ROLES[column.semantic], "a tag");
      if (column.type.kind !== "string") return failure.conflict(name, sqlName(column.type), "STRING");
    }
    return 0;
  }

  /** Makes the tag names of a good line count. */
  commitTags(shape: TagShape): void {
    for (const name of shape.names) this.tagNames.add(name);
    shape.epoch = this.epoch;
  }

  /** The field whose raw name starts at `start`, added when it is new; undefined, with the reason in `failure`, when it cannot be. */
  findField(bytes: Uint8Array, start: number, failure: Failure): FieldName | undefined {
    const { budget, names, parts } = this;
    const count = names.list.length;
    let full: Reason | undefined;
    if (count >= REGISTERED_NAMES_MAX) full = Reason.Columns;
    else if (budget.newNames >= FIELD_NAMES_MAX) full = Reason.FieldNames;
    const field = names.find(bytes, start, full, failure);
    if (names.list.length > count) {
      budget.addName();
      for (const part of parts) part.columns.push(NO_COLUMN);
    }
    return field;
  }

  /** Checks that a field of the current line may have `type` and makes it active. Returns 0, or -1 with the reason in `failure`. */
  activate(field: FieldName, type: FieldType, shape: TagShape, options: DecodeOptions, failure: Failure): 0 | -1 {
    if (field.type === type) return 0;
    const { name } = field;
    const have = typeName(type);
    if (field.type !== FieldType.None) return failure.conflict(name, typeName(field.type), have);
    if (name === options.timeColumn) return failure.conflict(name, "the time column", `a field of ${have}`);
    if (this.tagNames.has(name) || shape.names.includes(name)) return failure.conflict(name, "a tag", `a field of ${have}`);
    const column = this.lookup(name, options);
    if (column !== undefined) {
      if (column.semantic !== "field") return failure.conflict(name, ROLES[column.semantic], `a field of ${have}`);
      const wanted = DATA_TYPES[type];
      if (wanted !== undefined && !sameType(column.type, wanted)) return failure.conflict(name, sqlName(column.type), have);
    }
    if (this.active.length + this.tagNames.size >= TABLE_COLUMNS_MAX) return failure.at(Reason.Columns, 0, 0);
    field.type = type;
    this.active.push(field);
    return 0;
  }

  /** Takes back what the current line did: its values, and the fields beyond the first `activeCount`. */
  rollback(activeCount: number): void {
    const { active, part } = this;
    const row = part.rowCount;
    for (const field of active) part.columns[field.index]?.rollback(row);
    for (let i = activeCount; i < active.length; i++) active[i]!.type = FieldType.None;
    active.length = activeCount;
  }

  /** Makes the part that a time belongs to the current one. */
  moveTo(seconds: number): void {
    const known = this.partOf.get(windowOf(seconds));
    if (known !== undefined) {
      this.part = known;
      return;
    }
    if (this.part.rowCount === 0) return;
    this.part = this.parts.find((part) => part.rowCount === 0) ?? this.addPart();
  }

  /** Settles the current part, which has no rows yet, on the window of a time. */
  openPart(seconds: number, nanos: number): void {
    this.part.open(seconds, nanos);
    this.partOf.set(windowOf(seconds), this.part);
  }

  /** Drops rows and arrays and keeps the names. */
  shed(): void {
    this.clearRows();
    for (const part of this.parts) this.budget.release(part.byteSize);
    this.parts = [];
    this.part = this.addPart();
  }

  /** Adds the rows of this request to `writes`. */
  finish(writes: TableWrite[]): void {
    for (const part of this.parts) if (part.rowCount > 0) writes.push(part.finish(this.table, this.active));
  }

  private clearRows(): void {
    for (const part of this.parts) part.reset(this.active);
    for (const dropped of this.parts.splice(1)) this.budget.release(dropped.byteSize);
    for (const field of this.active) field.type = FieldType.None;
    this.active.length = 0;
    this.partOf.clear();
    this.part = this.parts[0] ?? this.addPart();
  }

  /** Starts over with field names, most of which no request names any more. */
  private forgetNames(): void {
    this.budget.names -= this.names.list.length;
    this.names = new FieldNames();
    this.shed();
  }

  private addPart(): TablePart {
    const part = new TablePart(this.budget);
    for (let i = 0; i < this.names.list.length; i++) part.columns.push(NO_COLUMN);
    this.parts.push(part);
    return part;
  }

  private lookup(name: string, options: DecodeOptions): ExistingColumn | undefined {
    if (this.existing.has(name)) return this.existing.get(name);
    const column = options.schemas.columnOf(options.database, this.table, name);
    this.existing.set(name, column);
    return column;
  }
}

const ROLES: Readonly<Record<ExistingColumn["semantic"], string>> = { tag: "a tag", field: "a field", timestamp: "the time column" };

function typeName(type: FieldType): string {
  const dataType = DATA_TYPES[type];
  return dataType === undefined ? "nothing" : sqlName(dataType);
}
