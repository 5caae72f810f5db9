/**
 * Lanes whose log loses what it had acknowledged: it goes back, is gone, or has a hole. Whatever they still hold counts once, in order, and
 * no hole keeps what comes later from counting.
 */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { laneOf } from "../../../test/support/cluster/lane-fixture.ts";
import { LaneFollower } from "../../../test/support/cluster/lane-follower.ts";
import { appendRows, LaneTable, rowsOf } from "../../../test/support/cluster/lane-rows.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import type { StoredMessage } from "../../../test/support/cluster/memory-stream.ts";
import type { ShardLane } from "./shard-lane.ts";

const SEEDS: readonly number[] = Array.from({ length: 60 }, (_, i) => i + 1);

/** The owner of a shard, as far as lanes know of one: it follows the log, and lifts one that lost what it had taken. */
class Owner {
  readonly follower: LaneFollower = new LaneFollower();
  asked = 0;
  private askedOf = 0;
  private readonly cluster: MemoryCluster;
  private taken = 0;
  private newest: StoredMessage | undefined;
  private heard = 0;

  constructor(cluster: MemoryCluster) {
    this.cluster = cluster;
  }

  look(): void {
    const stream = this.cluster.stream("LOG0");
    const isOther = this.newest !== undefined && stream.stored(this.taken) !== this.newest;
    if (stream.lastNumber < this.taken || isOther) {
      this.taken = Math.max(this.taken, stream.lastNumber) + 1_000_000;
      this.cluster.liftStream("LOG0", this.taken);
      this.ask(0);
    }
    const messages = stream.above("log.0", this.taken, Number.POSITIVE_INFINITY);
    this.follower.take(messages);
    this.taken = Math.max(this.taken, stream.lastNumber);
    this.newest = stream.stored(this.taken);
    if (this.follower.asked > this.heard) {
      this.heard = this.follower.asked;
      this.ask(0);
    }
    for (const writer of this.follower.gaps) {
      this.ask(writer);
      this.follower.gaps.delete(writer);
    }
  }

  /** Tells lanes. */
  tell(lanes: readonly ShardLane[]): void {
    for (const lane of lanes) lane.heard(this.asked, this.askedOf);
  }

  private ask(writer: number): void {
    this.asked++;
    this.askedOf = writer;
  }
}

/** Writes rows of ids by a lane; resolves to those that were acknowledged. */
async function write(lane: ShardLane, table: LaneTable, ids: readonly number[]): Promise<void> {
  await Promise.all(ids.map((id) => appendRows(lane, table, [{ tag: `t${id % 5}`, id }])));
}

function idsOf(follower: LaneFollower): number[] {
  return rowsOf(follower)
    .map(({ id }) => id)
    .sort((one, other) => one - other);
}

test.each(SEEDS)(
  "seed %i: a log goes back now and then; each row that was acknowledged counts once, in the order of its lane",
  async (seed) => {
    const random = seededRandom(seed + 900);
    const cluster = new MemoryCluster({ seed, messageBytesMax: random.below(3) === 0 ? 700 : 64 * 1024 });
    const owner = new Owner(cluster);
    const lanes = ["a", "b", "c"].map((client) => laneOf(cluster, client));
    const tables = lanes.map(() => new LaneTable(1));
    const acknowledged: number[][] = lanes.map(() => []);
    let lastId = 0;
    for (let step = 0; step < 80; step++) {
      const who = random.below(lanes.length);
      const ids = Array.from({ length: 1 + random.below(random.below(8) === 0 ? 200 : 5) }, () => ++lastId);
      const writing = write(lanes[who] as ShardLane, tables[who] as LaneTable, ids).then(() => acknowledged[who]?.push(...ids));
      if (random.below(3) > 0) await writing;
      if (random.below(6) === 0) lanes[who]?.endSegment();
      if (random.below(4) > 0) owner.look();
      if (random.below(10) === 0) {
        const stream = cluster.stream("LOG0");
        stream.goBack(Math.max(stream.firstNumber, stream.lastNumber - 1 - random.below(12)));
      }
      if (random.below(5) === 0) owner.tell(lanes);
    }
    // All write once more, or nobody would notice the last loss.
    for (const [who, lane] of lanes.entries()) {
      const id = ++lastId;
      await write(lane, tables[who] as LaneTable, [id]);
      acknowledged[who]?.push(id);
    }
    for (let i = 0; i < 6; i++) {
      owner.look();
      owner.tell(lanes);
      await cluster.time.sleep(2000);
    }
    owner.look();
    const ids = idsOf(owner.follower);
    expect(new Set(ids).size).toBe(ids.length);
    const there = new Set(ids);
    expect(acknowledged.flat().filter((id) => !there.has(id))).toEqual([]);
    expect(owner.follower.missing).toBe(0);
    for (const writer of new Set(owner.follower.chunks.map((chunk) => chunk.writer))) {
      const its = rowsOf(owner.follower, writer).map(({ id }) => id);
      expect(its).toEqual(its.toSorted((one, other) => one - other));
    }
    for (const lane of lanes) await lane.close();
    expect(lanes.map(({ heldBytes }) => heldBytes)).toEqual([0, 0, 0]);
  },
);

test("a lane that holds less than the log lost says from where on it goes on; what follows counts", async () => {
  const cluster = new MemoryCluster();
  const kept = { bytes: 0 };
  const lane = laneOf(cluster, "a", { keptBytesMax: 2000, kept });
  const table = new LaneTable(1);
  for (let id = 1; id <= 40; id++) await write(lane, table, [id]);
  expect([lane.keptBytes > 500, lane.keptBytes <= 2000, kept.bytes]).toEqual([true, true, lane.keptBytes]);
  const owner = new Owner(cluster);
  cluster.stream("LOG0").goBack(3);
  await write(lane, table, [41]);
  owner.look();
  await write(lane, table, [42]);
  owner.look();
  const ids = idsOf(owner.follower);
  expect([ids.slice(0, 3), ids.at(-1)]).toEqual([[1, 2, 3], 42]);
  expect(owner.follower.missing).toBe(42 - ids.length);
  expect(owner.follower.missing).toBeGreaterThan(5);
  lane.forgetKept();
  expect([lane.keptBytes, kept.bytes]).toEqual([0, 0]);
  cluster.stream("LOG0").goBack(1);
  await write(lane, table, [43]);
  const other = new Owner(cluster);
  other.look();
  expect(idsOf(other.follower)).toEqual([1, 43]);
});

test("a log that is gone takes rows again once it was made anew; what was acknowledged comes when the owner asks", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a");
  lane.heard(4, 0); // Of the time before it.
  const table = new LaneTable(1);
  await write(lane, table, [1, 2, 3]);
  cluster.deleteStream("LOG0");
  const late = write(lane, table, [4, 5]);
  await cluster.time.sleep(3000);
  cluster.liftStream("LOG0", 1_000_000);
  await late;
  const owner = new Owner(cluster);
  owner.look();
  expect(idsOf(owner.follower)).toEqual([]); // Behind a gap.
  lane.heard(4, 0);
  expect(lane.counts.restored).toBe(0);
  lane.heard(5, 0);
  await cluster.time.sleep(1000);
  owner.look();
  expect([idsOf(owner.follower), lane.counts.restored, owner.follower.missing]).toEqual([[1, 2, 3, 4, 5], 5, 0]);
  lane.heard(5, 0);
  lane.heard(0, 0);
  await cluster.time.sleep(1000);
  expect(lane.counts.restored).toBe(5);
});

test("records in parts are kept and come again", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: 500 });
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  const rows = Array.from({ length: 500 }, (_, i) => ({ tag: `t${i}`, id: i }));
  await appendRows(lane, table, rows);
  await write(lane, table, [1000]);
  cluster.stream("LOG0").goBack(0);
  await write(lane, table, [1001]);
  const owner = new Owner(cluster);
  owner.look();
  expect(idsOf(owner.follower)).toEqual([...rows.map(({ id }) => id), 1000, 1001]);
});
