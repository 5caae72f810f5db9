/** Schemas in a meta store that are changed at once, as on one machine, without an engine around them. */
import type { Clock } from "../../src/base/clock.ts";
import { type CatalogLimits, type CatalogPlan, CatalogPlans, type SchemaStep } from "../../src/engine/schema/catalog-plans.ts";
import { type CatalogPort, localCatalog } from "../../src/engine/schema/catalog-port.ts";
import { Commits } from "../../src/engine/schema/commits.ts";
import { ONE_SHARD } from "../../src/engine/schema/shards.ts";
import { SchemaStore } from "../../src/engine/schema/schema-store.ts";
import type { MetaStore } from "../../src/storage/meta-store/meta-store.ts";
import type { TableDefinition, TableSchema } from "../../src/table/schema.ts";
import type { ViewDefinition } from "../../src/table/view.ts";

/** See the file header. Each change throws what refuses it. */
export class StoredSchemas extends SchemaStore {
  private readonly plans: CatalogPlans;
  private readonly port: CatalogPort;

  constructor(meta: MetaStore, limits?: CatalogLimits, clock?: Clock) {
    super(meta);
    this.plans = new CatalogPlans(this, clock, limits);
    this.port = localCatalog(meta, new Commits(meta, () => undefined), this, ONE_SHARD);
    this.port.listen((changes) => this.follow(changes));
  }

  createDatabase(name: string, options: Readonly<Record<string, string>>): void {
    this.take(this.plans.createDatabase(name, options));
  }

  dropOneDatabase(name: string): readonly number[] {
    return this.take(this.plans.dropDatabase(name));
  }

  applyAll(steps: readonly SchemaStep[]): TableSchema[] {
    const ids = this.take(this.plans.steps(steps));
    return ids.map((id) => this.allSchemas().find((schema) => schema.id === id) as TableSchema);
  }

  createTable(definition: TableDefinition): TableSchema {
    return this.applyAll([{ kind: "create", definition }])[0] as TableSchema;
  }

  dropOneTable(database: string, table: string): void {
    this.take(this.plans.dropTable(database, table));
  }

  createView(definition: ViewDefinition, orReplace: boolean): void {
    this.take(this.plans.createView(definition, orReplace));
  }

  dropView(database: string, name: string): void {
    this.take(this.plans.dropView(database, name));
  }

  private take({ changes, tableIds }: CatalogPlan): CatalogPlan["tableIds"] {
    const answer = this.port.commit(changes, this.version);
    if (answer !== "taken") throw new Error("one machine takes changes at once");
    return tableIds;
  }
}
