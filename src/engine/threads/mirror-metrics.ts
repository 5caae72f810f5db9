/**
 * What an ingest thread knows of the metric engine: physical tables as carriers, and logical tables by name. A logical table finds its
 * physical one by name when it is used, since a whole catalog comes in no particular order.
 */
import type { TableId } from "../../base/units.ts";
import { assert } from "../../base/assert.ts";
import type { DataType } from "../../column/data-type.ts";
import { isInternalColumn, physicalTableOf } from "../../table/metric.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import { type WritePlan, writePlanOf } from "../table/write-rows.ts";
import type { LogicalTarget, WriteCarrier } from "../table/write-target.ts";
import { tableNameKey } from "../../table/names.ts";

/** A physical table of the mirror. */
export class MirrorCarrier implements WriteCarrier {
  schema: TableSchema;
  private fields: readonly ColumnSchema[] = [];
  private labelIds: ReadonlyMap<string, number> = new Map();

  constructor(schema: TableSchema) {
    this.schema = schema;
    this.setSchema(schema);
  }

  /** Takes a new version of the schema. */
  setSchema(schema: TableSchema): void {
    const labels = schema.columns.filter(({ name, semantic }) => semantic === "tag" && !isInternalColumn(schema, name));
    this.schema = schema;
    this.fields = schema.columns.filter(({ semantic }) => semantic === "field");
    this.labelIds = new Map(labels.map(({ name, id }) => [name, id]));
  }

  fieldFor({ kind }: DataType): ColumnSchema {
    const field = this.fields.find(({ type }) => type.kind === kind);
    assert(field !== undefined, `physical table ${this.schema.name} has a field of kind ${kind}`);
    return field;
  }

  labelId(name: string): number {
    const id = this.labelIds.get(name);
    assert(id !== undefined, `${name} is a label of ${this.schema.name}`);
    return id;
  }
}

/** Finds the carrier of a name. */
type CarrierOf = (database: string, name: string) => WriteCarrier | undefined;

/** A logical table of the mirror. */
class MirrorLogical implements LogicalTarget {
  readonly schema: TableSchema;
  private readonly carrierOf: CarrierOf;
  private knownPlan: WritePlan | undefined;

  constructor(schema: TableSchema, carrierOf: CarrierOf) {
    this.schema = schema;
    this.carrierOf = carrierOf;
  }

  /** Made when it is first needed: most metrics come as tables of keys. */
  get plan(): WritePlan {
    this.knownPlan ??= writePlanOf(this.schema);
    return this.knownPlan;
  }

  get physical(): WriteCarrier {
    const name = physicalTableOf(this.schema);
    const carrier = name === undefined ? undefined : this.carrierOf(this.schema.database, name);
    assert(carrier !== undefined, `the physical table of ${this.schema.name} is in the mirror; got ${name}`);
    return carrier;
  }
}

/** The logical tables of the mirror. */
export class MirrorLogicals {
  private readonly carrierOf: CarrierOf;
  private readonly byName: Map<string, MirrorLogical> = new Map();
  private readonly byId: Map<TableId, MirrorLogical> = new Map();

  constructor(carrierOf: CarrierOf) {
    this.carrierOf = carrierOf;
  }

  find(database: string, name: string): LogicalTarget | undefined {
    return this.byName.get(tableNameKey(database, name));
  }

  ids(): Iterable<TableId> {
    return this.byId.keys();
  }

  /** Takes in a new table, or a new version of one. Its name never changes. */
  put(schema: TableSchema): void {
    const table = new MirrorLogical(schema, this.carrierOf);
    this.byId.set(schema.id, table);
    this.byName.set(tableNameKey(schema.database, schema.name), table);
  }

  /** Forgets a table. Returns whether it was known. */
  drop(tableId: TableId): boolean {
    const table = this.byId.get(tableId);
    if (table === undefined) return false;
    this.byId.delete(tableId);
    const key = tableNameKey(table.schema.database, table.schema.name);
    if (this.byName.get(key) === table) this.byName.delete(key);
    return true;
  }
}
