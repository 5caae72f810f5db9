/**
 * The tables that exist, by name and by id, with what writing to them needs. In force at once: a drop or creation changes it before the
 * first wait.
 */
import type { TableId } from "../../base/units.ts";
import { assert } from "../../base/assert.ts";
import type { ChunkSource } from "../../storage/memtable/chunk-builder.ts";
import type { PreparedChunk } from "../../storage/region/prepared-chunk.ts";
import type { Region } from "../../storage/region/region.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { Table } from "../../table/catalog.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { TagSet } from "../../table/series-dictionary.ts";
import { markOf, placementOf, shardOf, type TablePlacement, tagTextsOf } from "../../table/shards/placement.ts";
import { shardsOf } from "../../table/shards/shards-of.ts";
import { spreadsOf } from "../../table/shards/spread.ts";
import type { RowsElsewhere } from "../elsewhere.ts";
import { JoinedTable } from "../joined/joined-table.ts";
import { physicalOrder } from "../metric/part-orders.ts";
import { jointDeletes } from "../table/joint-deletes.ts";
import type { EngineTable } from "../table/engine-table.ts";
import type { LogicalTable } from "../metric/logical-table.ts";
import { type LogicalEntry, LogicalTables } from "../metric/logical-tables.ts";
import type { PhysicalTable } from "../metric/physical-table.ts";
import { storageSchemaOf } from "../metric/storage-schema.ts";
import { SegmentMarks } from "../series/series-mapper.ts";
import { ONE_SHARD, type Shards } from "../schema/shards.ts";
import { sameTagDefaults } from "../schema/tag-defaults.ts";
import { type WritePlan, writePlanOf } from "../table/write-rows.ts";
import type { WriteTarget } from "../table/write-target.ts";

/** A table and what writing to it needs. */
export class TableEntry implements WriteTarget {
  readonly table: EngineTable;
  /** Set for a table that carries logical tables, in each shard; `table` then is its region there under its storage schema. */
  readonly physical: PhysicalTable | undefined;
  readonly marks: SegmentMarks = new SegmentMarks();
  /** Of the first of several: all, by shard. */
  readonly shards: readonly TableEntry[] | undefined;
  /** Of the first of several: all as one. */
  readonly joined: JoinedTable | undefined;
  plan: WritePlan;
  private placed: { readonly schema: TableSchema; readonly placement: TablePlacement } | undefined;

  /** @param others what it has in the other shards */
  constructor(table: EngineTable, physical?: PhysicalTable, others: readonly TableEntry[] = []) {
    this.table = table;
    this.physical = physical;
    this.plan = writePlanOf(table.schema);
    if (others.length === 0) return;
    this.shards = [this, ...others];
    const { carriers } = this;
    // The spread of logical tables never changes.
    if (carriers.length > 0) this.joined = new JoinedTable(carriers, { orderIn: physicalOrder(carriers) });
    else {
      const parts = this.shards.map((shard) => shard.table);
      this.joined = new JoinedTable(parts, {
        repeats: () => spreadsOf(this.schema).length > 1,
        placesOf: ({ tagPredicates, timeRange }) => {
          table.catchUp(); // Rows that were acknowledged may have tags that were not known.
          return shardsOf(this.placement(parts.length), tagPredicates, timeRange);
        },
        deletes: jointDeletes(parts),
      });
    }
  }

  /**
   * What of it may have rows of a tag set, at any time.
   *
   * @throws DbError TableColumnNotFound, InvalidArguments for a text that is no value of its tag's type
   */
  partsOf(tags: TagSet): readonly TableEntry[] {
    const { shards } = this;
    if (shards === undefined) return [this];
    const placement = this.placement(shards.length);
    const mark = markOf(placement, tagTextsOf(tags, placement));
    return [...new Set(placement.spans.map(({ spread }) => shards[shardOf(placement, mark, spread)] as TableEntry))];
  }

  private placement(shards: number): TablePlacement {
    const { schema } = this;
    if (this.placed?.schema !== schema) this.placed = { schema, placement: placementOf(schema, shards) };
    return this.placed.placement;
  }

  /** What of a physical table it has in each shard; none: it is an ordinary one. */
  get carriers(): readonly PhysicalTable[] {
    return this.all.flatMap(({ physical }) => physical ?? []);
  }

  /** What it has in each shard. */
  get all(): readonly TableEntry[] {
    return this.shards ?? [this];
  }

  get schema(): TableSchema {
    return this.table.schema;
  }

  get registry(): SeriesRegistry {
    return this.table.region.registry;
  }

  prepare(source: ChunkSource): PreparedChunk {
    return this.table.region.prepare(source);
  }
}

/** The regions that rows of a logical table are in. */
function regionsUnder(parts: readonly LogicalTable[]): readonly Region[] {
  return parts.map(({ physical }) => physical.storage.region);
}

/** A table as queries see it, where its rows are here. */
function shownOf({ physical, joined, table }: TableEntry): Table {
  return joined ?? physical ?? table;
}

/** See the file header. */
export class LiveTables {
  private readonly elsewhere: Pick<RowsElsewhere, "table" | "forget"> | undefined;
  /** By database, then by name: a write looks up each of its tables several times. */
  private readonly byName: Map<string, Map<string, TableEntry>> = new Map();
  /** By region, in each shard that is here. */
  private readonly byId: Map<TableId, TableEntry> = new Map();
  private readonly shards: Shards;
  /** Tables that lie on others. */
  private readonly logicalTables: LogicalTables = new LogicalTables();
  private epoch = 0;
  private renewals = 0;

  /**
   * @param shards by default tables are not cut
   * @param elsewhere has the rows of tables as queries see them; undefined: they are here
   */
  constructor(shards: Shards = ONE_SHARD, elsewhere?: Pick<RowsElsewhere, "table" | "forget">) {
    this.shards = shards;
    this.elsewhere = elsewhere;
  }

  /** Changes whenever a name stops meaning the table that it meant: what a decoder knows of series is then void. */
  get dropEpoch(): number {
    return this.epoch;
  }

  /** Changes whenever the registry of a table is renewed. */
  get seriesRenewals(): number {
    return this.renewals;
  }

  /** Voids what is known of a table's series by their numbers: its registry is a new one. */
  renewed(entry: TableEntry): void {
    entry.marks.forget();
    entry.physical?.renewSeries();
    this.logicalTables.renewSeries(entry.physical);
    this.epoch++;
    this.renewals++;
  }

  /** The table of a name as queries see it, of any kind. */
  table(database: string, name: string): Table | undefined {
    const entry = this.find(database, name);
    return entry === undefined ? this.shownLogical(this.logicalTables.find(database, name)) : this.shown(entry);
  }

  /** The table of an id as queries see it, of any kind. */
  tableOfId(id: TableId): Table | undefined {
    const entry = this.ofTable(id);
    return entry === undefined ? this.shownLogical(this.logicalTables.byTableId(id)) : this.shown(entry);
  }

  private shown(entry: TableEntry): Table {
    const { elsewhere } = this;
    if (elsewhere === undefined) return shownOf(entry);
    return elsewhere.table(entry.schema.id, () => entry.physical?.schema ?? entry.schema);
  }

  private shownLogical(entry: LogicalEntry | undefined): Table | undefined {
    const { elsewhere } = this;
    if (entry === undefined || elsewhere === undefined) return entry?.shown;
    const { first } = entry;
    return elsewhere.table(first.schema.id, () => first.schema);
  }

  /** The logical table of a name, as writes see it. */
  logical(database: string, name: string): LogicalTable | undefined {
    return this.logicalTables.find(database, name)?.first;
  }

  /** What the logical table of a name has in each shard; none: there is no such table. */
  logicalParts(database: string, name: string): readonly LogicalTable[] {
    return this.logicalTables.find(database, name)?.parts ?? [];
  }

  /** The storage that a table's rows are in: its own, in each shard, or that of its physical table. Empty: there is no such table. */
  regionsOf(database: string, name: string): readonly Region[] {
    const entry = this.find(database, name);
    if (entry !== undefined) return entry.all.map(({ table }) => table.region);
    return regionsUnder(this.logicalParts(database, name));
  }

  /** The table of a name that has a region of its own. */
  find(database: string, name: string): TableEntry | undefined {
    return this.byName.get(database)?.get(name);
  }

  /** What a table has here, in the first of several shards, by the id that the catalogue has; dropped ones apart. */
  ofTable(id: TableId): TableEntry | undefined {
    const [region] = this.shards.regionsOf(id);
    return region === undefined ? undefined : this.byId.get(region);
  }

  /** The table of a region, dropped ones apart. */
  byRegionId(id: TableId): TableEntry | undefined {
    return this.byId.get(id);
  }

  entries(): IterableIterator<TableEntry> {
    return this.byId.values();
  }

  /** What each table has in each shard, by table. */
  *tables(): Generator<readonly TableEntry[]> {
    for (const tables of this.byName.values()) for (const { all } of tables.values()) yield all;
  }

  /** Storage of all tables. */
  *regions(): Generator<Region> {
    for (const { table } of this.byId.values()) yield table.region;
  }

  /** The same, by table. */
  *regionsByTable(): Generator<readonly Region[]> {
    for (const entries of this.tables()) yield entries.map(({ table }) => table.region);
  }

  /** Names of the data files of all tables. */
  fileNames(): Set<string> {
    const names = new Set<string>();
    for (const region of this.regions()) for (const { name } of region.dataFiles) names.add(name);
    return names;
  }

  /** Whether the region is that of a table which was not dropped. */
  isLive(region: Region): boolean {
    return this.byId.get(region.schemaNow.id)?.table.region === region;
  }

  /** Sequence up to which a table's rows are in files; Infinity when the table is gone. */
  flushedSequence(tableId: TableId): number {
    return this.byId.get(tableId)?.table.region.flushedSequence ?? Number.POSITIVE_INFINITY;
  }

  add(entry: TableEntry): void {
    const { schema } = entry.table;
    this.setName(schema.database, schema.name, entry);
    for (const each of entry.all) this.byId.set(each.table.schema.id, each);
  }

  /** Puts a logical table's schema in force; its physical table exists. */
  setLogical(schema: TableSchema, physical: string): void {
    const carriers = this.find(schema.database, physical)?.carriers ?? [];
    assert(carriers.length > 0, `${physical} is a physical table`);
    this.logicalTables.put(schema, carriers);
  }

  /** Puts a new version of its schema in force, under its new name if it has one. */
  setSchema(entry: TableEntry, schema: TableSchema): void {
    const { name, database } = entry.table.schema;
    if (!sameTagDefaults(entry.table.schema, schema)) this.epoch++; // What a decoder's key leaves out means something else.
    if (name !== schema.name) {
      this.deleteName(database, name);
      this.setName(database, schema.name, entry);
      this.epoch++; // Keys of a decoder say the old name.
    }
    const stored = storageSchemaOf(schema);
    for (const each of entry.all) {
      const { region } = each.table;
      region.setSchema({ ...stored, id: region.schemaNow.id });
      each.plan = writePlanOf(stored);
      each.physical?.setSchema(schema);
    }
  }

  /** Puts a logical table that has another id now in the place of what it was. */
  renumberLogical(old: TableSchema, schema: TableSchema): void {
    this.logicalTables.replace(old, schema);
    this.elsewhere?.forget(old.id);
    this.epoch++;
  }

  /** Forgets a logical table; its reads fail from now on. Returns the regions that have its rows, none when it is no logical table. */
  removeLogical(schema: TableSchema): readonly Region[] {
    const entry = this.logicalTables.remove(schema.id);
    if (entry === undefined) return [];
    this.elsewhere?.forget(schema.id);
    this.epoch++;
    return regionsUnder(entry.parts);
  }

  /** Forgets a table; its reads fail from now on. Returns undefined when it was forgotten before. */
  remove(schema: TableSchema): TableEntry | undefined {
    const entry = this.ofTable(schema.id);
    if (entry === undefined) return undefined;
    this.deleteName(schema.database, schema.name);
    this.elsewhere?.forget(schema.id);
    this.epoch++;
    for (const { table } of entry.all) {
      this.byId.delete(table.schema.id);
      table.markDropped();
    }
    return entry;
  }

  private setName(database: string, name: string, entry: TableEntry): void {
    let tables = this.byName.get(database);
    if (tables === undefined) {
      tables = new Map();
      this.byName.set(database, tables);
    }
    tables.set(name, entry);
  }

  private deleteName(database: string, name: string): void {
    const tables = this.byName.get(database);
    tables?.delete(name);
    if (tables?.size === 0) this.byName.delete(database);
  }
}
