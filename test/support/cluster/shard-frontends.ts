/** Frontends that write to the shards of a cluster in memory, and what readers of the shards see. */
import type { Random } from "../../../bench/macro/random.ts";
import { DbError } from "../../../src/base/error.ts";
import { silentLogger } from "../../../src/base/log.ts";
import { StatusCode } from "../../../src/base/status-code.ts";
import { CatalogMirror } from "../../../src/cluster/catalog/catalog-mirror.ts";
import { LaneMemory } from "../../../src/cluster/lanes/lane-memory.ts";
import type { ShardLane } from "../../../src/cluster/lanes/shard-lane.ts";
import type { ShardHost } from "../../../src/cluster/shard/shard-host.ts";
import { type DataType, STRING, TIMESTAMP_NANOSECOND } from "../../../src/column/data-type.ts";
import { scalarAt } from "../../../src/column/scalar.ts";
import { Engine } from "../../../src/engine/engine.ts";
import { memoryFileStore } from "../../../src/storage/file-store/memory-file-store.ts";
import { memoryMetaStore } from "../../../src/storage/meta-store/memory-meta-store.ts";
import { memoryWal } from "../../../src/storage/wal/memory-wal.ts";
import { FakeElsewhere } from "../../engine/elsewhere.ts";
import { EVERYTHING, put } from "../../engine/lines.ts";
import { plainParts } from "../../engine/plain-parts.ts";
import { laneOf } from "./lane-fixture.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { memoryPort } from "./memory-port.ts";
import type { RigNode, ShardRig } from "./shard-rig.ts";

/** Shards of these clusters. */
export const SHARDS = 3;
const TYPES: readonly DataType[] = [STRING, STRING, TIMESTAMP_NANOSECOND];
/** Tables that are written. */
export const TABLES: readonly string[] = ["t0", "t1"];

/** A process that takes writes. */
export interface WritingFrontend {
  readonly name: string;
  readonly engine: Engine;
  readonly lanes: readonly ShardLane[];
  close(): Promise<void>;
}

/** Starts one. */
export async function startFrontend(cluster: MemoryCluster, name: string): Promise<WritingFrontend> {
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
async function written(cluster: MemoryCluster, { engine, name }: WritingFrontend, lines: string): Promise<void> {
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
export async function writeMany(cluster: MemoryCluster, frontend: WritingFrontend, random: Random): Promise<string[]> {
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

/** Writes a row of each of many series, so that each shard gets some; gives them as texts. */
export async function writeLast(cluster: MemoryCluster, frontend: WritingFrontend): Promise<string[]> {
  const hosts = TABLES.flatMap((table) => Array.from({ length: 30 }, (_, i) => ({ table, host: `h${i}` })));
  const lines = hosts.map(({ table, host }) => `${table},host=${host},from=${frontend.name} v=1i 99000`);
  await written(cluster, frontend, lines.join("\n"));
  return hosts.map(({ table, host }) => `${table} ${host} ${frontend.name} 99000`);
}

/** The rows of these shards, as the texts that `writeMany` gives. */
export async function rowsOfShards(engine: Engine, hosts: readonly ShardHost[]): Promise<string[]> {
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
export async function nodeOf(rig: ShardRig, name: string): Promise<RigNode> {
  for (let i = 0; ; i++) {
    try {
      return await rig.node(`${name}-${i}`);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
    }
  }
}

/** A shard of a node, whose first tries may fail. */
export async function opened(cluster: MemoryCluster, node: RigNode, shard: number): Promise<ShardHost> {
  for (;;) {
    try {
      return (await node.open(shard)).host;
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
    }
    await cluster.time.sleep(500);
  }
}
