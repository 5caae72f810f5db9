/** Engines that share a catalogue: schemas in one order, by one version; what storage keeps stays each one's. */
import { expect, test } from "bun:test";
import { put as putOnce, read } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { SharedCatalogue } from "../../../test/engine/shared-catalogue.ts";
import { errorOf } from "../../../test/support/failure-of.ts";
import { decodeWriteRecord } from "../../storage/memtable/write-record.ts";
import { fixedClock } from "../../base/clock.ts";
import { SHARDS_KEY } from "../../storage/meta-store/meta-store.ts";
import { decodedAndWritten } from "../../table/decoded-and-written.ts";
import type { TableDefinition } from "../../table/schema.ts";
import { CatalogPlans } from "../schema/catalog-plans.ts";
import { SchemaStore } from "../schema/schema-store.ts";
import type { Engine } from "../engine.ts";

const TIME = { name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false } as const;

function definition(name: string): TableDefinition {
  return { database: "public", name, columns: [TIME], primaryKey: [], engine: "mito", options: {} };
}

/** Writes, again where tables were made for it meanwhile, as those who take requests do. */
function put(engine: Engine, lines: string): Promise<unknown> {
  return decodedAndWritten(() => putOnce(engine, lines));
}

/** A catalogue of a number of shards, and a machine that has it. */
async function shared(shards = 1): Promise<{ catalogue: SharedCatalogue; start: () => Promise<Machine> }> {
  const catalogue = new SharedCatalogue();
  catalogue.take([{ key: SHARDS_KEY, value: shards }]);
  return { catalogue, start: () => Machine.start({ catalogue: () => catalogue.forOne(), shards }) };
}

/** A change as others make it. */
function create(catalogue: SharedCatalogue, made: TableDefinition): void {
  const plans = new CatalogPlans(new SchemaStore(catalogue.entries, catalogue.version), fixedClock(5_000_000n));
  catalogue.take(plans.steps([{ kind: "create", definition: made }]).changes);
}

function schemasOf({ engine }: Machine): unknown {
  return engine.databases().map(({ name }) => [name, engine.tables(name).map(({ schema }) => schema)]);
}

test("what one makes, changes or drops is in force in all, and no meta store has an entry of it", async () => {
  const { catalogue, start } = await shared(3);
  const [a, b] = await Promise.all([start(), start()]);
  await a.engine.createTable(definition("t"), false);
  expect(b.engine.table("public", "t")).toBeDefined();
  await put(b.engine, "cpu,host=x v=1i 1");
  await a.engine.alterTable("public", "cpu", { kind: "rename", name: "mem" });
  await put(a.engine, "mem,host=y w=1i 1\nmem,host=x v=2i 2");
  expect(schemasOf(a)).toEqual(schemasOf(b));
  expect(catalogue.version).toBe(5);
  await b.engine.dropTable("public", "t", false);
  expect(a.engine.table("public", "t")).toBeUndefined();
  const late = await start();
  expect(schemasOf(late)).toEqual(schemasOf(a));
  for (const { meta } of [a, b, late]) {
    for (const prefix of ["table/", "database/", "view/", "next/table", SHARDS_KEY]) expect(meta.list(prefix)).toEqual([]);
  }
  for (const machine of [a, b, late]) await machine.engine.close();
});

test("those who change it at once each make their change, ids are given once", async () => {
  const { start } = await shared();
  const machines = await Promise.all([start(), start(), start()]);
  await Promise.all(
    machines.flatMap((m, i) => [m.engine.createTable(definition(`t${i}`), false), put(m.engine, `cpu,k${i}=a v${i}=1i 1`)]),
  );
  for (const machine of machines) expect(schemasOf(machine)).toEqual(schemasOf(machines[0] as Machine));
  const ids = machines[0]?.engine.tables("public").map(({ schema }) => schema.id) ?? [];
  expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
  const refused = await errorOf((machines[1] as Machine).engine.createTable(definition("t0"), false));
  expect(String(refused)).toContain("Table already exists");
  for (const machine of machines) await machine.engine.close();
});

test("records name its version, also after a start", async () => {
  const { catalogue, start } = await shared();
  const machine = await start();
  const versions = async (): Promise<number[]> => {
    const found: number[] = [];
    await machine.wal
      .crash()
      .recover(({ sequence, payload }) => void found.push(decodeWriteRecord(sequence, payload).origin?.catalogVersion ?? -1));
    return found;
  };
  await put(machine.engine, "cpu,host=a v=1i 1"); // Makes the table: version 2.
  create(catalogue, definition("theirs"));
  await put(machine.engine, "cpu,host=a v=2i 2");
  expect(await versions()).toEqual([2, 3]);
  await machine.crash();
  await put(machine.engine, "cpu,host=a v=3i 3");
  expect((await versions()).at(-1)).toBe(3);
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'a'|2|2", "'a'|3|3"]);
  await machine.engine.close();
});

test("a change that comes while an engine opens is in force when it is open", async () => {
  const { catalogue, start } = await shared();
  create(catalogue, definition("before"));
  const opening = start();
  create(catalogue, definition("meanwhile"));
  const machine = await opening;
  expect(machine.engine.tables("public").map(({ schema }) => schema.name)).toEqual(["before", "meanwhile"]);
  await machine.engine.close();
});

test("a start leaves tables alone that others fill; they are dropped when they are old", async () => {
  const { catalogue, start } = await shared();
  create(catalogue, { ...definition("half"), isUnfinished: true });
  const machine = await start();
  await machine.engine.dropUnfinished(5);
  expect(machine.engine.table("public", "half")).toBeDefined();
  await machine.engine.dropUnfinished(6);
  expect(machine.engine.table("public", "half")).toBeUndefined();
  await machine.engine.close();
});

test("the number of shards is the catalogue's", async () => {
  const catalogue = new SharedCatalogue();
  catalogue.take([{ key: SHARDS_KEY, value: 4 }]);
  const refused = await errorOf(Machine.start({ catalogue: () => catalogue.forOne(), shards: 2 }));
  expect(String(refused)).toContain("4 shards");
});
