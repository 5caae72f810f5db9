import { expect, test } from "bun:test";
import { fixedClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { ServerMemory } from "../../base/memory/server-memory.ts";
import { Troubles } from "../../base/process/troubles.ts";
import { DiskWatch } from "./disk-watch.ts";
import { PlaceWatch } from "./place-watch.ts";
import { Upkeep, type UpkeepParts } from "./upkeep.ts";

function make(changes: Partial<UpkeepParts> = {}) {
  const troubles = new Troubles(silentLogger, fixedClock(0n));
  const calls: string[] = [];
  let looks = 0;
  const disk = new DiskWatch({ paths: ["/"], freeBytesMin: 1, freeBytesOf: async () => ++looks }, troubles);
  const parts: UpkeepParts = {
    keepSeries: async () => undefined,
    disk,
    memory: new ServerMemory(Number.POSITIVE_INFINITY),
    troubles,
    leftovers: {
      count: 0,
      retry: async () => {
        calls.push("delete");
        return calls.length < 3 ? "EIO" : undefined;
      },
    },
    logger: silentLogger,
    onLooked: () => undefined,
    places: new PlaceWatch([], troubles),
    secureMeta: () => undefined,
    trimLog: async () => void calls.push("trim"),
    mayTrimLog: () => false,
    probeMeta: async () => void calls.push("probe"),
    lookAtFiles: async () => void calls.push("files"),
    ...changes,
  };
  const upkeep = new Upkeep(parts, 5);
  return { upkeep, troubles, calls, looks: () => looks };
}

test("looks at the disk each second, again and again, also when nothing else is to be done", async () => {
  const { upkeep, looks, calls } = make();
  upkeep.start();
  while (looks() < 3) await Bun.sleep(5);
  await upkeep.close();
  expect(calls).toEqual([]);
});

test("tries what failed, and only that, in the first round and in each fifth", async () => {
  const { upkeep, troubles, calls } = make();
  troubles.failed("file_delete", "EIO");
  for (let i = 0; i < 11; i++) await upkeep.tick();
  expect(calls).toEqual(["delete", "delete", "delete"]);
  expect(troubles.has("file_delete")).toBe(false);
  troubles.failed("metadata", "full");
  troubles.failed("log_trim", "EIO");
  troubles.failed("data_files", "gone");
  for (let i = 0; i < 5; i++) await upkeep.tick();
  expect(calls.slice(3)).toEqual(["probe", "trim", "files"]);
});

test("trims a log that takes no records in each round, until it does", async () => {
  let mayTrimLog = true;
  const { upkeep, calls } = make({ mayTrimLog: () => mayTrimLog });
  for (let i = 0; i < 3; i++) await upkeep.tick();
  mayTrimLog = false;
  await upkeep.tick();
  expect(calls).toEqual(["trim", "trim", "trim"]);
});

test("a round that fails does not end the rounds", async () => {
  let tries = 0;
  const { upkeep, troubles } = make({
    lookAtFiles: () => {
      tries++;
      throw new Error("EIO");
    },
  });
  troubles.failed("data_files", "gone");
  for (let i = 0; i < 6; i++) await upkeep.tick();
  expect(tries).toBe(2);
});
