import { expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import { FileIds } from "./file-ids.ts";

test("ids of files are not given out twice, whatever is given back, fails or starts again", () => {
  const inner = memoryMetaStore();
  let isFailing = false;
  const meta: MetaStore = {
    ...inner,
    commit(changes) {
      if (isFailing) throw new DbError(StatusCode.StorageUnavailable, "disk is full");
      inner.commit(changes);
    },
  };
  const ids = new FileIds(meta);
  expect(ids.take(10)).toBe(1);
  ids.giveBack(4, 11);
  expect(ids.take(10)).toBe(4);
  isFailing = true;
  expect(() => ids.take(5000)).toThrow("disk is full");
  isFailing = false;
  expect(ids.take(5000)).toBe(14);
  const next = new FileIds(meta).take(1);
  expect(next).toBeGreaterThanOrEqual(5014);
  expect(new FileIds(meta).take(1)).toBeGreaterThan(next);
  expect(() => ids.giveBack(1e9, 1e9)).toThrow("ids below");
});
