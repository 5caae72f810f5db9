/**
 * An ingest thread's mirror of the tables: their schemas, and the series that this thread wrote rows of, under numbers of its own.
 *
 * It follows the owner by versions: `refresh` costs one atomic read while nothing changed. What a write lacks is made by the owner, while
 * the thread stands still; nothing is made when the mirror is behind, since then the write has to look again.
 */
import { assert } from "../../base/assert.ts";
import { errorOfTold } from "../../base/told-error.ts";
import type { TableId } from "../../base/units.ts";
import type { ChunkSource } from "../../storage/memtable/chunk-builder.ts";
import type { PreparedChunk } from "../../storage/region/prepared-chunk.ts";
import { SeriesRegistry, type SeriesRoom } from "../../storage/series/series-registry.ts";
import { isPhysicalTable, physicalTableOf } from "../../table/metric.ts";
import type { TableSchema } from "../../table/schema.ts";
import { storageSchemaOf } from "../metric/storage-schema.ts";
import type { SchemaStep } from "../schema/catalog-plans.ts";
import type { Shards } from "../schema/shards.ts";
import { SegmentMarks } from "../series/series-mapper.ts";
import { sameTagDefaults } from "../schema/tag-defaults.ts";
import { type WritePlan, writePlanOf } from "../table/write-rows.ts";
import type { LogicalTarget, WriteTables, WriteTarget } from "../table/write-target.ts";
import type { CatalogChange, CatalogNews, Reply } from "./messages.ts";
import { MirrorCarrier, MirrorLogicals } from "./mirror-metrics.ts";
import type { SharedState } from "./shared-state.ts";
import type { ThreadLink } from "./thread-link.ts";
import { type ThreadArenas, ThreadMemory } from "./thread-memory.ts";
import { tableNameKey } from "../../table/names.ts";

/** One table of the mirror that has rows of its own. */
class MirrorTable implements WriteTarget {
  /** As users see it. */
  shown: TableSchema;
  schema: TableSchema;
  plan: WritePlan;
  readonly physical: MirrorCarrier | undefined;
  registry: SeriesRegistry;
  readonly marks: SegmentMarks = new SegmentMarks();
  readonly memory: ThreadMemory;
  readonly shards: readonly MirrorTable[] | undefined;
  /** Of its region. */
  readonly id: TableId;

  /** @param others what it has in the other shards */
  constructor(shown: TableSchema, id: TableId, arenas: ThreadArenas, room: SeriesRoom, others: readonly MirrorTable[] = []) {
    this.id = id;
    this.shards = others.length === 0 ? undefined : [this, ...others];
    this.shown = shown;
    this.schema = { ...storageSchemaOf(shown), id };
    this.plan = writePlanOf(this.schema);
    this.physical = isPhysicalTable(shown) ? new MirrorCarrier(shown) : undefined;
    this.registry = new SeriesRegistry(shown.name, undefined, room);
    this.memory = new ThreadMemory(arenas, id);
    this.setSchema(shown);
  }

  /** What it has in each shard. */
  get all(): readonly MirrorTable[] {
    return this.shards ?? [this];
  }

  setSchema(shown: TableSchema): void {
    const schema = { ...storageSchemaOf(shown), id: this.id };
    this.shown = shown;
    this.schema = schema;
    this.plan = writePlanOf(schema);
    this.physical?.setSchema(shown);
    this.registry.setColumns(schema.primaryKey.flatMap((name) => schema.columns.find((column) => column.name === name) ?? []));
  }

  /** Forgets all series: those that are written get other numbers, which the log is told of anew. */
  renew(): void {
    this.registry = this.registry.renewed();
    this.marks.forget();
  }

  prepare(source: ChunkSource): PreparedChunk {
    return this.memory.prepare(source);
  }
}

/** What a mirror is made of. */
export interface ThreadTablesParts {
  readonly shared: SharedState;
  readonly shards: Shards;
  readonly link: ThreadLink;
  readonly arenas: ThreadArenas;
  /** Everything there is now. */
  readonly news: CatalogNews;
}

/** See the file header. */
export class ThreadTables implements WriteTables {
  private readonly shared: SharedState;
  private readonly shards: Shards;
  private readonly link: ThreadLink;
  private readonly arenas: ThreadArenas;
  private readonly whenMade: (ticket: number) => Promise<void>;
  private readonly byName: Map<string, MirrorTable> = new Map();
  private readonly byId: Map<TableId, MirrorTable> = new Map();
  private readonly logicalTables: MirrorLogicals = new MirrorLogicals((database, name) => this.find(database, name)?.physical);
  private databaseNames: ReadonlySet<string> = new Set();
  private optionsOfDatabase: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map();
  private version = 0;
  private epoch = 0;
  private renewals = 0;

  /**
   * @param whenMade resolves when the owner has made what it gave a ticket for
   */
  constructor({ shared, shards, link, arenas, news }: ThreadTablesParts, whenMade: (ticket: number) => Promise<void>) {
    this.whenMade = whenMade;
    this.shards = shards;
    this.shared = shared;
    this.link = link;
    this.arenas = arenas;
    this.take(news);
  }

  get dropEpoch(): number {
    return this.epoch;
  }

  get seriesRenewals(): number {
    return this.renewals;
  }

  /** Begins anew with the series of a table. */
  renew(tableId: TableId): void {
    const table = this.byId.get(tableId);
    if (table === undefined) return;
    table.renew();
    this.epoch++;
    this.renewals++;
  }

  /** Bytes of what is known of series. */
  get seriesBytes(): number {
    let bytes = 0;
    for (const { registry, marks } of this.byId.values()) bytes += registry.byteLength + marks.byteLength;
    return bytes;
  }

  /** Version of the catalog that the mirror shows. */
  get catalogVersion(): number {
    return this.version;
  }

  /** Names of all databases. */
  get databases(): ReadonlySet<string> {
    return this.databaseNames;
  }

  databaseOptions(name: string): Readonly<Record<string, string>> {
    return this.optionsOfDatabase.get(name) ?? {};
  }

  find(database: string, name: string): MirrorTable | undefined {
    return this.byName.get(tableNameKey(database, name));
  }

  logical(database: string, name: string): LogicalTarget | undefined {
    return this.logicalTables.find(database, name);
  }

  schema(database: string, name: string): TableSchema | undefined {
    return this.find(database, name)?.shown ?? this.logical(database, name)?.schema;
  }

  entries(): Iterable<MirrorTable> {
    return this.byId.values();
  }

  /** Follows the owner. Whatever was acknowledged before the call is seen after it. */
  refresh(): void {
    if (this.shared.version === this.version) return;
    const reply = this.link.call({ kind: "news", since: this.version });
    assert(reply.kind !== "later", "news are told at once");
    this.took(reply);
  }

  evolve(steps: readonly SchemaStep[]): "applied" | "refreshed" | Promise<void> {
    const reply = this.link.call({ kind: "evolve", since: this.version, steps });
    if (reply.kind === "later") return this.whenMade(reply.ticket); // The thread must not stand still over it.
    return this.took(reply) ? "applied" : "refreshed";
  }

  /** Leaves the memory of a table to the owner. */
  rotate(tableId: TableId): void {
    this.byId.get(tableId)?.memory.rotate();
  }

  /** Whether what was asked for is made. */
  private took(reply: Exclude<Reply, { kind: "later" }>): boolean {
    if (reply.kind === "refused") throw errorOfTold(reply.error);
    this.take(reply.news);
    return reply.isApplied;
  }

  private take({ version, isWhole, changes }: CatalogNews): void {
    if (isWhole) {
      const kept = new Set(changes.flatMap((change) => (change.kind === "schema" ? [change.schema.id] : [])));
      for (const id of [...this.byId.keys(), ...this.logicalTables.ids()]) if (!kept.has(this.shards.tableOf(id))) this.drop(id);
    }
    for (const change of changes) this.apply(change);
    this.version = version;
  }

  private apply(change: CatalogChange): void {
    switch (change.kind) {
      case "schema":
        return this.put(change.schema);
      case "dropped":
        return this.drop(change.tableId);
      case "databases":
        this.optionsOfDatabase = new Map(change.databases.map(({ name, options }) => [name, options]));
        this.databaseNames = new Set(this.optionsOfDatabase.keys());
        return;
      case "full":
        this.byId.get(change.tableId)?.registry.close();
    }
  }

  private put(schema: TableSchema): void {
    if (physicalTableOf(schema) !== undefined) return this.logicalTables.put(schema);
    const known = this.byId.get(schema.id);
    if (known === undefined) {
      const table = this.made(schema);
      for (const each of table.all) this.byId.set(each.id, each);
      this.byName.set(tableNameKey(schema.database, schema.name), table);
      return;
    }
    if (!sameTagDefaults(known.schema, schema)) this.epoch++; // What a decoder's key leaves out means something else.
    if (known.schema.name !== schema.name) {
      this.forgetName(known);
      this.byName.set(tableNameKey(schema.database, schema.name), known);
      this.epoch++; // Keys of a decoder say the old name.
    }
    for (const each of known.all) each.setSchema(schema);
  }

  private made(schema: TableSchema): MirrorTable {
    const others = this.shards
      .regionsOf(schema.id)
      .slice(1)
      .map((id) => new MirrorTable(schema, id, this.arenas, this.shared));
    return new MirrorTable(schema, schema.id, this.arenas, this.shared, others);
  }

  private drop(tableId: TableId): void {
    if (this.logicalTables.drop(tableId)) this.epoch++;
    const table = this.byId.get(tableId);
    if (table === undefined) return;
    this.forgetName(table);
    this.epoch++;
    for (const each of table.all) {
      this.byId.delete(each.id);
      each.memory.rotate();
    }
  }

  /** A whole catalog comes in no particular order: the name may be another table's by now. */
  private forgetName(table: MirrorTable): void {
    const key = tableNameKey(table.schema.database, table.schema.name);
    if (this.byName.get(key) === table) this.byName.delete(key);
  }
}
