/**
 * Processes that change the catalogue at once while everything goes wrong: one order everywhere, what was answered is in it once, and ids
 * are given out once. One seed is one run; time is virtual.
 */
import { expect, test } from "bun:test";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { DbError } from "../../base/error.ts";
import { silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { CatalogChanges } from "../../engine/catalog/catalog-changes.ts";
import { type CatalogPlan, CatalogPlans } from "../../engine/schema/catalog-plans.ts";
import { SchemaStore } from "../../engine/schema/schema-store.ts";
import type { MetaChange } from "../../storage/meta-store/meta-store.ts";
import type { TableDefinition } from "../../table/schema.ts";
import { CatalogMirror } from "./catalog-mirror.ts";

const SEEDS: readonly number[] = Array.from({ length: 40 }, (_, i) => i + 1);
const NAMES: readonly string[] = ["a", "b", "c", "d"];
const SHARDS = 4;
/** Few, so that snapshots and trims come while others read. */
const CHANGES_BETWEEN = 10;
const OPERATIONS = 40;
const DATABASES: readonly string[] = ["public", "metrics", "logs"];
const TABLES: readonly string[] = ["t0", "t1", "t2", "t3"];

/** What an engine has of the catalogue. */
interface Member {
  readonly schemas: SchemaStore;
  readonly plans: CatalogPlans;
  readonly changes: CatalogChanges;
}

/** All that happened, as engines saw it. */
class History {
  /** Changes, by the version that they made. */
  readonly seen: Map<number, string> = new Map();
  /** Those that were answered as made, by what they were to the entries. */
  readonly answered: string[] = [];

  saw(version: number, changes: readonly MetaChange[]): void {
    const text = textOf(changes);
    expect(this.seen.get(version) ?? text).toBe(text);
    this.seen.set(version, text);
  }
}

function textOf(changes: readonly MetaChange[]): string {
  return JSON.stringify(changes.map(({ key, value }) => (value === undefined ? [key] : [key, value])));
}

function memberOf(mirror: CatalogMirror, history: History): Member {
  const { entries, version, port } = mirror.catalogue();
  const schemas = new SchemaStore(entries, version);
  port.listen((changes) => {
    schemas.follow(changes);
    expect(schemas.version).toBe(mirror.version);
    history.saw(schemas.version, changes);
  });
  return { schemas, plans: new CatalogPlans(schemas), changes: new CatalogChanges(schemas, port) };
}

/** A process: it starts again when its mirror is lost. */
class Process {
  readonly name: string;
  mirror!: CatalogMirror;
  members: Member[] = [];
  starts = 0;
  private readonly cluster: MemoryCluster;
  private readonly history: History;
  private lost = 0;

  constructor(cluster: MemoryCluster, name: string, history: History) {
    this.cluster = cluster;
    this.name = name;
    this.history = history;
  }

  /** Starts it unless it runs. */
  async ensure(): Promise<void> {
    while (this.starts === this.lost) {
      const life = this.starts;
      try {
        this.mirror = await CatalogMirror.open(memoryPort(this.cluster, this.name), {
          shards: SHARDS,
          clock: this.cluster.time,
          sleep: (millis) => this.cluster.sleep(this.name, millis),
          logger: silentLogger,
          changesBetween: CHANGES_BETWEEN,
          onLost: () => {
            this.lost = life + 1;
          },
        });
        this.starts = life + 1;
        this.members = [memberOf(this.mirror, this.history), memberOf(this.mirror, this.history)];
      } catch (error) {
        if (!(error instanceof DbError) || error.code !== StatusCode.StorageUnavailable) throw error;
      }
    }
  }

  /** Changes something through one of its engines. */
  async change(random: Random, n: number): Promise<void> {
    await this.ensure();
    const member = this.members[random.below(this.members.length)] as Member;
    const plan = planOf(random, `${this.name}${n}`, member);
    let made: readonly MetaChange[] = [];
    try {
      await member.changes.make(() => {
        made = plan().changes;
        return made;
      });
      this.history.answered.push(textOf(made));
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
    }
  }
}

function definition(database: string, name: string): TableDefinition {
  const ts = { name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false } as const;
  return { database, name, columns: [ts], primaryKey: [], engine: "mito", options: {} };
}

/** A change as statements and writes make them; `unique` is in none before, so that two changes are never alike. */
function planOf(random: Random, unique: string, { plans }: Member): () => CatalogPlan {
  const pick = (of: readonly string[]): string => of[random.below(of.length)] as string;
  const [database, table, other] = [pick(DATABASES), pick(TABLES), pick(TABLES)];
  const column = { name: unique, type: { kind: "float", bits: 64 }, semantic: "field", nullable: true } as const;
  const add = { kind: "alter", database, table, change: { kind: "add-columns", columns: [column] } } as const;
  const view = { database, name: other, query: unique, queryDatabase: database, definition: unique, sources: [], columns: [] };
  switch (random.below(10)) {
    case 0:
      return () => plans.createDatabase(database, { unique });
    case 1:
      return () => plans.dropDatabase(database);
    case 2:
      return () => plans.dropTable(database, table);
    case 3:
      return () => plans.steps([{ kind: "alter", database, table, change: { kind: "rename", name: other } }]);
    case 4:
      return () => plans.createView(view, random.below(2) === 0);
    case 5:
      return () => plans.dropView(database, table);
    case 6:
      return () => plans.alterDatabase(database, { unique });
    case 7:
      return () => plans.steps([add as never]);
    default:
      return () => plans.steps([{ kind: "create", definition: { ...definition(database, table), options: { unique } } }]);
  }
}

function stateOf({ schemas }: Member): unknown {
  const databases = schemas.databases().map((info) => ({
    info,
    tables: schemas.schemas(info.name).sort((x, y) => x.id - y.id),
    views: schemas.views(info.name),
  }));
  return { databases, next: schemas.nextTableId, version: schemas.version };
}

/** Ids that changes gave to new tables and views, in order. */
function idsIn(history: History): number[] {
  const known = new Set<string>();
  const ids: number[] = [];
  for (const version of [...history.seen.keys()].sort((x, y) => x - y)) {
    for (const [key, value] of JSON.parse(history.seen.get(version) as string) as [string, unknown][]) {
      if (!/^(?:table|view)\//.test(key) || value === undefined) continue;
      if (known.has(key)) continue;
      known.add(key);
      ids.push(Number(key.split("/")[1]));
    }
  }
  return ids;
}

test.each(SEEDS)("seed %i: one order everywhere, each answered change once, ids given once", async (seed) => {
  const cluster = new MemoryCluster({ seed, rates: ROUGH, messageBytesMax: seed % 2 === 0 ? 1024 * 1024 : 250 });
  const random = seededRandom(seed + 500);
  const history = new History();
  const processes = NAMES.map((name) => new Process(cluster, name, history));
  const end = startChaos(cluster, NAMES);
  await Promise.all(
    processes.map(async (process) => {
      for (let n = 0; n < OPERATIONS; n++) {
        await process.change(random, n);
        await cluster.sleep(process.name, random.below(3000));
      }
    }),
  );
  end();
  await cluster.time.sleep(60_000); // Late ones come.
  const late = new Process(cluster, "late", history);
  const all = [...processes, late];
  for (const process of all) {
    await process.ensure();
    await process.mirror.refresh();
  }
  const members = all.flatMap((process) => process.members);
  for (const member of members) expect(stateOf(member)).toEqual(stateOf(late.members[0] as Member));
  expect(history.seen.size).toBeGreaterThan(CHANGES_BETWEEN);
  const order = [...history.seen.values()];
  for (const answered of history.answered.filter((text) => text.includes("unique") || /[a-d]\d/.test(text)))
    expect(order.filter((text) => text === answered).length).toBe(1);
  for (const answered of history.answered) expect(order).toContain(answered);
  const ids = idsIn(history);
  expect(ids).toEqual([...new Set(ids)].sort((x, y) => x - y));
  for (const process of all) await process.mirror.close();
});
