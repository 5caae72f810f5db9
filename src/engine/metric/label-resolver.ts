/** Tag sets of metric protocols → series of a physical table. Used for new keys alone. */
import { assert } from "../../base/assert.ts";
import { encodeLabels } from "../../storage/series/label-set.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { TagSet } from "../../table/series-dictionary.ts";
import type { WriteCarrier, WriteTables, WriteTarget } from "../write-target.ts";

/** Works on one physical table for one batch. All logical tables and labels exist. */
export class LabelResolver {
  private readonly database: string;
  private readonly tables: WriteTables;
  private readonly physical: WriteCarrier;
  private readonly registry: SeriesRegistry;
  private readonly ids: Map<string, string> = new Map();
  private readonly columns: number[] = [];
  private readonly values: string[] = [];

  constructor(database: string, { physical, schema, registry }: WriteTarget, tables: WriteTables) {
    assert(physical !== undefined, `${schema.name} is a physical table`);
    this.database = database;
    this.tables = tables;
    this.physical = physical;
    this.registry = registry;
  }

  /** The series of a tag set, made if it is new. @throws DbError RateLimited at the series limit */
  seriesOf({ table, names, values }: TagSet): number {
    this.columns.length = 0;
    this.values.length = 0;
    for (let i = 0; i < names.length; i++) this.insert(this.physical.labelId(names[i] as string), values[i] as string);
    return this.registry.register([this.idOf(table), encodeLabels(this.columns, this.values)]);
  }

  /** Keeps the labels in the order of their column ids: there are few, and they mostly come in order. */
  private insert(columnId: number, value: string): void {
    const { columns, values } = this;
    let at = columns.length;
    for (; at > 0 && (columns[at - 1] as number) > columnId; at--) {
      columns[at] = columns[at - 1] as number;
      values[at] = values[at - 1] as string;
    }
    columns[at] = columnId;
    values[at] = value;
  }

  private idOf(name: string): string {
    let id = this.ids.get(name);
    if (id === undefined) {
      const table = this.tables.logical(this.database, name);
      assert(table?.physical === this.physical, `table ${name} lies on ${this.physical.schema.name}`);
      id = String(table.schema.id);
      this.ids.set(name, id);
    }
    return id;
  }
}
