/** An owner that dies at any step of what it does: the next one finds each row once, and no file that nobody names. */
import { afterEach, expect, test } from "bun:test";
import { rowsOf, ShardRig } from "../../../test/support/cluster/shard-rig.ts";
import { type FailPointName, FAIL_POINTS } from "../../base/process/fail-point-names.ts";
import { watchFailPoints } from "../../base/process/fail-point.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { ShardHost } from "./shard-host.ts";

afterEach(() => watchFailPoints(null));

const FOUR: readonly string[] = ["a 1 1", "a 2 2", "a 3 3", "a 4 4"];

/** A store that its process does not reach any more once it is dead. */
function mortal(store: FileStore, life: { isDead: boolean }): FileStore {
  const alive = (): void => {
    if (life.isDead) throw new DbError(StatusCode.StorageUnavailable, "the process is dead");
  };
  return {
    ...store,
    create: async (name) => {
      alive();
      const writer = await store.create(name);
      return {
        ...writer,
        finish: async () => {
          alive();
          return writer.finish();
        },
      };
    },
    delete: async (name) => {
      alive();
      await store.delete(name);
    },
    deleteFolder: async (folder) => {
      alive();
      await store.deleteFolder(folder);
    },
  };
}

/** Tables that keep every row. */
interface Tables {
  readonly cpu: TableSchema;
  readonly mem: TableSchema;
}

/** What an owner does, and the fail points that it passes. */
async function work(host: ShardHost, rig: ShardRig, { cpu, mem }: Tables): Promise<void> {
  const { engine } = host;
  await engine.flushTable("public", "cpu");
  const writer = rig.writer(1);
  await writer.write([mem, [{ tag: "b", time: 1, value: 1 }]], [cpu, [{ tag: "a", time: 5, value: 5 }]]);
  await host.reach(writer.acknowledged);
  await engine.flushTable("public", "cpu");
  await engine.compactTable("public", "cpu");
  await engine.truncateTable("public", "mem");
  await writer.write([mem, [{ tag: "b", time: 2, value: 2 }]]);
  await host.reach(writer.acknowledged);
  await engine.flushTable("public", "mem");
  await host.close(true);
}

/** @param at the point at which it dies, and the how manieth time; undefined: it does not. Returns the points that it passed */
async function life(at: { readonly name: FailPointName; readonly hit: number } | undefined): Promise<Map<FailPointName, number>> {
  const rig = await ShardRig.start();
  const cpu = await rig.table("cpu", { append_mode: "true" });
  const mem = await rig.table("mem", { append_mode: "true" });
  const process = { isDead: false };
  const node = await rig.node("a", { snapshotMessages: 1, wrapFiles: (store) => mortal(store, process) });
  const writer = rig.writer(1);
  for (let time = 1; time <= 3; time++) await writer.write([cpu, [{ tag: "a", time, value: time }]]);
  writer.records.segment++;
  await writer.write([cpu, [{ tag: "a", time: 4, value: 4 }]], [mem, [{ tag: "a", time: 4, value: 4 }]]);
  const { host } = await node.open(1);
  const passed = new Map<FailPointName, number>();
  watchFailPoints((name) => {
    const hit = (passed.get(name) ?? 0) + 1;
    passed.set(name, hit);
    if (process.isDead || at?.name !== name || at.hit !== hit) return;
    process.isDead = true;
    void node.port.close();
    throw new DbError(StatusCode.StorageUnavailable, `dead at ${name}`);
  });
  await Promise.allSettled([work(host, rig, { cpu, mem })]);
  watchFailPoints(null);
  await node.kill();
  await checked(rig, { cpu, mem });
  await rig.close();
  return passed;
}

async function checked(rig: ShardRig, { cpu, mem }: Tables): Promise<void> {
  const { host } = await (await rig.node("b")).open(1);
  const all = await rowsOf(host.table(cpu.id));
  expect([FOUR, [...FOUR, "a 5 5"]]).toContainEqual(all);
  const rows = await rowsOf(host.table(mem.id));
  // Truncated, and written again: or dead before the one or the other.
  expect([["a 4 4"], ["a 4 4", "b 1 1"], [], ["b 2 2"]]).toContainEqual(rows);
  expect(all.length === 5).toBe(!(rows.length === 1 && rows[0] === "a 4 4"));
  const named = new Set([cpu, mem].flatMap(({ id }) => host.engine.tableOfId(id)?.files() ?? []).map(({ name }) => name));
  expect(new Set(rig.files.keys())).toEqual(named);
  await host.engine.flushTable("public", "cpu");
  const next = await (await rig.node("c")).open(1);
  expect(await rowsOf(next.host.table(cpu.id))).toEqual(all);
  expect(await rowsOf(next.host.table(mem.id))).toEqual(rows);
}

const passed = await life(undefined);

test("all steps of flushes, merges and truncations are passed", () => {
  const missing = (Object.keys(FAIL_POINTS) as FailPointName[]).filter((name) => !passed.has(name));
  expect(missing.filter((name) => /^(?:flush|compact|truncate)\./.test(name))).toEqual(["flush.before-discard", "compact.before-discard"]);
});

const cases = [...passed].flatMap(([name, hits]) => Array.from({ length: hits }, (_, i) => [name, i + 1] as const));

test.each(cases)("%s, time %i", async (name, hit) => {
  await life({ name, hit });
});
