/** Commits that the meta store answers late, or never: what others do meanwhile, and what a start finds. */
import { expect, test } from "bun:test";
import { put as putOnce, read, refusal, type LineWriter } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { MemoryConditionalLog } from "../../../test/support/memory-conditional-log.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import { openOwnedMetaStore } from "../../storage/meta-store/owned-meta-store.ts";
import { decodedAndWritten } from "../../table/decoded-and-written.ts";
import { ALL_TIME } from "../../table/scan.ts";

const put = (engine: LineWriter, lines: string, options = {}): Promise<unknown> => decodedAndWritten(() => putOnce(engine, lines, options));

/** A machine over a log that loses answers. */
async function start(): Promise<{ readonly log: MemoryConditionalLog; readonly machine: Machine; readonly crash: () => Promise<void> }> {
  const log = new MemoryConditionalLog();
  let meta = await openOwnedMetaStore(log, "n");
  const machine = await Machine.start({ wrapMeta: () => meta });
  const crash = async (): Promise<void> => {
    meta = await openOwnedMetaStore(log, "n");
    await machine.crash();
  };
  return { log, machine, crash };
}

/** A store whose commits wait for `commit`, and whose `settled` waits for `settled`, while they are set. */
class HeldStore {
  commit: Promise<unknown> | undefined;
  settled: Promise<unknown> | undefined;
  commits = 0;

  over(meta: MetaStore): MetaStore {
    return {
      ...meta,
      commit: (changes) => {
        this.commits++;
        return this.commit === undefined ? meta.commit(changes) : this.commit.then(() => meta.commit(changes));
      },
      settled: async () => {
        await this.settled;
        await meta.settled();
      },
    };
  }

  async next(before: number): Promise<void> {
    while (this.commits === before) await Bun.sleep(1);
    await Bun.sleep(2);
  }
}

test("a truncation by range beside a flush that comes into the table: no file goes that has an entry", async () => {
  const held = new HeldStore();
  const machine = await Machine.start({ wrapMeta: (meta) => held.over(meta) });
  const { engine } = machine;
  await put(engine, "cpu,host=a v=1i 1");
  await engine.flushTable("public", "cpu");
  await put(engine, "cpu,host=a v=2i 2");
  const settled = Promise.withResolvers<void>();
  held.settled = settled.promise;
  const before = held.commits;
  const flush = engine.flushTable("public", "cpu");
  await held.next(before);
  const answer = Promise.withResolvers<void>();
  held.commit = answer.promise;
  const truncated = engine.truncateTable("public", "cpu", [ALL_TIME]);
  await held.next(before + 1);
  settled.resolve();
  await flush;
  held.commit = undefined;
  answer.resolve();
  await truncated;
  expect(machine.files.size).toBe(machine.meta.list("file/").length);
  expect(await read(engine, "cpu")).toEqual(["'a'|2|2"]);
});

test("a row that a thread acknowledged before a truncation goes with it, although a flush comes before the answer", async () => {
  const held = new HeldStore();
  const machine = await Machine.start({ wrapMeta: (meta) => held.over(meta), threads: 1 });
  const { engine } = machine;
  await put(engine, "cpu,host=a v=1i 1\nmem,host=a v=1i 1");
  const [thread] = machine.threads;
  await put(thread as LineWriter, "cpu,host=a v=2i 2");
  for (const table of ["cpu", "mem"]) await engine.flushTable("public", table);
  await Bun.sleep(5);
  await put(thread as LineWriter, "cpu,host=a v=3i 3"); // The owner is told a turn later.
  const answer = Promise.withResolvers<void>();
  held.commit = answer.promise;
  const truncated = engine.truncateTable("public", "cpu");
  const others = [put(engine, "mem,host=a v=2i 2"), engine.flushTable("public", "cpu")];
  await Bun.sleep(10);
  held.commit = undefined;
  answer.resolve();
  await Promise.all([truncated, ...others]);
  expect(await read(engine, "cpu")).toEqual([]);
});

test("tables whose making was not answered are not in the way of those that come next", async () => {
  const { log, machine, crash } = await start();
  log.fates = ["answer lost"];
  await refusal(put(machine.engine, "x,host=a greptime_value=1 1000000", { physicalTable: "p" }));
  await machine.engine.keepUp();
  await Bun.sleep(5);
  await put(machine.engine, "y,host=a v=1i 1");
  await crash();
  await put(machine.engine, "z,host=a v=7i 1");
  const ids = machine.engine.tables("public").map(({ schema }) => schema.id);
  expect(new Set(ids).size).toBe(ids.length);
  await crash();
  expect([await read(machine.engine, "y"), await read(machine.engine, "z")]).toEqual([["'a'|1|1"], ["'a'|7|1"]]);
});

test("rows that are truncated after a merge that was not answered stay away", async () => {
  const { log, machine, crash } = await start();
  for (const v of [1, 2]) {
    await put(machine.engine, `cpu,host=a v=${v}i ${v}`);
    await machine.engine.flushTable("public", "cpu");
  }
  log.fates = ["answer lost"];
  await refusal(machine.engine.compactTable("public", "cpu"));
  await machine.engine.truncateTable("public", "cpu");
  await crash();
  expect(await read(machine.engine, "cpu")).toEqual([]);
});

test("a table whose drop was not answered takes no rows until it is known whether it is there", async () => {
  const { log, machine, crash } = await start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await machine.engine.flushTable("public", "cpu");
  log.fates = ["answer lost"];
  await refusal(machine.engine.dropTable("public", "cpu", false));
  expect((await refusal(put(machine.engine, "cpu,host=a v=2i 2"))).message).toContain("has not answered a change of tables");
  await machine.engine.keepUp(); // It asks the store again.
  await Bun.sleep(5);
  await put(machine.engine, "cpu,host=a v=2i 2");
  await crash();
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'a'|2|2"]);
});

test("a flush that was not answered leaves no entry of a table that is dropped after it, and no memory", async () => {
  const { log, machine } = await start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  log.fates = ["answer lost"];
  await refusal(machine.engine.flushTable("public", "cpu"));
  await machine.engine.dropTable("public", "cpu", false);
  await put(machine.engine, "mem,host=a v=1i 1");
  expect((await openOwnedMetaStore(log, "other")).list("file/")).toEqual([]);
  expect(machine.files.size).toBe(0);
});
