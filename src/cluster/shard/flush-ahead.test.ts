/** What a node does with a shard before it hands it over. */
import { afterEach, expect, test } from "bun:test";
import { rowsOf, ShardRig } from "../../../test/support/cluster/shard-rig.ts";

let rig: ShardRig;
afterEach(() => rig.close());

test("a shard that is flushed ahead goes on: rows are in files, newer ones are taken, and all are there for the next owner", async () => {
  rig = await ShardRig.start();
  const cpu = await rig.table("cpu", { append_mode: "true" });
  const writer = rig.writer(0);
  await writer.write([cpu, [{ tag: "x", time: 1, value: 1 }]]);
  const { host } = await (await rig.node("a")).open(0);
  const files = (): string[] => [...rig.files.keys()].filter((name) => name.startsWith("shard-0000/tables/"));
  expect(files()).toHaveLength(0);
  await host.engine.flushAhead();
  expect(files()).toHaveLength(1);
  await writer.write([cpu, [{ tag: "y", time: 2, value: 2 }]]);
  await host.reach(writer.acknowledged);
  expect(await rowsOf(host.table(cpu.id))).toEqual(["x 1 1", "y 2 2"]);
  await host.close(true);
  const next = await (await rig.node("b")).open(0);
  expect(await rowsOf(next.host.table(cpu.id))).toEqual(["x 1 1", "y 2 2"]);
  await next.host.close(false);
});
