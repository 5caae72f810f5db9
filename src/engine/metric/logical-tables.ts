import type { TableId } from "../../base/units.ts";
import { assert } from "../../base/assert.ts";
import type { TableSchema } from "../../table/schema.ts";
import { JoinedTable } from "../joined/joined-table.ts";
import { jointDeletes } from "../table/joint-deletes.ts";
import { LogicalTable } from "./logical-table.ts";
import { logicalOrder } from "./part-orders.ts";
import type { PhysicalTable } from "./physical-table.ts";
import type { Table } from "../../table/catalog.ts";
import { tableNameKey } from "../../table/names.ts";

/** A logical table. */
export interface LogicalEntry {
  /** What of it lies on the physical table, in each shard of that. */
  readonly parts: readonly LogicalTable[];
  /** The first part: all have one schema. */
  readonly first: LogicalTable;
  /** All of it, as queries see it. */
  readonly shown: Table;
}

/** The logical tables that exist, by name and by id. */
export class LogicalTables {
  private readonly byName: Map<string, LogicalEntry> = new Map();
  private readonly byId: Map<TableId, LogicalEntry> = new Map();

  find(database: string, name: string): LogicalEntry | undefined {
    return this.byName.get(tableNameKey(database, name));
  }

  byTableId(id: TableId): LogicalEntry | undefined {
    return this.byId.get(id);
  }

  /** Lets go of series under numbers of a registry that was renewed. */
  renewSeries(physical: PhysicalTable | undefined): void {
    if (physical === undefined) return;
    for (const { parts } of this.byId.values()) for (const part of parts) if (part.physical === physical) part.renewSeries();
  }

  /**
   * Takes in a new table, or a new version of the schema of one.
   *
   * @param carriers its physical table, in each shard
   */
  put(schema: TableSchema, carriers: readonly PhysicalTable[]): void {
    const known = this.byId.get(schema.id);
    if (known !== undefined) {
      for (const part of known.parts) part.setSchema(schema);
      return;
    }
    const entry = entryOf(carriers.map((physical) => new LogicalTable(schema, physical)));
    for (const physical of carriers) physical.adopt(schema.id);
    this.byName.set(tableNameKey(schema.database, schema.name), entry);
    this.byId.set(schema.id, entry);
  }

  /** Puts a table that was emptied by giving it another id in the place of what it was. Reads under way go on with what they see. */
  replace(old: TableSchema, schema: TableSchema): void {
    const entry = this.byId.get(old.id);
    assert(entry !== undefined, `logical table ${old.id} exists`);
    const carriers = entry.parts.map(({ physical }) => physical);
    this.byId.delete(old.id);
    this.put(schema, carriers);
    for (const physical of carriers) physical.abandon(old.id);
  }

  /** Forgets a table; its reads fail from now on. Returns undefined when it was forgotten before. */
  remove(id: TableId): LogicalEntry | undefined {
    const entry = this.byId.get(id);
    if (entry === undefined) return undefined;
    const { database, name } = entry.first.schema;
    this.byId.delete(id);
    this.byName.delete(tableNameKey(database, name));
    for (const part of entry.parts) {
      part.physical.abandon(id);
      part.markDropped();
    }
    return entry;
  }
}

function entryOf(parts: readonly LogicalTable[]): LogicalEntry {
  const [first] = parts;
  assert(first !== undefined, "a shard at least");
  return {
    parts,
    first,
    shown: parts.length === 1 ? first : new JoinedTable(parts, { orderIn: logicalOrder(parts), deletes: jointDeletes(parts) }),
  };
}
