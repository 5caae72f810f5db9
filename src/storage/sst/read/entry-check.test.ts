import { expect, test } from "bun:test";
import { failureOf } from "../../../../test/support/failure-of.ts";
import { FIELDS } from "../../../../test/support/storage/arbitrary-rows.ts";
import { jobOf, registryOf, tableOf } from "../../../../test/support/storage/table.ts";
import { PageCache } from "../../cache/page-cache.ts";
import { memoryFileStore } from "../../file-store/memory-file-store.ts";
import type { DataFile } from "../data-file.ts";
import { flushChunks } from "../write/flush.ts";
import { SstFile } from "./sst-file.ts";

const VALUE = FIELDS[0]!.id;
const rows = Array.from({ length: 100 }, (_, i) => ({ series: i % 4, time: BigInt(i + 5), values: [i] }));
const files = new Map<string, Uint8Array>();
const [entry] = (await flushChunks(
  jobOf(tableOf("millisecond", "last_row"), [{ rows, columnIds: [VALUE] }], 9),
  memoryFileStore(files),
)) as [DataFile];

async function open(changes: Partial<DataFile>): Promise<unknown> {
  return new SstFile({ ...entry, ...changes }, memoryFileStore(files)).open(registryOf(), new PageCache(0));
}

test.each([
  [{ rowCount: 99 }, "99 rows, the file has 100"],
  [{ byteLength: entry.byteLength + 1 }, `${entry.byteLength + 1} bytes, the file has ${entry.byteLength}`],
  [{ sequence: entry.sequence + 4 }, `sequence ${entry.sequence + 4}, the file has ${entry.sequence}`],
  [{ minTime: 6n }, "times from 6 to 104, the file has 5 to 104"],
  [{ maxTime: 100n }, "times from 5 to 100, the file has 5 to 104"],
])("a file whose entry says %p is not read, and both are named", async (changes, text) => {
  expect((await failureOf(open(changes))).message).toContain(
    `cannot read data file ${entry.name}: its entry in the meta store says ${text}`,
  );
});

test("a file is read whose entry's times reach further, as those of tombstones do", async () => {
  await open({ minTime: 0n, maxTime: 1000n });
});
