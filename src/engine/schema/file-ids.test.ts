import { expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { Commits } from "./commits.ts";
import { FileIds } from "./file-ids.ts";

function idsOf(meta: MetaStore): FileIds {
  return new FileIds(meta, new Commits(meta, () => undefined));
}

test("ids of files are not given out twice, whatever is given back, fails or starts again", async () => {
  const inner = memoryMetaStore();
  let isFailing = false;
  const meta: MetaStore = {
    ...inner,
    commit(changes) {
      if (isFailing) throw new DbError(StatusCode.StorageUnavailable, "disk is full");
      inner.commit(changes);
    },
  };
  const ids = idsOf(meta);
  expect(await ids.take(10)).toBe(1);
  ids.giveBack(4, 11);
  expect(await ids.take(10)).toBe(4);
  isFailing = true;
  expect((await failureOf(ids.take(5000))).message).toBe("disk is full");
  isFailing = false;
  expect(await ids.take(5000)).toBe(14);
  const next = await idsOf(meta).take(1);
  expect(next).toBeGreaterThanOrEqual(5014);
  expect(await idsOf(meta).take(1)).toBeGreaterThan(next);
  expect(() => ids.giveBack(1e9, 1e9)).toThrow("ids below");
});

test("those who ask while ids are being taken get different ones, with one commit where that is enough", async () => {
  const inner = memoryMetaStore();
  let commits = 0;
  const meta: MetaStore = {
    ...inner,
    async commit(changes) {
      commits++;
      await Bun.sleep(1);
      inner.commit(changes);
    },
  };
  const ids = idsOf(meta);
  expect(await Promise.all([ids.take(10), ids.take(20), ids.take(1)])).toEqual([1, 11, 31]);
  expect(commits).toBe(1);
  const wide = await Promise.all([ids.take(2000), ids.take(3000)]);
  expect([wide, commits]).toEqual([[32, 2032], 3]);
});
