import type { TableId } from "../../base/units.ts";
import { assert } from "../../base/assert.ts";
import type { TableSchema } from "../../table/schema.ts";
import { LogicalTable } from "./logical-table.ts";
import type { PhysicalTable } from "./physical-table.ts";
import { tableNameKey } from "../../table/names.ts";

/** The logical tables that exist, by name and by id. */
export class LogicalTables {
  private readonly byName: Map<string, LogicalTable> = new Map();
  private readonly byId: Map<TableId, LogicalTable> = new Map();

  find(database: string, name: string): LogicalTable | undefined {
    return this.byName.get(tableNameKey(database, name));
  }

  byTableId(id: TableId): LogicalTable | undefined {
    return this.byId.get(id);
  }

  /** Lets go of series under numbers of a registry that was renewed. */
  renewSeries(physical: PhysicalTable | undefined): void {
    if (physical === undefined) return;
    for (const table of this.byId.values()) if (table.physical === physical) table.renewSeries();
  }

  /** Takes in a new table, or a new version of the schema of one. */
  put(schema: TableSchema, physical: PhysicalTable): LogicalTable {
    const known = this.byId.get(schema.id);
    if (known !== undefined) {
      known.setSchema(schema);
      return known;
    }
    const table = new LogicalTable(schema, physical);
    physical.adopt(schema.id);
    this.byName.set(tableNameKey(schema.database, schema.name), table);
    this.byId.set(schema.id, table);
    return table;
  }

  /** Puts a table that was emptied by giving it another id in the place of what it was. Reads under way go on with what they see. */
  replace(old: TableSchema, schema: TableSchema): void {
    const table = this.byId.get(old.id);
    assert(table !== undefined, `logical table ${old.id} exists`);
    this.byId.delete(old.id);
    this.put(schema, table.physical);
    table.physical.abandon(old.id);
  }

  /** Forgets a table; its reads fail from now on. Returns undefined when it was forgotten before. */
  remove(id: TableId): LogicalTable | undefined {
    const table = this.byId.get(id);
    if (table === undefined) return undefined;
    const { database, name } = table.schema;
    this.byId.delete(id);
    this.byName.delete(tableNameKey(database, name));
    table.physical.abandon(id);
    table.markDropped();
    return table;
  }
}
