/** Tables whose series lie in several shards of one engine: one table to all who ask, apart on disk and in the log. */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { put, read } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { errorOf } from "../../../test/support/failure-of.ts";
import { ALL_TIME } from "../../table/scan.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import { SHARDS_KEY } from "../../storage/meta-store/meta-store.ts";
import { tableId } from "../../base/units.ts";
import { Shards, shardsOf } from "../schema/shards.ts";

const HOSTS = 40;
const line = (host: number, v: number): string => `cpu,host=h${String(host).padStart(2, "0")} v=${v}i ${v}`;
const lines = (v: number): string => Array.from({ length: HOSTS }, (_, host) => line(host, v)).join("\n");

/** Ids of regions that have a file. */
function regionsOf({ files }: Machine): string[] {
  return [...new Set([...files.keys()].map((name) => name.split("/")[1] as string))].sort();
}

const start = (threads = 0): Promise<Machine> => Machine.start({ shards: 3, threads });

test("rows lie in all of them, are one table in the order of its tags, and stay so", async () => {
  const machine = await start();
  await put(machine.engine, lines(1));
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, lines(2));
  expect(regionsOf(machine)).toEqual(["0000001024", "0004195328", "0008389632"]);
  const want = Array.from({ length: HOSTS }, (_, host) => [1, 2].map((v) => `'h${String(host).padStart(2, "0")}'|${v}|${v}`)).flat();
  for (const again of [() => machine.crash(), () => machine.engine.compactTable("public", "cpu"), () => machine.restart()]) {
    expect(await read(machine.engine, "cpu")).toEqual(want);
    await again();
  }
  expect(await read(machine.engine, "cpu")).toEqual(want);
  expect(machine.engine.table("public", "cpu")?.statistics()).toMatchObject({ rowCount: 2 * HOSTS, seriesCount: HOSTS });
});

test.each([0, 1])("one request is one record, on the engine's thread or another (%i)", async (thread) => {
  const machine = await start(1);
  await put(machine.writer(thread), lines(1));
  await put(machine.writer(thread), lines(2));
  const wal = machine.logOf(thread);
  let records = 0;
  await machine.engine.keepUp();
  expect(await read(machine.engine, "cpu")).toHaveLength(2 * HOSTS);
  await wal.crash().recover(() => void records++);
  expect(records).toBe(2);
});

test("rows, ranges and all of a table are taken away wherever they lie", async () => {
  const machine = await start();
  await put(machine.engine, lines(1));
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, lines(2));
  const table = machine.engine.table("public", "cpu");
  expect(await table?.deleteRange({ timeRange: { start: 1n, end: 2n }, tagPredicates: [] })).toBe(HOSTS);
  expect(await read(machine.engine, "cpu")).toHaveLength(HOSTS);
  await machine.engine.truncateTable("public", "cpu", [ALL_TIME]); // Of whole files.
  expect(await read(machine.engine, "cpu")).toHaveLength(HOSTS);
  await machine.engine.truncateTable("public", "cpu");
  expect([await read(machine.engine, "cpu"), machine.files.size, machine.meta.list("file/").length]).toEqual([[], 0, 0]);
  await put(machine.engine, lines(3));
  await machine.engine.flushTable("public", "cpu");
  await machine.engine.dropTable("public", "cpu", false);
  expect([machine.files.size, machine.meta.list("file/"), machine.meta.list("flushed/")]).toEqual([0, [], []]);
  await machine.crash();
  expect(machine.engine.tables("public")).toEqual([]);
});

test("there are as many as when the data was made", async () => {
  const meta = memoryMetaStore();
  expect(shardsOf(meta, 3).count).toBe(3);
  meta.commit([{ key: "next/table", value: 1025 }]);
  expect(shardsOf(meta, 1).count).toBe(1);
  const one = await errorOf((async () => shardsOf(meta, 3))());
  expect(one.message).toBe(
    "cannot open the data: the data lies in 1 shard since it was made, and storage.shards says 3; set storage.shards = 1",
  );
  meta.commit([{ key: SHARDS_KEY, value: 4 }]);
  expect(shardsOf(meta, 4).count).toBe(4);
  const four = await errorOf((async () => shardsOf(meta, 3))());
  expect(four.message).toContain("lies in 4 shards since it was made, and storage.shards says 3; set storage.shards = 4");
});

test("ids of regions and tables go into each other", () => {
  const random = seededRandom(1);
  const shards = new Shards(1024);
  for (let i = 0; i < 1000; i++) {
    const table = tableId(random.below(2 ** 22));
    const regions = shards.regionsOf(table);
    expect([regions[0], new Set(regions).size, new Set(regions.map((region) => shards.tableOf(region)))]).toEqual([
      table,
      1024,
      new Set([table]),
    ]);
    expect(regions.at(-1)).toBeLessThan(2 ** 32);
  }
  expect(() => shards.regionsOf(tableId(2 ** 22))).toThrow("ids of tables that lie in several shards are below");
  expect(new Shards(1).tableOf(tableId(2 ** 30))).toBe(tableId(2 ** 30));
});
