/** An engine whose meta store another owner has taken over: it stops, and leaves everything to the other. */
import { expect, test } from "bun:test";
import { MemoryConditionalLog } from "../../../test/support/memory-conditional-log.ts";
import { EVERYTHING, put as putOnce, read, refusal, type LineWriter } from "../../../test/engine/lines.ts";
import { Machine, type MachineOptions } from "../../../test/engine/machine.ts";
import { decodedAndWritten } from "../../table/decoded-and-written.ts";
import { openOwnedMetaStore, type OwnedMetaStore } from "../../storage/meta-store/owned-meta-store.ts";

const WHY = "the meta store is not that of node-1 (epoch 1) any more: node-2 has it since epoch 2";

/** A table that is missing is made later: then the lines are sent again. */
function put(engine: LineWriter, lines: string): Promise<unknown> {
  return decodedAndWritten(() => putOnce(engine, lines));
}

interface Rig {
  readonly machine: Machine;
  readonly log: MemoryConditionalLog;
  /** What the engine was told. */
  readonly told: readonly string[];
  /** Another owner takes the store over. */
  steal(): Promise<void>;
  /** The engine is closed, and one of the other owner opened on what is there. */
  handOver(): Promise<void>;
}

async function start(options: MachineOptions = {}): Promise<Rig> {
  const log = new MemoryConditionalLog();
  const told: string[] = [];
  let meta: OwnedMetaStore = await openOwnedMetaStore(log, "node-1");
  let next: OwnedMetaStore | undefined;
  const machine = await Machine.start({ ...options, wrapMeta: () => meta, onFenced: ({ message }) => told.push(message) });
  const steal = async (): Promise<void> => {
    next = await openOwnedMetaStore(log, "node-2");
  };
  const handOver = async (): Promise<void> => {
    await machine.engine.close();
    meta = next as OwnedMetaStore;
    await machine.crash();
  };
  return { machine, log, told, steal, handOver };
}

/** Two files and a row in memory. */
async function someRows({ machine: { engine } }: Rig): Promise<string[]> {
  for (const v of [1, 2]) {
    await put(engine, `cpu,host=a v=${v}i ${v}`);
    await engine.flushTable("public", "cpu");
  }
  await put(engine, "cpu,host=a v=3i 3");
  return ["'a'|1|1", "'a'|2|2", "'a'|3|3"];
}

const CHANGES: readonly (readonly [what: string, change: (machine: Machine) => Promise<unknown>])[] = [
  ["a flush", ({ engine }) => engine.flushTable("public", "cpu")],
  ["a merge", ({ engine }) => engine.compactTable("public", "cpu")],
  ["a truncation", ({ engine }) => engine.truncateTable("public", "cpu")],
  ["a drop", ({ engine }) => engine.dropTable("public", "cpu", false)],
  ["a new table", ({ engine }) => put(engine, "mem,host=a v=1i 1")],
];

test.each(CHANGES)("%s is refused, nothing is deleted, and the other owner finds every row", async (_, change) => {
  const rig = await start();
  const rows = await someRows(rig);
  const before = [...rig.machine.files.keys()];
  await rig.steal();
  expect((await refusal(change(rig.machine))).message).toContain(WHY);
  expect(rig.told).toEqual([WHY]);
  // What is there can still be read; nothing is written, committed or deleted any more.
  expect(await read(rig.machine.engine, "cpu")).toEqual(rows);
  expect((await refusal(put(rig.machine.engine, "cpu,host=b v=4i 4"))).message).toBe(`cannot write: ${WHY}`);
  expect(rig.machine.engine.troubles().now.map(({ part, reason }) => `${part}: ${reason}`)).toContain(`metadata: ${WHY}`);
  for (const [, other] of CHANGES) await refusal(other(rig.machine));
  expect([...rig.machine.files.keys()]).toEqual(expect.arrayContaining(before));
  const flushes = rig.machine.flushCount;
  await rig.handOver();
  expect(rig.machine.flushCount).toBe(flushes); // Closing flushed nothing.
  expect(await read(rig.machine.engine, "cpu")).toEqual(rows);
  await put(rig.machine.engine, "cpu,host=b v=4i 4");
  await rig.machine.engine.compactTable("public", "cpu");
  expect(await read(rig.machine.engine, "cpu")).toEqual([...rows, "'b'|4|4"]);
  expect(rig.told).toEqual([WHY]);
});

test("files that merges replaced stay, where their last reader ends after it", async () => {
  const rig = await start();
  const rows = await someRows(rig);
  const region = rig.machine.engine.table("public", "cpu");
  const scan = region?.scan({ ...EVERYTHING, projection: ["v"] }) as AsyncIterable<unknown>;
  const reader = scan[Symbol.asyncIterator]();
  await reader.next();
  await rig.machine.engine.compactTable("public", "cpu");
  expect(rig.machine.files.size).toBe(3);
  await rig.steal();
  await refusal(rig.machine.engine.flushTable("public", "cpu"));
  await reader.return?.();
  await rig.machine.engine.close();
  expect(rig.machine.files.size).toBe(4); // And the one of the flush.
  await rig.handOver();
  expect(await read(rig.machine.engine, "cpu")).toEqual(rows);
});

test("who waits for its turn when the refusal comes is refused as well", async () => {
  const rig = await start();
  const rows = await someRows(rig);
  await rig.steal();
  const held = Promise.withResolvers<void>();
  rig.log.held = held.promise;
  const made = CHANGES.map(([, change]) => refusal(change(rig.machine)));
  await Bun.sleep(5);
  await put(rig.machine.engine, "cpu,host=c v=5i 5"); // Not yet known: it is in the log.
  held.resolve();
  for (const { message } of await Promise.all(made)) expect(message).toContain(WHY);
  rig.log.held = undefined;
  await rig.handOver();
  expect(await read(rig.machine.engine, "cpu")).toEqual([...rows, "'c'|5|5"]);
});
