/**
 * Shards whose log loses what it had acknowledged: it goes back, is gone, or has messages that are damaged. Their owner goes on with it,
 * what was taken stays, and what frontends hold comes again: each row that was acknowledged is there once.
 */
import { afterEach, expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import type { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import {
  nodeOf,
  opened,
  rowsOfShards,
  SHARDS,
  startFrontend,
  TABLES,
  writeLast,
  writeMany,
} from "../../../test/support/cluster/shard-frontends.ts";
import type { WrittenRow } from "../../../test/support/cluster/record-maker.ts";
import { rowsOf, ShardRig } from "../../../test/support/cluster/shard-rig.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { ShardHost } from "./shard-host.ts";

let rig: ShardRig;
let cpu: TableSchema;

afterEach(() => rig.close());

async function started(): Promise<void> {
  rig = await ShardRig.start();
  cpu = await rig.table("cpu", { append_mode: "true" });
}

/** Loses something of a shard's log. */
function lose(cluster: MemoryCluster, shard: number, random: (max: number) => number): void {
  const name = `LOG${shard}`;
  if (!cluster.hasStream(name)) return;
  const stream = cluster.stream(name);
  const kind = random(5);
  if (kind === 0) cluster.deleteStream(name);
  else if (kind < 3) stream.goBack(Math.max(0, stream.lastNumber - 1 - random(10)));
  else stream.damageNext = (bytes) => damage(bytes, random(Math.max(1, bytes.length)));
}

/** Changes a byte; false: there is none. */
function damage(bytes: Uint8Array, at: number): boolean {
  if (bytes.length === 0) return false;
  bytes[at] = (bytes[at] as number) ^ 0x55;
  return true;
}

const SEEDS = Number(process.env["VARVE_LOG_LOSSES"] ?? 8);

test.each(Array.from({ length: SEEDS }, (_, i) => i + 1))(
  "seed %i: what frontends were answered is there once, whatever their logs lose",
  async (seed) => {
    const random = seededRandom(seed + 4100);
    const below = (max: number): number => random.below(max);
    rig = await ShardRig.start({ shards: SHARDS, seed, ...(seed % 2 === 0 ? { messageBytesMax: 4000 } : {}) });
    const { cluster } = rig;
    const frontends = [await startFrontend(cluster, "f0"), await startFrontend(cluster, "f1")];
    const owner = await nodeOf(rig, "a");
    if (seed > 3) cluster.rates = ROUGH;
    const end = seed > 3 ? startChaos(cluster, ["f0", "f1"]) : () => undefined;
    const hosts: ShardHost[] = [];
    for (let shard = 0; shard < SHARDS; shard++) hosts.push(await opened(cluster, owner, shard));
    const tell = (): void => {
      for (const { lanes } of frontends) {
        for (const [shard, lane] of lanes.entries()) {
          const { count, writer } = (hosts[shard] as ShardHost).asked;
          lane.heard(count, writer);
        }
      }
    };
    let isWriting = true;
    const writing = Promise.all(frontends.map((frontend) => writeMany(cluster, frontend, seededRandom(random.below(2 ** 31))))).finally(
      () => {
        isWriting = false;
      },
    );
    while (isWriting) {
      await cluster.time.sleep(500 + random.below(4000));
      tell();
      const shard = random.below(SHARDS);
      const host = hosts[shard] as ShardHost;
      if (random.below(3) === 0) await Promise.allSettled(TABLES.map((name) => host.engine.flushTable("public", name)));
      await host.engine.keepUp();
      if (random.below(4) === 0) lose(cluster, shard, below);
    }
    const expected = (await writing).flat();
    end();
    // Where others have written since, a loss is found when its writer writes again.
    for (const frontend of frontends) expected.push(...(await writeLast(cluster, frontend)));
    const settled = async (): Promise<void> => {
      for (let round = 0; round < 12; round++) {
        await cluster.time.sleep(5000);
        tell();
        await Promise.all(hosts.map(({ engine }) => engine.keepUp()));
      }
      for (const [shard, host] of hosts.entries()) await host.reach(cluster.stream(`LOG${shard}`).lastNumber);
    };
    await settled();
    const [frontend] = frontends;
    if (frontend === undefined) throw new Error("a frontend");
    expect((await rowsOfShards(frontend.engine, hosts)).toSorted()).toEqual(expected.toSorted());
    // Whoever comes next finds the same, once it has asked for what it alone cannot read.
    await owner.kill();
    const next = await nodeOf(rig, "b");
    for (let shard = 0; shard < SHARDS; shard++) hosts[shard] = await opened(cluster, next, shard);
    await settled();
    expect((await rowsOfShards(frontend.engine, hosts)).toSorted()).toEqual(expected.toSorted());
    expect(frontends.flatMap(({ lanes }) => lanes).reduce((sum, { counts }) => sum + counts.failures, 0)).toBe(0);
    await Promise.all(frontends.map((one) => one.close()));
  },
);

/** Rows as `rowsOf` gives them. */
function row(time: number): WrittenRow {
  return { tag: "a", time, value: time };
}

test("a log that went back while nobody owned the shard: what files have stays, and new rows do not count as flushed", async () => {
  await started();
  const writer = rig.writer(1);
  for (let time = 1; time <= 6; time++) await writer.write([cpu, [row(time)]]);
  const first = await (await rig.node("a")).open(1);
  await first.host.engine.flushTable("public", "cpu");
  await first.host.close(false);
  rig.cluster.stream("LOG1").goBack(2);
  const other = rig.writer(1, "other");
  await other.write([cpu, [row(10)]]);
  const { host, lost } = await (await rig.node("b")).open(1);
  expect(await rowsOf(host.table(cpu.id))).toEqual(
    expect.arrayContaining(["a 1 1", "a 10 10", "a 2 2", "a 3 3", "a 4 4", "a 5 5", "a 6 6"]),
  );
  expect([lost, host.asked.count]).toEqual([[], 1]);
  const { lastNumber } = rig.cluster.stream("LOG1");
  expect(lastNumber).toBeGreaterThan(1_000_000);
  const third = rig.writer(1, "third");
  await third.write([cpu, [row(11)]]);
  await host.reach(third.acknowledged);
  expect(await rowsOf(host.table(cpu.id))).toContain("a 11 11");
});

test("a log that is gone when a shard is opened is made anew", async () => {
  await started();
  const writer = rig.writer(1);
  await writer.write([cpu, [row(1)]]);
  const first = await (await rig.node("a")).open(1);
  await first.host.close(true);
  rig.cluster.deleteStream("LOG1");
  const { host } = await (await rig.node("b")).open(1);
  expect([await rowsOf(host.table(cpu.id)), host.asked.count]).toEqual([["a 1 1"], 1]);
  const other = rig.writer(1, "other");
  await other.write([cpu, [row(2)]]);
  await host.reach(other.acknowledged);
  expect(await rowsOf(host.table(cpu.id))).toEqual(["a 1 1", "a 2 2"]);
});

test("a message that was damaged once it was taken: the next owner passes over it, and has its rows when they come again", async () => {
  rig = await ShardRig.start({ shards: SHARDS });
  const { cluster } = rig;
  const frontend = await startFrontend(cluster, "f0");
  const owner = await rig.node("a");
  const hosts: ShardHost[] = [];
  for (let shard = 0; shard < SHARDS; shard++) hosts.push((await owner.open(shard)).host);
  const expected = await writeLast(cluster, frontend);
  for (const [shard, host] of hosts.entries()) await host.reach(cluster.stream(`LOG${shard}`).lastNumber);
  for (let shard = 0; shard < SHARDS; shard++) {
    for (const { bytes } of cluster.stream(`LOG${shard}`).messages) damage(bytes, 7);
  }
  expect((await rowsOfShards(frontend.engine, hosts)).toSorted()).toEqual(expected.toSorted());
  await owner.kill();
  const next = await rig.node("b");
  for (let shard = 0; shard < SHARDS; shard++) hosts[shard] = (await next.open(shard)).host;
  expect(await rowsOfShards(frontend.engine, hosts)).toEqual([]);
  for (const lane of frontend.lanes) lane.heard(0, 0);
  for (const [shard, lane] of frontend.lanes.entries()) {
    const { count, writer } = (hosts[shard] as ShardHost).asked;
    expect([count > 0, writer]).toEqual([true, 0]);
    lane.heard(count, writer);
  }
  await cluster.time.sleep(1000);
  for (const [shard, host] of hosts.entries()) await host.reach(cluster.stream(`LOG${shard}`).lastNumber);
  expect((await rowsOfShards(frontend.engine, hosts)).toSorted()).toEqual(expected.toSorted());
  await frontend.close();
});

test("messages that are not there any more are passed over, where the shard is still this node's; so many of them are a loss", async () => {
  await started();
  const { host, lost } = await (await rig.node("a")).open(1);
  const [one, other] = [rig.writer(1, "one"), rig.writer(1, "other")];
  await one.write([cpu, [row(1)]]);
  await host.reach(one.acknowledged);
  for (const count of [3, 700]) {
    rig.cluster.cut("a", 3000);
    for (let i = 0; i < count; i++) await one.write([cpu, [row(1000 * count + i)]]);
    await (await rig.node(`trims-${count}`)).port.log.trim(1, rig.cluster.stream("LOG1").lastNumber);
    await other.write([cpu, [row(count)]]);
    await host.reach(other.acknowledged);
    await rig.cluster.time.sleep(5000);
    expect(lost).toEqual([]);
  }
  expect(await rowsOf(host.table(cpu.id))).toEqual(["a 1 1", "a 3 3"]);
  expect(host.asked.count).toBeGreaterThan(3);
  expect(rig.cluster.stream("LOG1").lastNumber).toBeGreaterThan(1_000_000);
});
