/** Engines of several processes over mirrors of one catalogue, in trouble: statements and writes at once, the same tables everywhere. */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { put as putOnce } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { DbError } from "../../base/error.ts";
import { silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { decodedAndWritten } from "../../table/decoded-and-written.ts";
import type { TableDefinition } from "../../table/schema.ts";
import { CatalogMirror } from "./catalog-mirror.ts";

const SEEDS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8];
const NAMES: readonly string[] = ["a", "b", "c"];
const SHARDS = 2;
const OPERATIONS = 12;
/** What a client may be told while others change the same tables. */
const REFUSALS: readonly StatusCode[] = [
  StatusCode.StorageUnavailable,
  StatusCode.TableAlreadyExists,
  StatusCode.TableNotFound,
  StatusCode.RegionBusy,
];

interface Node {
  readonly name: string;
  readonly mirror: CatalogMirror;
  readonly machine: Machine;
}

async function started(cluster: MemoryCluster, name: string): Promise<Node> {
  const mirror = await CatalogMirror.open(memoryPort(cluster, name), {
    shards: SHARDS,
    clock: cluster.time,
    sleep: (millis) => cluster.sleep(name, millis),
    logger: silentLogger,
    onLost: (why) => {
      throw why;
    },
  });
  const machine = await Machine.start({ catalogue: () => mirror.catalogue(), shards: SHARDS, limits: { stallMillis: 30_000 } });
  return { name, mirror, machine };
}

function definition(name: string): TableDefinition {
  const ts = { name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false } as const;
  return { database: "public", name, columns: [ts], primaryKey: [], engine: "mito", options: {} };
}

function schemasOf({ machine: { engine } }: Node): unknown {
  return engine.databases().map(({ name }) => [
    name,
    engine
      .tables(name)
      .map(({ schema }) => schema)
      .sort((x, y) => x.id - y.id),
  ]);
}

/** Whether the work ended well; else it ended as it may. */
async function isMade(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(error instanceof DbError) || !REFUSALS.includes(error.code)) throw error;
    return false;
  }
}

test.each(SEEDS)(
  "seed %i: statements and writes of three processes end in the same tables, and rows are where they were put",
  async (seed) => {
    const cluster = new MemoryCluster({ seed, rates: ROUGH });
    const random = seededRandom(seed + 900);
    const nodes = await Promise.all(NAMES.map((name) => started(cluster, name)));
    const end = startChaos(cluster, NAMES);
    let written = 0;
    const work = nodes.map(async ({ name, machine: { engine } }) => {
      for (let n = 0; n < OPERATIONS; n++) {
        const table = `t${random.below(3)}`;
        const kind = random.below(8);
        if (kind === 0) await isMade(engine.createTable(definition(table), random.below(2) === 0));
        else if (kind === 1) await isMade(engine.dropTable("public", table, random.below(2) === 0));
        else if (kind === 2) await isMade(engine.alterTable("public", table, { kind: "rename", name: `t${random.below(3)}` }));
        else {
          const line = (to: string): string => `${to},${name}${n % 3}=x v${random.below(4)}=1i ${n}`;
          const lines = [line(table), line(`kept_${name}`)].join("\n");
          if (await isMade(decodedAndWritten(() => putOnce(engine, lines)))) written++;
        }
        await cluster.sleep(name, random.below(2000));
      }
    });
    await Promise.all(work);
    end();
    for (const { mirror } of nodes) await mirror.refresh();
    const late = await started(cluster, "late");
    for (const node of nodes) expect(schemasOf(node)).toEqual(schemasOf(late));
    const kept = nodes.map(({ name, machine: { engine } }) => engine.table("public", `kept_${name}`)?.statistics().rowCount ?? 0);
    expect(kept.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(written);
    for (const { machine, mirror } of [...nodes, late]) {
      expect(machine.meta.list("table/")).toEqual([]);
      await machine.engine.close();
      await mirror.close();
    }
  },
);
