import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import {
  descriptorLimit,
  descriptorsForThread,
  descriptorsInUse,
  isOutOfDescriptors,
  openFilesMax,
  startThread,
  withDescriptor,
} from "./descriptors.ts";

function outOfDescriptors(): Error {
  return Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
}

test("descriptors are counted", () => {
  const before = descriptorsInUse() ?? 0;
  const opened = Array.from({ length: 10 }, () => openSync("/dev/null", "r"));
  expect((descriptorsInUse() ?? 0) - before).toBe(10);
  for (const fd of opened) closeSync(fd);
  expect(descriptorLimit()).toBeGreaterThan(before);
});

test("files that are kept open are a quarter of all descriptors at most, and some at least", () => {
  expect(openFilesMax(1)).toBe(8);
  expect(openFilesMax(Number.POSITIVE_INFINITY)).toBe(Math.floor(descriptorLimit() / 4));
});

test("an open waits for a descriptor; other failures are told at once", async () => {
  let tries = 0;
  const opened = await withDescriptor(() => {
    if (++tries < 3) throw outOfDescriptors();
    return 7;
  });
  expect([opened, tries]).toEqual([7, 3]);
  expect(withDescriptor(() => Promise.reject(new Error("ENOENT")))).rejects.toThrow("ENOENT");
  expect([isOutOfDescriptors(outOfDescriptors()), isOutOfDescriptors(new Error("EMFILE")), isOutOfDescriptors("EMFILE")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a thread is started once descriptors are free for it, and refused when none become free", async () => {
  const free = Math.max(16, Math.min(64, Math.floor(descriptorLimit() / 16)));
  const counts = [descriptorLimit(), descriptorLimit() - free + 1, descriptorLimit() - free, 0];
  await descriptorsForThread(() => counts.shift());
  expect(counts).toEqual([0]);
  expect(
    startThread(
      () => 7,
      () => undefined,
    ),
  ).toBe(7); // It cannot be told.
  expect(
    startThread(
      () => 7,
      () => descriptorLimit() - free,
    ),
  ).toBe(7);
  expect(() => startThread(() => 7, descriptorLimit)).toThrow(/cannot start a thread: \d+ descriptors are nearly all in use/);
});
