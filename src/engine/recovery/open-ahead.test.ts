import { expect, test } from "bun:test";
import { put, read } from "../../../test/engine/lines.ts";
import { newScanMetrics } from "../../table/scan.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { ONE_REGION, regionsOf } from "../../../test/engine/regions.ts";

const always = (): Promise<boolean> => Promise.resolve(true);

/** A machine that was started again after each of the tables was written and flushed `files` times. */
async function restarted(tables: readonly string[], files: number, options: Parameters<typeof Machine.start>[0] = {}): Promise<Machine> {
  const machine = await Machine.start(options);
  for (let file = 0; file < files; file++) {
    for (const table of tables) {
      await put(machine.engine, `${table},host=a v=${file} ${file + 1}\n${table},host=b v=${file} ${file + 1}`);
      await machine.engine.flushTable("public", table);
    }
  }
  await machine.restart();
  return machine;
}

function namesOf(tables: readonly { readonly name: string }[]): readonly string[] {
  return tables.map(({ name }) => name);
}

const NAMED = "opens all files of small tables, the table with the newest first, and says once which tables are wholly open: %i shards";
test.each([1, 3])(NAMED, async (shards) => {
  const machine = await restarted(["one", "two"], 3, { shards });
  const regions = regionsOf(machine.engine, "one").length + regionsOf(machine.engine, "two").length;
  const { files, tables } = await machine.engine.openAhead(always);
  expect({ files, tables: namesOf(tables) }).toEqual({ files: 3 * regions, tables: ["two", "one"] });
  expect(await read(machine.engine, "one")).toHaveLength(6);
  await machine.engine.close();
});

test("reads the numbers of the newest files, as far as half of the cache goes, and a query reads them no more", async () => {
  const machine = await Machine.start();
  const lines = Array.from({ length: 20_000 }, (_, i) => `cpu,host=h${i % 20} i=${i}i,f=${i}.5,text="t",b=true ${i + 1}`);
  await put(machine.engine, lines.join("\n"), ONE_REGION);
  await machine.engine.flushTable("public", "cpu");
  await machine.restart();
  const { pages } = await machine.engine.openAhead(always);
  expect(pages).toBe(6); // Two of times, integers and doubles each.
  const metrics = newScanMetrics();
  expect(await read(machine.engine, "cpu", { projection: ["i", "f"] }, metrics)).toHaveLength(20_000);
  expect(metrics.pagesRead).toBe(0);
  await machine.engine.close();
});

test("reads numbers until half of the cache is taken", async () => {
  const machine = await Machine.start();
  const lines = Array.from({ length: 40_000 }, (_, i) => `cpu,host=h${i % 20} i=${i}i,f=${i}.5 ${i + 1}`);
  await put(machine.engine, lines.join("\n"), ONE_REGION);
  await machine.engine.flushTable("public", "cpu");
  await machine.restart();
  const { pages } = await machine.engine.openAhead(always);
  expect(pages).toBe(7); // Of 9: times and doubles are 128 KiB a page, of 1 MiB.
  await machine.engine.close();
});

test("opens no more than the newest files of all tables", async () => {
  const machine = await restarted(["one"], 260);
  const { files, tables } = await machine.engine.openAhead(always);
  expect({ files, tables }).toEqual({ files: 256, tables: [] });
  await machine.engine.close();
});

test("ends when somebody asks, at any time, and gives all files back", async () => {
  const machine = await restarted(["one"], 2);
  for (let turns = 0; turns < 8; turns++) {
    let left = turns;
    const { files, pages } = await machine.engine.openAhead(() => Promise.resolve(left-- > 0));
    expect(files).toBeLessThanOrEqual(2);
    expect(pages).toBeLessThanOrEqual(turns * 8);
  }
  await machine.engine.dropTable("public", "one", false);
  expect([...machine.files.keys()].filter((name) => name.endsWith(".parquet"))).toEqual([]);
  await machine.engine.close();
});

test("leaves files of very many series closed", async () => {
  const machine = await Machine.start();
  const lines = Array.from({ length: 30_000 }, (_, i) => `many,host=host-${i},zone=zone-${i % 977} v=1 1`);
  await put(machine.engine, lines.join("\n"), ONE_REGION);
  await machine.engine.flushTable("public", "many");
  await machine.restart();
  expect(await machine.engine.openAhead(always)).toEqual({ files: 0, tables: [], pages: 0 });
  expect(await read(machine.engine, "many", { projection: ["v"] })).toHaveLength(30_000);
  await machine.engine.close();
});

test.each([1, 3])("leaves a damaged file to the query that wants it, in %i shards", async (shards) => {
  const machine = await restarted(["one", "two"], 1, { shards });
  const name = [...machine.files.keys()].find((file) => file.endsWith(".parquet")) as string;
  const whole = machine.files.get(name) as Uint8Array;
  machine.files.set(
    name,
    whole.map((byte, i) => (i >= whole.length - 40 ? 0 : byte)),
  );
  const { files, tables } = await machine.engine.openAhead(always);
  expect({ files, tables: namesOf(tables) }).toEqual({ files: machine.files.size - 1, tables: ["two"] });
  expect(read(machine.engine, "one")).rejects.toThrow(name);
  machine.files.set(name, whole); // Put back from a backup.
  expect(await read(machine.engine, "one")).toHaveLength(2);
  await machine.engine.close();
});
