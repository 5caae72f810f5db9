import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fixedClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { Troubles } from "../../base/process/troubles.ts";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { PlaceWatch } from "./place-watch.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "varve-places-"));
  writeFileSync(join(home, "meta.db"), "x");
  mkdirSync(join(home, "wal"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function places(): { what: string; path: string }[] {
  return [
    { what: "the meta store", path: join(home, "meta.db") },
    { what: "the log directory", path: join(home, "wal") },
  ];
}

test.each([
  ["meta.db", "the meta store"],
  ["wal", "the log directory"],
])("%s that is moved away is said to be, until it is back", async (name, what) => {
  const troubles = new Troubles(silentLogger, fixedClock(0n));
  const watch = new PlaceWatch(places(), troubles);
  watch.begin();
  await watch.look();
  expect([watch.refusal, troubles.list()]).toEqual([undefined, []]);
  const path = join(home, name);
  renameSync(path, `${path}.away`);
  await watch.look();
  expect(watch.refusal).toBe(
    `${what} ${path}: it was deleted or moved away while the server runs; ` +
      "put it back, or restart the server, which goes on with what is there then",
  );
  expect(troubles.list()).toMatchObject([{ part: "data_directory", reason: watch.refusal }]);
  renameSync(`${path}.away`, path);
  await watch.look();
  expect([watch.refusal, troubles.list()]).toEqual([undefined, []]);
});

test("another file under the name is not the one that is open", async () => {
  const watch = new PlaceWatch(places(), new Troubles(silentLogger, fixedClock(0n)));
  watch.begin();
  writeFileSync(join(home, "copy"), "x");
  renameSync(join(home, "copy"), join(home, "meta.db"));
  await watch.look();
  expect(watch.refusal).toContain("another was put in its place while the server runs");
});

test("while a place is lost neither this thread nor others take writes or deletes; reads go on", async () => {
  const machine = await Machine.start({ threads: 1, places: places() });
  await put(machine.engine, "cpu,host=a v=1i 1");
  await put(machine.writer(1), "cpu,host=b v=2i 2");
  const path = join(home, "meta.db");
  renameSync(path, `${path}.away`);
  await machine.engine.keepUp();
  const lost = `cannot write: the meta store ${path}: it was deleted or moved away while the server runs`;
  while (machine.engine.failure() === undefined) await Bun.sleep(1);
  for (const write of [machine.engine.admit(), put(machine.engine, "cpu,host=a v=3i 3"), machine.threads[0]?.admit()]) {
    expect(await refusal(Promise.resolve(write))).toMatchObject({ code: "StorageUnavailable", message: expect.stringContaining(lost) });
  }
  const keys = {
    rowCount: 1,
    series: Uint32Array.of(0),
    times: { kind: "time" as const, base: 1n, offsets: Float64Array.of(0), validity: undefined },
  };
  expect((await refusal(machine.engine.table("public", "cpu")?.deleteRows?.(keys) ?? Promise.resolve())).message).toContain(
    "cannot delete: the meta",
  );
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2"]);
  expect(machine.engine.troubles().now.map(({ part }) => part)).toEqual(["data_directory"]);
  renameSync(`${path}.away`, path);
  await machine.engine.keepUp();
  while (machine.engine.failure() !== undefined) await Bun.sleep(1);
  await put(machine.engine, "cpu,host=a v=3i 3");
  await machine.engine.close();
});
