/**
 * The series of a table that are known of one shard: those that streams of its rows have named so far, under numbers of this process. A
 * stream numbers its series by itself, from 0 on; a series that was known before has the same number here again.
 *
 *   stream    0 = {host: b}   1 = {host: c}        "series" pieces
 *   here      0 = {host: a}   1 = {host: b}   2 = {host: c}
 */
import { textAt } from "../../column/text-table.ts";
import { SeriesHasher } from "../../engine/metric/series-hash.ts";
import { PhysicalTags } from "../../engine/metric/physical-tags.ts";
import type { StoredSet } from "../../engine/metric/physical-table.ts";
import { storageSchemaOf } from "../../engine/metric/storage-schema.ts";
import { encodeLabels } from "../../storage/series/label-set.ts";
import { SeriesRegistry } from "../../storage/series/series-registry.ts";
import { isInternalColumn, isPhysicalTable, TABLE_ID_COLUMN } from "../../table/metric.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { DefinedSeries } from "../wire/shard-request.ts";

/** See the file header. It only grows: who wants the memory back makes another (`RemoteTable`). */
export interface RemoteSeries {
  /** What readers have as the table's `series`. */
  readonly view: SeriesView;
  /** Number of series. */
  readonly count: number;
  /** Bytes held, about. */
  readonly byteLength: number;
  /** Takes a version of the schema, which may have more tags. Returns false where its numbers cannot go by it. */
  fit(schema: TableSchema): boolean;
  /** Numbers of series that a stream defines. @param into has room for all of them */
  register(defined: DefinedSeries, into: Uint32Array): void;
  /** Of a physical table: what it knows a series by. */
  setOf?(series: number): StoredSet;
  /** Of a table of the metric engine: the hash of a series's labels, as `__tsid` shows it. */
  hashOf?(series: number): bigint;
}

/** Tags of a schema, in key order. */
export function tagsOf({ primaryKey, columns }: TableSchema): readonly ColumnSchema[] {
  return primaryKey.flatMap((name) => columns.find((column) => column.name === name) ?? []);
}

/** None yet, of a table of any kind. */
export function newRemoteSeries(schema: TableSchema): RemoteSeries {
  return isPhysicalTable(schema) ? new PhysicalRemoteSeries(schema) : new PlainRemoteSeries(schema);
}

/** A registry whose series tell their tags. */
class RemoteRegistry extends SeriesRegistry {
  /** Tags that are "" in series of the shard, which may not be here yet. */
  private readonly empty: Set<string> = new Set();

  noteEmpty(position: number): void {
    const column = this.columns[position];
    if (column !== undefined) this.empty.add(column.name);
  }

  override hasValue(column: string, value: string): boolean {
    return super.hasValue(column, value) || (value === "" && this.empty.has(column));
  }

  eachTagOf(series: number, each: (column: string, value: string) => void): void {
    for (const [position, { name }] of this.columns.entries()) {
      const value = this.textAt(position, this.codesAt(position)[series] as number);
      if (value !== undefined) each(name, value);
    }
  }
}

/** Of a table whose tags are columns. */
class PlainRemoteSeries implements RemoteSeries {
  readonly view: RemoteRegistry;
  private schema: TableSchema | undefined;

  constructor(schema: TableSchema) {
    this.view = new RemoteRegistry(schema.name);
    this.fit(schema);
  }

  get count(): number {
    return this.view.count;
  }

  get byteLength(): number {
    return this.view.byteLength;
  }

  fit(schema: TableSchema): boolean {
    if (schema === this.schema) return true;
    const tags = tagsOf(schema);
    const known = this.view.columnIds();
    if (known.length > tags.length || known.some((id, position) => tags[position]?.id !== id)) return false;
    this.view.setColumns(tags);
    this.schema = schema;
    return true;
  }

  register({ count, tags, emptyTags }: DefinedSeries, into: Uint32Array): void {
    const { view } = this;
    for (const place of emptyTags) view.noteEmpty(place);
    const codes = Array.from({ length: view.columnCount }, (_, position) => {
      const texts = tags[position];
      const own = new Uint32Array(count);
      for (let i = 0; i < count; i++) own[i] = view.encode(position, texts?.[i]);
      return own;
    });
    view.registerKnownBlock(codes, count, into); // The shard has them: what it allows is not asked again.
  }
}

/**
 * Of a physical table, as its regions know them: a table and a label set each. A column for every label would be NULL almost everywhere.
 */
class PhysicalRemoteSeries implements RemoteSeries {
  readonly view: PhysicalTags;
  private readonly registry: SeriesRegistry;
  private readonly hasher: SeriesHasher = new SeriesHasher((id) => this.labelNames.get(id) ?? "");
  private schema: TableSchema;
  private labelIds: ReadonlyMap<string, number> = new Map();
  private labelNames: ReadonlyMap<number, string> = new Map();
  /** Places of labels in the key, by ascending id of their columns. */
  private labels: readonly { readonly place: number; readonly id: number }[] = [];
  private tablePlace = -1;

  constructor(schema: TableSchema) {
    this.registry = new SeriesRegistry(schema.name);
    this.schema = schema;
    this.take(schema);
    const { registry } = this;
    const hashOf = (series: number): bigint => this.hashOf(series);
    const labelId = (name: string): number => this.labelIds.get(name) ?? -1;
    this.view = new PhysicalTags({ registry, labelId, labelName: (id) => this.labelNames.get(id) ?? "", hashOf });
  }

  get count(): number {
    return this.registry.count;
  }

  get byteLength(): number {
    return this.registry.byteLength + this.view.byteLength;
  }

  fit(schema: TableSchema): boolean {
    if (schema !== this.schema) this.take(schema);
    return true;
  }

  register({ count, tags }: DefinedSeries, into: Uint32Array): void {
    const { registry, labels } = this;
    const ids = tags[this.tablePlace];
    const tables = new Uint32Array(count);
    const sets = new Uint32Array(count);
    const [columnIds, values]: [number[], string[]] = [[], []];
    for (let i = 0; i < count; i++) {
      tables[i] = registry.encode(0, ids?.[i]);
      columnIds.length = 0;
      values.length = 0;
      for (const { place, id } of labels) {
        const value = tags[place]?.[i];
        if (value === undefined) continue;
        columnIds.push(id);
        values.push(value);
      }
      sets[i] = registry.encode(1, encodeLabels(columnIds, values));
    }
    registry.registerKnownBlock([tables, sets], count, into);
  }

  setOf(series: number): StoredSet {
    return { tableId: Number(this.textOf(0, series)), labels: this.textOf(1, series) };
  }

  hashOf(series: number): bigint {
    return this.hasher.hash(this.textOf(1, series));
  }

  private textOf(position: number, series: number): string | undefined {
    return textAt(this.registry.textsAt(position), this.registry.codesAt(position)[series] as number);
  }

  private take(schema: TableSchema): void {
    this.schema = schema;
    this.registry.setColumns(tagsOf(storageSchemaOf(schema)));
    const tags = tagsOf(schema);
    const labels = tags.flatMap(({ name, id }, place) => (isInternalColumn(schema, name) ? [] : [{ name, id, place }]));
    this.labels = labels.sort((a, b) => a.id - b.id);
    this.labelIds = new Map(labels.map(({ name, id }) => [name, id]));
    this.labelNames = new Map(labels.map(({ name, id }) => [id, name]));
    this.tablePlace = tags.findIndex(({ name }) => name === TABLE_ID_COLUMN);
  }
}

/** The hash of the labels of a logical table's series, as `__tsid` shows it. */
export class LabelHashes {
  private readonly tags: readonly ColumnSchema[];
  private readonly hasher: SeriesHasher;

  constructor(schema: TableSchema) {
    this.tags = tagsOf(schema).toSorted((a, b) => a.id - b.id);
    const names = new Map(this.tags.map(({ id, name }) => [id, name]));
    this.hasher = new SeriesHasher((id) => names.get(id) ?? "");
  }

  hashOf(view: SeriesView, series: number): bigint {
    const found = this.tags.flatMap(({ id, name }) => {
      const value = view.tagOf(name, series);
      return value === undefined ? [] : [{ id, value }];
    });
    return this.hasher.hash(
      encodeLabels(
        found.map(({ id }) => id),
        found.map(({ value }) => value),
      ),
    );
  }
}
