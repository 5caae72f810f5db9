import { expect, test } from "bun:test";
import { put, read } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";

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

test("opens all files of small tables, the table with the newest first, and says which tables are wholly open", async () => {
  const machine = await restarted(["one", "two"], 3);
  const { files, tables } = await machine.engine.openAhead(always);
  expect({ files, tables: namesOf(tables) }).toEqual({ files: 6, tables: ["two", "one"] });
  expect(await read(machine.engine, "one")).toHaveLength(6);
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
    const { files } = await machine.engine.openAhead(() => Promise.resolve(left-- > 0));
    expect(files).toBeLessThanOrEqual(2);
  }
  await machine.engine.dropTable("public", "one", false);
  expect([...machine.files.keys()].filter((name) => name.endsWith(".parquet"))).toEqual([]);
  await machine.engine.close();
});

test("leaves files of very many series closed", async () => {
  const machine = await Machine.start();
  const lines = Array.from({ length: 30_000 }, (_, i) => `many,host=host-${i},zone=zone-${i % 977} v=1 1`);
  await put(machine.engine, lines.join("\n"));
  await machine.engine.flushTable("public", "many");
  await machine.restart();
  expect(await machine.engine.openAhead(always)).toEqual({ files: 0, tables: [] });
  expect(await read(machine.engine, "many", { projection: ["v"] })).toHaveLength(30_000);
  await machine.engine.close();
});

test("leaves a damaged file to the query that wants it", async () => {
  const machine = await restarted(["one", "two"], 1);
  const name = [...machine.files.keys()].find((file) => file.endsWith(".parquet")) as string;
  const whole = machine.files.get(name) as Uint8Array;
  machine.files.set(
    name,
    whole.map((byte, i) => (i >= whole.length - 40 ? 0 : byte)),
  );
  const { files, tables } = await machine.engine.openAhead(always);
  expect({ files, tables: namesOf(tables) }).toEqual({ files: 1, tables: ["two"] });
  expect(read(machine.engine, "one")).rejects.toThrow(name);
  machine.files.set(name, whole); // Put back from a backup.
  expect(await read(machine.engine, "one")).toHaveLength(2);
  await machine.engine.close();
});
