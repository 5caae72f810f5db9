/**
 * Frontends that write, and owners of shards that follow: what clients were told is what readers of the shards see, each row once, whatever
 * goes wrong between.
 */
import { expect, test } from "bun:test";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { FakeElsewhere } from "../../../test/engine/elsewhere.ts";
import { EVERYTHING, put } from "../../../test/engine/lines.ts";
import { plainParts } from "../../../test/engine/plain-parts.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { laneOf } from "../../../test/support/cluster/lane-fixture.ts";
import type { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { type RigNode, ShardRig } from "../../../test/support/cluster/shard-rig.ts";
import { DbError } from "../../base/error.ts";
import { silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import { Engine } from "../../engine/engine.ts";
import { memoryFileStore } from "../../storage/file-store/memory-file-store.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import { memoryWal } from "../../storage/wal/memory-wal.ts";
import { CatalogMirror } from "../catalog/catalog-mirror.ts";
import { LaneMemory } from "../lanes/lane-memory.ts";
import type { ShardLane } from "../lanes/shard-lane.ts";
import type { ShardHost } from "./shard-host.ts";

const SHARDS = 3;
const TYPES: readonly DataType[] = [STRING, STRING, TIMESTAMP_NANOSECOND];
const TABLES: readonly string[] = ["t0", "t1"];

/** A process that takes writes. */
interface Frontend {
  readonly name: string;
  readonly engine: Engine;
  readonly lanes: readonly ShardLane[];
  close(): Promise<void>;
}

async function startFrontend(cluster: MemoryCluster, name: string): Promise<Frontend> {
  const port = memoryPort(cluster, name);
  const sleep = (millis: number): Promise<void> => cluster.sleep(name, millis);
  const mirror = await CatalogMirror.open(port, {
    clock: cluster.time,
    sleep,
    shards: SHARDS,
    logger: silentLogger,
    onLost: () => undefined,
  });
  const memory = new LaneMemory(2 ** 28);
  const catalogVersion = (): number => mirror.version;
  const lanes = Array.from({ length: SHARDS }, (_, shard) =>
    laneOf(cluster, name, { shard, port, memory, catalogVersion, waitMillis: 10 ** 9 }),
  );
  const { engine } = await Engine.open({
    ...plainParts(memoryFileStore(new Map())),
    wal: memoryWal(),
    meta: memoryMetaStore(),
    catalogue: mirror.catalogue(),
    shards: SHARDS,
    elsewhere: new FakeElsewhere(lanes),
  });
  return {
    name,
    engine,
    lanes,
    close: async () => {
      await Promise.all(lanes.map((lane) => lane.close()));
      await engine.close(false);
      await mirror.close();
      await port.close();
    },
  };
}

/** Writes as doors do: again where tables were made later. */
async function written(cluster: MemoryCluster, { engine, name }: Frontend, lines: string): Promise<void> {
  for (;;) {
    try {
      await put(engine, lines, { tableOptions: { append_mode: "true" } });
      return;
    } catch (error) {
      // Up to the append nothing was written: the catalogue has not answered yet.
      if (!(error instanceof DbError) || ![StatusCode.RegionBusy, StatusCode.StorageUnavailable].includes(error.code as never)) throw error;
    }
    await cluster.sleep(name, 100);
  }
}

/** Writes rows that no other has; gives them as texts. */
async function live(cluster: MemoryCluster, frontend: Frontend, random: Random): Promise<string[]> {
  const rows: string[] = [];
  const writes: Promise<void>[] = [];
  for (let i = 0; i < 25; i++) {
    const lines = Array.from({ length: 1 + random.below(30) }, (_, row) => {
      const [table, host, time] = [TABLES[random.below(2)] ?? "", `h${random.below(30)}`, i * 1000 + row];
      rows.push(`${table} ${host} ${frontend.name} ${time}`);
      // Later ones have another tag, which comes into being on the way.
      return `${table},host=${host},from=${frontend.name}${i > 12 ? `,late=l${random.below(3)}` : ""} v=${row}i ${time}`;
    });
    writes.push(written(cluster, frontend, lines.join("\n")));
    if (random.below(5) === 0) await frontend.engine.keepUp();
    if (random.below(2) === 0) await cluster.sleep(frontend.name, random.below(random.below(8) === 0 ? 70_000 : 3000));
  }
  await Promise.all(writes);
  return rows;
}

async function rowsOf(engine: Engine, hosts: readonly ShardHost[]): Promise<string[]> {
  const rows: string[] = [];
  for (const name of TABLES) {
    const schema = engine.table("public", name)?.schema;
    for (const host of hosts) {
      const projection = ["host", "from", "greptime_timestamp"];
      if (schema === undefined) continue;
      for await (const { rowCount, vectors } of host.table(schema.id).scan({ ...EVERYTHING, projection })) {
        for (let row = 0; row < rowCount; row++) {
          rows.push([name, ...vectors.map((vector, i) => String(scalarAt(vector, TYPES[i] ?? STRING, row)))].join(" "));
        }
      }
    }
  }
  return rows;
}

/** A process whose first tries to begin may fail. */
async function nodeOf(rig: ShardRig, name: string): Promise<RigNode> {
  for (let i = 0; ; i++) {
    try {
      return await rig.node(`${name}-${i}`);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
    }
  }
}

/** A shard of a node, whose first tries may fail. */
async function opened(cluster: MemoryCluster, node: RigNode, shard: number): Promise<ShardHost> {
  for (;;) {
    try {
      return (await node.open(shard)).host;
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
    }
    await cluster.time.sleep(500);
  }
}

test.each([1, 2, 3, 4, 5, 6])("seed %i: what frontends were answered is in the shards, each row once", async (seed) => {
  const random = seededRandom(seed + 900);
  const rig = await ShardRig.start({ shards: SHARDS, seed, ...(seed % 2 === 0 ? { messageBytesMax: 4000 } : {}) });
  const { cluster } = rig;
  const frontends = [await startFrontend(cluster, "f0"), await startFrontend(cluster, "f1")];
  let owner: RigNode = await rig.node("a");
  cluster.rates = ROUGH;
  const end = startChaos(cluster, ["f0", "f1"]);
  const writing = Promise.all(frontends.map((frontend) => live(cluster, frontend, seededRandom(random.below(2 ** 31)))));
  let isWriting = true;
  const writtenRows = writing.finally(() => {
    isWriting = false;
  });
  // Owners follow one another: what is in files and what is in the log make up all rows.
  for (let life = 0; isWriting; life++) {
    for (let shard = 0; shard < SHARDS; shard++) {
      const host = await opened(cluster, owner, shard);
      await cluster.time.sleep(random.below(5000));
      if (random.below(2) === 0) for (const name of TABLES) await host.engine.flushTable("public", name).catch(() => undefined);
      await host.close(random.below(2) === 0);
    }
    await owner.kill();
    owner = await nodeOf(rig, `b${life}`);
  }
  const expected = (await writtenRows).flat();
  end();
  const hosts: ShardHost[] = [];
  for (let shard = 0; shard < SHARDS; shard++) hosts.push(await opened(cluster, owner, shard));
  for (const [shard, host] of hosts.entries()) await host.reach(cluster.stream(`LOG${shard}`).lastNumber);
  const [frontend] = frontends;
  if (frontend === undefined) throw new Error("a frontend");
  expect((await rowsOf(frontend.engine, hosts)).toSorted()).toEqual(expected.toSorted());
  expect(frontends.flatMap(({ lanes }) => lanes).reduce((sum, { counts }) => sum + counts.failures, 0)).toBe(0);
  await Promise.all(frontends.map((one) => one.close()));
  await owner.kill();
  await rig.close();
});
