/**
 * An ingest thread's mirror of the tables: their schemas, and the series that this thread wrote rows of, under numbers of its own.
 *
 * It follows the owner by versions: `refresh` costs one atomic read while nothing changed. What a write lacks is made by the owner, while
 * the thread stands still; nothing is made when the mirror is behind, since then the write has to look again.
 */
import type { ChunkSource } from "../../storage/memtable/chunk-builder.ts";
import type { PreparedChunk } from "../../storage/region/region.ts";
import { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { SchemaStep } from "../schema-store.ts";
import { SegmentMarks } from "../series-mapper.ts";
import { type WritePlan, writePlanOf } from "../write-rows.ts";
import type { WriteTables, WriteTarget } from "../write-target.ts";
import { type Call, type CatalogChange, type CatalogNews, errorOfTold } from "./messages.ts";
import type { SharedState } from "./shared-state.ts";
import type { ThreadLink } from "./thread-link.ts";
import { type ThreadArenas, ThreadMemory } from "./thread-memory.ts";

/** One table of the mirror. */
class MirrorTable implements WriteTarget {
  schema: TableSchema;
  plan: WritePlan;
  readonly registry: SeriesRegistry;
  readonly marks: SegmentMarks = new SegmentMarks();
  readonly memory: ThreadMemory;

  constructor(schema: TableSchema, arenas: ThreadArenas) {
    this.schema = schema;
    this.plan = writePlanOf(schema);
    this.registry = new SeriesRegistry(schema.name);
    this.memory = new ThreadMemory(arenas, schema.id);
    this.setSchema(schema);
  }

  setSchema(schema: TableSchema): void {
    this.schema = schema;
    this.plan = writePlanOf(schema);
    this.registry.setColumns(schema.primaryKey.flatMap((name) => schema.columns.find((column) => column.name === name) ?? []));
  }

  prepare(source: ChunkSource): PreparedChunk {
    return this.memory.prepare(source);
  }
}

/** See the file header. */
export class ThreadTables implements WriteTables {
  private readonly shared: SharedState;
  private readonly link: ThreadLink;
  private readonly arenas: ThreadArenas;
  private readonly byName: Map<string, MirrorTable> = new Map();
  private readonly byId: Map<number, MirrorTable> = new Map();
  private databaseNames: ReadonlySet<string> = new Set();
  private version = 0;
  private epoch = 0;

  /** @param news everything there is now */
  constructor(shared: SharedState, link: ThreadLink, arenas: ThreadArenas, news: CatalogNews) {
    this.shared = shared;
    this.link = link;
    this.arenas = arenas;
    this.take(news);
  }

  get dropEpoch(): number {
    return this.epoch;
  }

  /** Version of the catalogue that the mirror shows. */
  get catalogVersion(): number {
    return this.version;
  }

  /** Names of all databases. */
  get databases(): ReadonlySet<string> {
    return this.databaseNames;
  }

  find(database: string, name: string): MirrorTable | undefined {
    return this.byName.get(keyOf(database, name));
  }

  entries(): Iterable<MirrorTable> {
    return this.byId.values();
  }

  /** Follows the owner. Whatever was acknowledged before the call is seen after it. */
  refresh(): void {
    if (this.shared.version !== this.version) this.call({ kind: "news", since: this.version });
  }

  evolve(steps: readonly SchemaStep[]): "applied" | "refreshed" {
    return this.call({ kind: "evolve", since: this.version, steps }) ? "applied" : "refreshed";
  }

  /** Leaves the memory of a table to the owner. */
  rotate(tableId: number): void {
    this.byId.get(tableId)?.memory.rotate();
  }

  private call(call: Call): boolean {
    const reply = this.link.call(call);
    if (reply.kind === "refused") throw errorOfTold(reply.error);
    this.take(reply.news);
    return reply.isApplied;
  }

  private take({ version, isWhole, changes }: CatalogNews): void {
    if (isWhole) {
      const kept = new Set(changes.flatMap((change) => (change.kind === "schema" ? [change.schema.id as number] : [])));
      for (const id of this.byId.keys()) if (!kept.has(id)) this.drop(id);
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
        this.databaseNames = new Set(change.names);
        return;
      case "full":
        this.byId.get(change.tableId)?.registry.close();
    }
  }

  private put(schema: TableSchema): void {
    const known = this.byId.get(schema.id);
    if (known === undefined) {
      const table = new MirrorTable(schema, this.arenas);
      this.byId.set(schema.id, table);
      this.byName.set(keyOf(schema.database, schema.name), table);
      return;
    }
    if (known.schema.name !== schema.name) {
      this.forgetName(known);
      this.byName.set(keyOf(schema.database, schema.name), known);
      this.epoch++; // Keys of a decoder say the old name.
    }
    known.setSchema(schema);
  }

  private drop(tableId: number): void {
    const table = this.byId.get(tableId);
    if (table === undefined) return;
    this.byId.delete(tableId);
    this.forgetName(table);
    this.epoch++;
    table.memory.rotate();
  }

  /** A whole catalogue comes in no particular order: the name may be another table's by now. */
  private forgetName(table: MirrorTable): void {
    const key = keyOf(table.schema.database, table.schema.name);
    if (this.byName.get(key) === table) this.byName.delete(key);
  }
}

function keyOf(database: string, table: string): string {
  return `${database}\0${table}`;
}
