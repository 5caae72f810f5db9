import { waitsForFlush } from "../../../test/engine/admission.ts";
import { expect, test } from "bun:test";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";

const SLAB = 4 * 1024; // What the memtable of a table with few rows takes.

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(1);
}

test("writers wait while memory is full, and go on when a flush has made room", async () => {
  const machine = await Machine.start({ limits: { memtableBytes: SLAB, writeBufferBytes: SLAB + 1, stallMillis: 60_000 } });
  machine.holdFlush();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await put(machine.engine, "mem,host=a v=1i 1");
  for (let i = 0; i < 200; i++) await put(machine.engine, `cpu,host=a v=${i}i ${i}`); // Enough for the scheduler to count.
  await waitsForFlush(machine, machine.engine);
});

test("writers that waited in vain are told to come back, and why", async () => {
  const machine = await Machine.start({ limits: { memtableBytes: SLAB, writeBufferBytes: SLAB, stallMillis: 20 } });
  machine.flushFailure = "no space left";
  for (let i = 0; i < 3000; i++) await put(machine.engine, `cpu,host=h${i} v=${i}i ${i}`);
  const refused = await refusal(machine.engine.admit());
  expect(refused).toMatchObject({ code: "RateLimited", retryAfterSeconds: 1 });
  expect(refused.message).toMatch(/^cannot take the write: \d+ bytes are in memory, over the limit of 4096; .*; try again later$/);
  machine.flushFailure = undefined;
  expect((await read(machine.engine, "cpu")).length).toBe(3000);
});

test("a log that has grown too long is shortened by flushing the tables that hold its oldest segment", async () => {
  const machine = await Machine.start({ segmentBytes: 500, limits: { logBytesMax: 3000, memtableBytes: 1 << 20 } });
  await put(machine.engine, "rare,host=a v=1i 1");
  const lines = Array.from({ length: 1000 }, (_, i) => `cpu,host=h${i % 10} v=${i * 7919}i ${i}`).join("\n");
  for (let i = 0; i < 5; i++) await put(machine.engine, lines);
  const rare = machine.engine.table("public", "rare");
  await until(() => rare?.statistics().fileCount === 1);
  expect(rare?.statistics().memoryBytes).toBe(0);
  await until(() => machine.wal.segments().length <= 1);
  await machine.crash();
  expect(await read(machine.engine, "rare")).toEqual(["'a'|1|1"]);
});
