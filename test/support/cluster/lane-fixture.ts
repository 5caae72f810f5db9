/** Lanes over a cluster in memory, for tests. */
import { LaneMemory } from "../../../src/cluster/lanes/lane-memory.ts";
import type { ShardLaneParts } from "../../../src/cluster/lanes/lane-parts.ts";
import { ShardLane } from "../../../src/cluster/lanes/shard-lane.ts";
import { recordingLogger } from "../recording-logger.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { memoryPort } from "./memory-port.ts";

/** A lane to shard 0, as a frontend of a name has it. */
export function laneOf(cluster: MemoryCluster, client: string, parts: Partial<ShardLaneParts> = {}): ShardLane {
  return new ShardLane({
    shard: 0,
    port: memoryPort(cluster, client),
    clock: cluster.time,
    sleep: (millis) => cluster.sleep(client, millis),
    logger: recordingLogger().logger,
    catalogVersion: () => 0,
    memory: new LaneMemory(2 ** 28),
    lag: () => undefined,
    stallMillis: 10_000,
    ...parts,
  });
}
