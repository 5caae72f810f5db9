import { describe, expect, test } from "bun:test";
import { FIELDS } from "../../../../test/support/storage/arbitrary-rows.ts";
import { jobOf, readFileRows, registryOf, TIME_ID, tableOf, wantedRows } from "../../../../test/support/storage/table.ts";
import { PageCache } from "../../cache/page-cache.ts";
import { memoryFileStore } from "../../file-store/memory-file-store.ts";
import type { DataFile } from "../data-file.ts";
import { flushChunks } from "../write/flush.ts";
import type { OpenSst } from "./open-sst.ts";
import { SstFile } from "./sst-file.ts";

const ROWS = 12_000;
const PAGE_BYTES = ROWS * Float64Array.BYTES_PER_ELEMENT;
const schema = tableOf("millisecond", "last_row");
/** Three series with the same times, and one, last by its tags, a millisecond later: a page each. */
const requests = [
  {
    rows: Array.from({ length: 4 * ROWS }, (_, i) => ({
      series: i % 4,
      time: BigInt((i >> 2) * 1000 + (i % 4 === 0 ? 1 : 0)),
      values: [i % 7],
    })),
    columnIds: [FIELDS[0]!.id],
  },
];
const files = new Map<string, Uint8Array>();
const [meta] = (await flushChunks(jobOf(schema, requests, 9), memoryFileStore(files))) as [DataFile];

/** The pages of times, and how many different arrays they are. */
async function timePages(open: OpenSst): Promise<[pages: number, arrays: number]> {
  const pages = [];
  for (let page = 0; page + 1 < open.pageStarts.length; page++) pages.push(await open.page(open.columnOf(TIME_ID), page, undefined));
  return [pages.length, new Set(pages).size];
}

describe("pages of times with the same bytes", () => {
  test("share one array, other times have their own", async () => {
    const cache = new PageCache(1 << 24);
    const open = await new SstFile(meta, memoryFileStore(files)).open(registryOf(), cache);
    const before = cache.bytes;
    expect(await timePages(open)).toEqual([4, 2]);
    expect(await timePages(open)).toEqual([4, 2]);
    expect(cache.bytes - before).toBe(2 * PAGE_BYTES + 2 * (PAGE_BYTES / 8));
  });

  test("are read as the times that they are", async () => {
    expect(await readFileRows(meta, memoryFileStore(files), schema)).toEqual(wantedRows(requests, "last_row"));
  });

  test("are decoded again when the cache has dropped them", async () => {
    const open = await new SstFile(meta, memoryFileStore(files)).open(registryOf(), new PageCache(0));
    expect(await timePages(open)).toEqual([4, 4]);
  });
});
