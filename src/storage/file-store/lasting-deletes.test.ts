import { expect, test } from "bun:test";
import { faultyFileStore } from "../../../test/support/faulty-file-store.ts";
import { lastingDeletes } from "./lasting-deletes.ts";
import { memoryFileStore } from "./memory-file-store.ts";

const WHY = "EIO: i/o error";

function make() {
  const files = new Map([
    ["t/1", new Uint8Array(1)],
    ["t/2", new Uint8Array(1)],
    ["u/1", new Uint8Array(1)],
  ]);
  const faulty = faultyFileStore(memoryFileStore(files));
  const reasons: string[] = [];
  return { files, faults: faulty.faults, reasons, ...lastingDeletes(faulty, (reason) => reasons.push(reason)) };
}

test("a deletion that works is nothing to remember", async () => {
  const { store, files, leftovers, reasons } = make();
  await store.delete("t/1");
  await store.deleteFolder("u");
  expect([[...files.keys()], leftovers.count, reasons]).toEqual([["t/2"], 0, []]);
  expect(await leftovers.retry()).toBeUndefined();
});

test("one that fails does not reject, and is done later", async () => {
  const { store, files, leftovers, reasons, faults } = make();
  faults.fail("delete", { why: WHY, times: Number.POSITIVE_INFINITY });
  faults.fail("deleteFolder", { why: WHY });
  await store.delete("t/1");
  await store.delete("t/1");
  await store.deleteFolder("u");
  expect(reasons).toEqual([`cannot delete file t/1: ${WHY}`, `cannot delete file t/1: ${WHY}`, `cannot delete folder u: ${WHY}`]);
  expect(leftovers.count).toBe(2);
  expect(await leftovers.retry()).toBe(`cannot delete file t/1: ${WHY}`);
  faults.heal();
  expect(await leftovers.retry()).toBeUndefined();
  expect([[...files.keys()], leftovers.count]).toEqual([["t/2"], 0]);
});

test("a retry stops at the first failure: the disk is asked once", async () => {
  const { store, leftovers, faults } = make();
  faults.fail("delete", { why: WHY, times: Number.POSITIVE_INFINITY });
  await store.delete("t/1");
  await store.delete("t/2");
  const before = faults.count("delete");
  await leftovers.retry();
  expect(faults.count("delete") - before).toBe(1);
});
