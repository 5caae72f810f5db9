/** A shard on its node: it follows its log, flushes, and another node goes on where it was. */
import { afterEach, expect, test } from "bun:test";
import { rowsOf, ShardRig } from "../../../test/support/cluster/shard-rig.ts";

let rig: ShardRig;
afterEach(() => rig.close());

test("rows of its log are read, flushed, and found by the next node", async () => {
  rig = await ShardRig.start();
  const cpu = await rig.table("cpu", { append_mode: "true" });
  for (const shard of [0, 2]) {
    const node = await rig.node(`a${shard}`);
    const writer = rig.writer(shard);
    await writer.write([cpu, [{ tag: "x", time: 1, value: 1 }]]);
    const { host, lost } = await node.open(shard);
    await writer.write([cpu, [{ tag: "y", time: 2, value: 2 }]]);
    await host.reach(writer.acknowledged);
    const rows = ["x 1 1", "y 2 2"];
    expect(await rowsOf(host.table(cpu.id))).toEqual(rows);
    await host.engine.flushTable("public", "cpu");
    expect(await rowsOf(host.table(cpu.id))).toEqual(rows);
    expect([...rig.files.keys()].filter((name) => name.startsWith(`shard-000${shard}/tables/`))).toHaveLength(1);
    await writer.write([cpu, [{ tag: "x", time: 3, value: 3 }]]);
    await host.reach(writer.acknowledged);
    expect([host.epoch, host.applied, host.lag.records, lost]).toEqual([1, 3, 0, []]);
    await host.close(false);
    const next = await (await rig.node(`b${shard}`)).open(shard);
    expect([next.host.epoch, next.host.applied]).toEqual([2, 3]);
    expect(await rowsOf(next.host.table(cpu.id))).toEqual([...rows, "x 3 3"].sort());
    await next.host.close(true);
  }
});
