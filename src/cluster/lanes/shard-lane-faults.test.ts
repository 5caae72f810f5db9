/**
 * The property of lanes: whatever happens between frontends and the log, a follower by the rule of `engine/log/writers.ts` has each row
 * once, none that was acknowledged is missing, those of a lane are in the order in which they were appended, under their series.
 */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { laneOf } from "../../../test/support/cluster/lane-fixture.ts";
import { LaneFollower } from "../../../test/support/cluster/lane-follower.ts";
import { appendRows, LaneTable, rowsOf } from "../../../test/support/cluster/lane-rows.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { LaneMemory } from "./lane-memory.ts";
import type { ShardLane } from "./shard-lane.ts";

const SEEDS: readonly number[] = Array.from({ length: 100 }, (_, i) => i + 1);
const CLIENTS: readonly string[] = ["a", "b", "c"];

/** Codes with which a write may fail here. */
const FAILURES: readonly StatusCode[] = [StatusCode.StorageUnavailable, StatusCode.RateLimited];

test.each(SEEDS)("seed %i: each row counts once, in order, none that was acknowledged is missing", async (seed) => {
  const random = seededRandom(seed + 7000);
  const messageBytesMax = random.below(3) === 0 ? 700 : 64 * 1024;
  const cluster = new MemoryCluster({ seed, rates: ROUGH, messageBytesMax });
  const end = startChaos(cluster, CLIENTS);
  const memory = new LaneMemory(2 ** 26);
  const acknowledged: number[] = [];
  const tags = new Map<number, string>();
  let lastId = 0;
  let failed = 0;
  const lanes: ShardLane[] = [];
  const write = async (client: string, waitMillis: number): Promise<void> => {
    const lane = laneOf(cluster, client, { memory, waitMillis });
    lanes.push(lane);
    const tables = [new LaneTable(1), new LaneTable(2)];
    const pending: Promise<void>[] = [];
    for (let i = 0; i < 60; i++) {
      const table = tables[random.below(2)] as LaneTable;
      const count = random.below(12) === 0 ? 60 + random.below(300) : 1 + random.below(6);
      const rows = Array.from({ length: count }, () => {
        const row = { tag: `${table.id}-${random.below(20)}`, id: ++lastId };
        tags.set(row.id, row.tag);
        return row;
      });
      pending.push(
        appendRows(lane, table, rows).then(
          () => void acknowledged.push(...rows.map(({ id }) => id)),
          (error: unknown) => {
            failed++;
            expect(error).toBeInstanceOf(DbError);
            expect(FAILURES).toContain((error as DbError).code);
          },
        ),
      );
      if (random.below(10) === 0) lane.endSegment();
      if (random.below(20) === 0) table.renew();
      if (random.below(2) === 0) await cluster.sleep(client, random.below(random.below(15) === 0 ? 130_000 : 400));
    }
    await Promise.all(pending);
    await lane.close();
  };
  await Promise.all(CLIENTS.map((client, i) => write(client, i < 2 ? 1000 + random.below(6000) : 30_000)));
  await cluster.time.sleep(60_000); // Late ones come.
  end();
  const follower = new LaneFollower();
  follower.take(cluster.stream("LOG0").messages);
  const rows = rowsOf(follower);
  const ids = rows.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, tag, table } of rows) expect([id, tag, `${table}`]).toEqual([id, tags.get(id) ?? "", tag.split("-")[0] ?? ""]);
  const there = new Set(ids);
  expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
  const isAcknowledged = new Set(acknowledged);
  for (const writer of new Set(follower.chunks.map((chunk) => chunk.writer))) {
    const its = rowsOf(follower, writer).map(({ id }) => id);
    const inOrder = its.filter((id) => isAcknowledged.has(id));
    expect(inOrder).toEqual(inOrder.toSorted((x, y) => x - y));
  }
  expect(memory.bytes).toBe(0);
  expect(lanes.reduce((sum, { counts }) => sum + counts.failures, 0)).toBe(failed);
});
