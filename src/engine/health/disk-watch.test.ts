import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { Troubles } from "../../base/process/troubles.ts";
import { DiskWatch, type DiskWatchOptions, systemFreeBytes } from "./disk-watch.ts";

const MIB = 1024 * 1024;

function make(options: Partial<DiskWatchOptions> = {}) {
  const free = new Map([
    ["/data", 500 * MIB],
    ["/wal", 400 * MIB],
  ]);
  const troubles = new Troubles(silentLogger, systemClock);
  const disk = new DiskWatch(
    { paths: ["/data", "/wal"], freeBytesMin: 100 * MIB, freeBytesOf: async (path) => free.get(path) ?? 0, ...options },
    troubles,
  );
  return { disk, free, troubles };
}

test("room on all disks: nothing is refused, and the least of them counts", async () => {
  const { disk, troubles } = make();
  expect(disk.refusal).toBeUndefined();
  await disk.look();
  expect([disk.refusal, disk.freeBytes, troubles.list()]).toEqual([undefined, 400 * MIB, []]);
});

test("below the reserve writes are refused with the folder, the figures and what to do; they go on a quarter above it", async () => {
  const { disk, free, troubles } = make();
  free.set("/wal", 99 * MIB);
  await disk.look();
  expect(disk.refusal).toBe(
    "the disk of /wal has 99 MiB left, and 100 MiB are kept free (storage.free_space_min); " +
      "make room: drop or truncate tables, shorten their ttl, or delete other files",
  );
  expect(troubles.list().map(({ part }) => part)).toEqual(["disk_space"]);
  free.set("/wal", 124 * MIB);
  await disk.look();
  expect(disk.refusal).toContain("124 MiB left");
  free.set("/wal", 125 * MIB);
  await disk.look();
  expect([disk.refusal, troubles.list()]).toEqual([undefined, []]);
  free.set("/wal", 100 * MIB);
  await disk.look();
  expect(disk.refusal).toBeUndefined();
});

test("a large file may take half of the reserve, not more", async () => {
  const { disk, free } = make();
  free.set("/wal", 250 * MIB);
  await disk.look();
  expect([disk.hasRoomFor(200 * MIB), disk.hasRoomFor(200 * MIB + 1)]).toEqual([true, false]);
});

test("a reserve of zero watches nothing", async () => {
  let asked = 0;
  const { disk } = make({ freeBytesMin: 0, freeBytesOf: async () => asked++ });
  await disk.look();
  expect([asked, disk.refusal, disk.hasRoomFor(1e15)]).toEqual([0, undefined, true]);
});

test("a look that hangs is not begun again, and one that fails changes nothing", async () => {
  const gate = Promise.withResolvers<number>();
  let asked = 0;
  const { disk } = make({
    freeBytesOf: () => {
      asked++;
      return gate.promise;
    },
  });
  const first = disk.look();
  await disk.look();
  expect(asked).toBe(1);
  gate.reject(new Error("ESTALE: stale file handle"));
  await first;
  expect(disk.refusal).toBeUndefined();
});

test("the system's answer is a number of bytes", async () => {
  expect(await systemFreeBytes(import.meta.dir)).toBeGreaterThan(0);
});
