/**
 * Frontends that write, and owners of shards that follow: what clients were told is what readers of the shards see, each row once, whatever
 * goes wrong between.
 */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { nodeOf, opened, rowsOfShards, SHARDS, startFrontend, TABLES, writeMany } from "../../../test/support/cluster/shard-frontends.ts";
import { type RigNode, ShardRig } from "../../../test/support/cluster/shard-rig.ts";
import type { ShardHost } from "./shard-host.ts";

test.each([1, 2, 3, 4, 5, 6])("seed %i: what frontends were answered is in the shards, each row once", async (seed) => {
  const random = seededRandom(seed + 900);
  const rig = await ShardRig.start({ shards: SHARDS, seed, ...(seed % 2 === 0 ? { messageBytesMax: 4000 } : {}) });
  const { cluster } = rig;
  const frontends = [await startFrontend(cluster, "f0"), await startFrontend(cluster, "f1")];
  let owner: RigNode = await rig.node("a");
  cluster.rates = ROUGH;
  const end = startChaos(cluster, ["f0", "f1"]);
  const writing = Promise.all(frontends.map((frontend) => writeMany(cluster, frontend, seededRandom(random.below(2 ** 31)))));
  let isWriting = true;
  const writtenRows = writing.finally(() => {
    isWriting = false;
  });
  // Owners follow one another: what is in files and what is in the log make up all rows.
  for (let life = 0; isWriting; life++) {
    for (let shard = 0; shard < SHARDS; shard++) {
      const host = await opened(cluster, owner, shard);
      await cluster.time.sleep(random.below(5000));
      // One that fails is made good by the next owner.
      if (random.below(2) === 0) await Promise.allSettled(TABLES.map((name) => host.engine.flushTable("public", name)));
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
  expect((await rowsOfShards(frontend.engine, hosts)).toSorted()).toEqual(expected.toSorted());
  expect(frontends.flatMap(({ lanes }) => lanes).reduce((sum, { counts }) => sum + counts.failures, 0)).toBe(0);
  await Promise.all(frontends.map((one) => one.close()));
  await owner.kill();
  await rig.close();
});
