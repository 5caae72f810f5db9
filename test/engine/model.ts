/**
 * What a table should answer: every row ever written, kept as it was written, and resolved when it is asked for. Slow and simple.
 */
import { compareText } from "../../src/storage/series/series-ranks.ts";
import type { DataType } from "../../src/column/data-type.ts";
import { retypeScalar } from "../../src/value/retype.ts";
import type { Scalar } from "../../src/column/vector.ts";
import type { ScanRequest, TagPredicate } from "../../src/table/scan.ts";
import type { ColumnDefinition, MergeMode } from "../../src/table/schema.ts";

/** One row: values by column name; a missing name is NULL. Tags are text, the time is a bigint under the time index's name. */
export type ModelRow = ReadonlyMap<string, Scalar>;

/** One table. Rows are in the order in which they were written. */
export class TableModel {
  readonly columns: ColumnDefinition[];
  readonly mode: MergeMode;
  /** The time before which rows have expired now. */
  livingFrom: () => bigint | undefined = () => undefined;
  private rows: ModelRow[] = [];

  constructor(columns: readonly ColumnDefinition[], mode: MergeMode) {
    this.columns = [...columns];
    this.mode = mode;
  }

  get timeName(): string {
    return this.columns.find((column) => column.semantic === "timestamp")?.name ?? "";
  }

  get tagNames(): string[] {
    return this.columns.filter((column) => column.semantic === "tag").map((column) => column.name);
  }

  get rowCount(): number {
    return this.rows.length;
  }

  /** Adds a column; rows that are there take its default. */
  addColumn(column: ColumnDefinition): void {
    this.columns.push(column);
    const value = literalOf(column);
    if (value !== undefined) this.rows = this.rows.map((row) => new Map([...row, [column.name, value]]));
  }

  /** Removes a column with its values. */
  dropColumn(name: string): void {
    this.columns.splice(
      this.columns.findIndex((column) => column.name === name),
      1,
    );
    this.rows = this.rows.map((row) => new Map([...row].filter(([key]) => key !== name)));
  }

  /** Casts a column with its values and its default. */
  changeType(name: string, type: DataType): void {
    const at = this.columns.findIndex((column) => column.name === name);
    const column = this.columns[at];
    if (column === undefined) throw new Error(`column ${name} is gone`);
    const value = retypeScalar(literalOf(column), column.type, type);
    this.columns[at] = { ...column, type, ...(column.default === undefined ? {} : { default: { kind: "literal", value } }) };
    this.rows = this.rows.map((row) => {
      if (!row.has(name)) return row;
      return new Map([...row, [name, retypeScalar(row.get(name), column.type, type)] as const]);
    });
  }

  /** Changes a column's default; rows that are there keep what they hold. */
  setDefault(name: string, value: Scalar): void {
    const at = this.columns.findIndex((column) => column.name === name);
    const { default: _, ...column } = this.columns[at] ?? {};
    const next = value === undefined ? column : { ...column, default: { kind: "literal" as const, value } };
    this.columns[at] = next as ColumnDefinition; // `at` is that of a column.
  }

  /** Removes all rows. */
  clear(): void {
    this.rows = [];
  }

  /** Removes the rows of these tags and times. */
  delete(keys: readonly ModelRow[]): void {
    const names = [...this.tagNames, this.timeName];
    const gone = new Set(keys.map((row) => keyOf(row, names)));
    this.rows = this.rows.filter((row) => !gone.has(keyOf(row, names)));
  }

  /** A row with the tags and the time of another. */
  withKey(row: ModelRow, key: ModelRow): ModelRow {
    const names = new Set([...this.tagNames, this.timeName]);
    return new Map([...[...row].filter(([name]) => !names.has(name)), ...[...key].filter(([name]) => names.has(name))]);
  }

  /** Whether a row has the tags and the time of one of these. */
  keySet(rows: readonly ModelRow[]): (row: ModelRow) => boolean {
    const names = [...this.tagNames, this.timeName];
    const keys = new Set(rows.map((row) => keyOf(row, names)));
    return (row) => keys.has(keyOf(row, names));
  }

  /** Removes rows that have expired for good. */
  removeExpired(): void {
    this.rows = this.rows.filter((row) => this.isLiving(row));
  }

  private isLiving(row: ModelRow): boolean {
    const from = this.livingFrom();
    return from === undefined || (row.get(this.timeName) as bigint) >= from;
  }

  /** Writes rows that give values for `given` only; other columns take their default. Expired ones are not kept. */
  write(given: ReadonlySet<string>, all: readonly ModelRow[]): void {
    for (const row of this.asWritten(given, all)) this.rows.push(row);
  }

  /** The rows that `write` would keep, with all that they hold. */
  asWritten(given: ReadonlySet<string>, all: readonly ModelRow[]): ModelRow[] {
    const rows = all.filter((row) => this.isLiving(row));
    const defaults = this.columns.flatMap((column) => {
      const value = literalOf(column);
      const isGiven = given.has(column.name) || column.semantic === "tag"; // Rows say all their tags, NULL too.
      return value === undefined || isGiven ? [] : [[column.name, value] as const];
    });
    return defaults.length === 0 ? rows : rows.map((row) => new Map([...row, ...defaults]));
  }

  /** The rows of a scan in the order "series-time"; `limit` and `fieldBounds` do not count. */
  scan(request: Pick<ScanRequest, "timeRange" | "tagPredicates" | "newestPerSeries">): ModelRow[] {
    const { timeName, tagNames } = this;
    const kept = this.rows.filter((row) => {
      if (!this.isLiving(row)) return false;
      const time = row.get(timeName) as bigint;
      if (time < request.timeRange.start || time >= request.timeRange.end) return false;
      return request.tagPredicates.every((predicate) => accepts(predicate, row.get(predicate.column) as string | undefined));
    });
    const ordered = this.resolve(kept).sort((a, b) => compareRows(a, b, tagNames, timeName));
    if (request.newestPerSeries !== true) return ordered;
    const newest = new Map<string, ModelRow>();
    for (const row of ordered) newest.set(keyOf(row, tagNames), row);
    return [...newest.values()];
  }

  private resolve(rows: readonly ModelRow[]): ModelRow[] {
    if (this.mode === "append") return [...rows];
    const names = [...this.tagNames, this.timeName];
    const byKey = new Map<string, ModelRow>();
    for (const row of rows) {
      const key = keyOf(row, names);
      const older = byKey.get(key);
      if (older === undefined || this.mode === "last_row") byKey.set(key, row);
      else byKey.set(key, new Map([...older, ...[...row].filter(([, value]) => value !== undefined)]));
    }
    return [...byKey.values()];
  }
}

function literalOf(column: ColumnDefinition): Scalar {
  return column.default?.kind === "literal" ? column.default.value : undefined;
}

function accepts(predicate: TagPredicate, value: string | undefined): boolean {
  return predicate.kind === "in" ? predicate.values.includes(value) : predicate.test(value);
}

/** Order of rows in "series-time": stable, so rows of one series and time stay in the order in which they were written. */
function compareRows(a: ModelRow, b: ModelRow, tagNames: readonly string[], timeName: string): number {
  for (const name of tagNames) {
    const order = compareText(a.get(name) as string | undefined, b.get(name) as string | undefined);
    if (order !== 0) return order;
  }
  const x = a.get(timeName) as bigint;
  const y = b.get(timeName) as bigint;
  return x < y ? -1 : x > y ? 1 : 0;
}

function keyOf(row: ModelRow, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => textOf(row.get(name))));
}

/** A value as text that differs for values that differ: -0 from 0, 1 from "1", NULL from "". */
export function textOf(value: Scalar): string {
  if (value === undefined) return "NULL";
  if (typeof value === "string") return `'${value}'`;
  if (value instanceof Uint8Array) return `x${value.toHex()}`;
  return Object.is(value, -0) ? "-0" : String(value);
}
