/** Workers open data files by their paths: a store whose files come and go keeps them until a scan is released. */
import { afterEach, expect, test } from "bun:test";
import { ThreadedEngine } from "../../../test/support/threaded-engine.ts";
import type { NamedFile } from "../../storage/file-store/file-store.ts";

const ROWS = 200;
let threads: ThreadedEngine;
afterEach(() => threads.close());

/** Rows in files of a store that holds them while it has room. */
async function start(): Promise<{ readonly held: string[]; now: number; hasRoom: boolean }> {
  const state = { held: [] as string[], now: 0, hasRoom: true };
  const hold = async (files: readonly NamedFile[]): Promise<{ release(): void } | undefined> => {
    if (!state.hasRoom) return undefined;
    state.held.push(...files.map(({ name }) => name));
    state.now++;
    return { release: () => void state.now-- };
  };
  threads = await ThreadedEngine.start({}, { wrapFiles: (files) => ({ ...files, hold }) });
  await threads.engine.sql("CREATE TABLE t (host STRING PRIMARY KEY, v BIGINT, ts TIMESTAMP(3) TIME INDEX)");
  await threads.engine.sql(`INSERT INTO t VALUES ${Array.from({ length: ROWS }, (_, i) => `('h${i % 9}', ${i}, ${i})`).join(", ")}`);
  await threads.engine.sql("ADMIN flush_table('t')");
  return state;
}

test("files are held while workers read parts, and let go after", async () => {
  const state = await start();
  expect(await threads.pullsOf("SELECT host, sum(v) FROM t WHERE v >= 0 GROUP BY host")).toBeGreaterThan(0);
  expect(state.held[0]).toMatch(/^tables\/.*\.parquet$/);
  expect(state.now).toBe(0);
});

test("where the store has no room the thread that asks reads them alone", async () => {
  const state = await start();
  expect(await threads.pullsOf("SELECT sum(v) FROM t WHERE v >= 0")).toBeGreaterThan(0);
  const before = state.held.length;
  state.hasRoom = false;
  expect(await threads.pullsOf("SELECT host, max(v) FROM t WHERE v >= 0 GROUP BY host")).toBe(0);
  expect([before > 0, state.held.length, state.now]).toEqual([true, before, 0]);
});
