/**
 * A catalogue as other machines share it, played over the one of this machine: answers come turns later, others change it in between, and
 * who was not first hears "outdated". Everything follows from the seed.
 */
import type { Random } from "../../bench/macro/random.ts";
import { DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import { CatalogPlans } from "../../src/engine/schema/catalog-plans.ts";
import type { CatalogAnswer, CatalogPort } from "../../src/engine/schema/catalog-port.ts";
import { SchemaStore } from "../../src/engine/schema/schema-store.ts";
import type { MetaChange, MetaStore } from "../../src/storage/meta-store/meta-store.ts";
import type { TableDefinition } from "../../src/table/schema.ts";

/** Turns that an answer takes at most. */
const TURNS_MAX = 6;
/** The database that others change. */
const OTHERS = "others";

/** What happens to a change. */
export type Fate = "at once" | "later" | "others first" | "answer lost";

const FATES: readonly Fate[] = ["at once", "later", "later", "others first"];

/** See the file header. */
export class LateCatalog implements CatalogPort {
  /** What became of the changes that were asked for. */
  readonly counts: { atOnce: number; later: number; outdated: number } = { atOnce: 0, later: 0, outdated: 0 };
  /** What happens to the next change; by default the seed decides. */
  next: Fate | undefined;
  /** While it is set, nothing is answered before it resolves. */
  held: Promise<unknown> | undefined;
  private readonly local: CatalogPort;
  private readonly random: Random;
  /** As others see it. */
  private readonly schemas: SchemaStore;
  private readonly plans: CatalogPlans;
  private isClosed = false;
  private made = 0;

  constructor(local: CatalogPort, meta: MetaStore, random: Random) {
    this.local = local;
    this.random = random;
    this.schemas = new SchemaStore(meta);
    this.plans = new CatalogPlans(this.schemas);
  }

  commit(changes: readonly MetaChange[], version: number): CatalogAnswer | Promise<CatalogAnswer> {
    const fate = this.next ?? (FATES[this.random.below(FATES.length)] as Fate);
    this.next = undefined;
    if (fate === "at once") {
      this.counts.atOnce++;
      return this.local.commit(changes, version);
    }
    this.counts.later++;
    return this.later(changes, version, fate);
  }

  listen(follow: (changes: readonly MetaChange[]) => void): void {
    this.local.listen((changes) => {
      if (this.isClosed) return;
      this.schemas.follow(changes);
      follow(changes);
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.local.close();
  }

  /** What another machine does now: it makes, extends or drops a table of its own, or sees to it that one of a definition exists. */
  others(definition?: TableDefinition): void {
    if (definition !== undefined) {
      if (this.schemas.schema(definition.database, definition.name) === undefined) {
        this.take(this.plans.steps([{ kind: "create", definition }]).changes);
      }
      return;
    }
    if (this.schemas.database(OTHERS) === undefined) return this.take(this.plans.createDatabase(OTHERS, {}).changes);
    const tables = this.schemas.schemas(OTHERS);
    const table = tables[this.random.below(tables.length + 1)];
    if (table === undefined) {
      const columns = [{ name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false } as const];
      const made = { database: OTHERS, name: `o${this.made++}`, columns, primaryKey: [], engine: "mito", options: {} };
      if (this.schemas.schema(OTHERS, made.name) === undefined) this.others(made);
    } else if (this.random.below(4) === 0) this.take(this.plans.dropDatabase(OTHERS).changes);
    else this.take(this.plans.dropTable(OTHERS, table.name).changes);
  }

  private take(changes: readonly MetaChange[]): void {
    void this.local.commit(changes, this.schemas.version); // One machine answers at once.
  }

  private async later(changes: readonly MetaChange[], version: number, fate: Fate): Promise<CatalogAnswer> {
    const turns = this.random.below(TURNS_MAX);
    if (fate === "others first") this.others();
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    await this.held;
    if (this.isClosed) throw new DbError(StatusCode.StorageUnavailable, "the catalogue is closed");
    const answer = await this.local.commit(changes, version);
    if (answer === "outdated") this.counts.outdated++;
    if (fate === "answer lost") throw new DbError(StatusCode.StorageUnavailable, "the answer of the catalogue was lost");
    if (this.random.below(3) === 0) this.others(); // Before whoever asked hears of it.
    return answer;
  }
}
