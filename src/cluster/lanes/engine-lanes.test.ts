/** An engine whose rows go to lanes over the log: what the log then has is what clients were told. */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { startFrontend } from "../../../test/engine/elsewhere.ts";
import { put, read } from "../../../test/engine/lines.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { laneOf } from "../../../test/support/cluster/lane-fixture.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { Writers } from "../../engine/log/writers.ts";
import { decodeWriteRecord } from "../../storage/memtable/write-record.ts";
import { type MemoryWal, memoryWal } from "../../storage/wal/memory-wal.ts";
import { MessageReader } from "../log-message/message-reader.ts";
import { LaneMemory } from "./lane-memory.ts";

const SHARDS = 3;

/** The records of a shard's log that count, as a local log. */
async function logOf(cluster: MemoryCluster, shard: number): Promise<MemoryWal> {
  const wal = memoryWal();
  await wal.recover(() => undefined);
  const reader = new MessageReader(`LOG${shard}`);
  const writers = new Writers();
  for (const { number, bytes } of cluster.stream(`LOG${shard}`).messages) {
    for (const { sequence, payload } of reader.take(number, bytes).records) {
      const { origin } = decodeWriteRecord(sequence, payload);
      if (origin === undefined) throw new Error("records say where they come from");
      const { kind } = writers.take(origin);
      wal.beginRecord();
      if (kind === "rows" || kind === "definitions") await wal.append(sequence, [payload]);
    }
  }
  expect(writers.count).toBeLessThanOrEqual(1);
  return wal;
}

test.each([1, 2, 3, 4, 5, 6])("seed %i: rows of tables in shards are there once their write is answered, each once", async (seed) => {
  const random = seededRandom(seed + 300);
  const cluster = new MemoryCluster({ seed, rates: ROUGH, messageBytesMax: seed % 2 === 0 ? 2000 : 1 << 20 });
  const end = startChaos(cluster, ["a"]);
  const memory = new LaneMemory(2 ** 26);
  const lanes = Array.from({ length: SHARDS }, (_, shard) => laneOf(cluster, "a", { shard, memory, waitMillis: 10 ** 9 }));
  const { machine, rows } = await startFrontend(lanes, { limits: { memtableBytes: 1 << 16, stallMillis: 5000 } });
  const expected: string[] = [];
  const writes: Promise<unknown>[] = [];
  for (let i = 1; i <= 40; i++) {
    const table = `t${random.below(2)}`;
    const lines = Array.from({ length: 1 + random.below(60) }, (_, row) => {
      const host = `h${random.below(40)}`;
      expected.push(`${table} '${host}'|${row}|${i * 1000 + row}`);
      return `${table},host=${host} v=${row}i ${i * 1000 + row}`;
    });
    writes.push(put(machine.engine, lines.join("\n"), { tableOptions: { append_mode: "true" } }));
    if (random.below(8) === 0) await machine.engine.keepUp(); // Renews all registries.
    if (random.below(2) === 0) await cluster.sleep("a", random.below(3000));
  }
  await Promise.all(writes);
  expect([memory.bytes, lanes.reduce((sum, { counts }) => sum + counts.failures, 0)]).toEqual([0, 0]);
  await Promise.all(lanes.map((lane) => lane.close()));
  end();
  const logs: MemoryWal[] = [];
  for (let shard = 0; shard < SHARDS; shard++) logs.push(await logOf(cluster, shard));
  await rows(logs);
  const found: string[] = [];
  for (const table of ["t0", "t1"]) found.push(...(await read(machine.engine, table)).map((row) => `${table} ${row}`));
  expect(found.toSorted()).toEqual(expected.toSorted());
});
