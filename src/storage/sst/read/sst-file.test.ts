import { describe, expect, test } from "bun:test";
import { errorOf, failureOf } from "../../../../test/support/failure-of.ts";
import { FIELDS } from "../../../../test/support/storage/arbitrary-rows.ts";
import { jobOf, readFileRows, registryOf, SERIES_TAGS, TIME_ID, tableOf, wantedRows } from "../../../../test/support/storage/table.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { newScanMetrics, type ScanMetrics } from "../../../table/scan.ts";
import { PageCache } from "../../cache/page-cache.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import type { LeafCondition } from "../../index/index-lookup.ts";
import { memoryFileStore } from "../../file-store/memory-file-store.ts";
import { SeriesRegistry } from "../../series/series-registry.ts";
import type { DataFile } from "../data-file.ts";
import { flushChunks } from "../write/flush.ts";
import type { OpenSst } from "./open-sst.ts";
import { SstFile } from "./sst-file.ts";

const schema = tableOf("millisecond", "last_row");
const VALUE = FIELDS[0]!.id;
const requests = [
  {
    rows: Array.from({ length: 20_000 }, (_, i) => ({
      series: i % 4,
      time: BigInt(i >> 2),
      values: [i % 4 === 3 ? undefined : ((i >> 2) / 100) | 0],
    })),
    columnIds: [VALUE],
  },
];
const files = new Map<string, Uint8Array>();
const [meta] = (await flushChunks(jobOf(schema, requests, 9), memoryFileStore(files))) as [DataFile];

/** The file's store, with calls counted and bytes that a test may change. */
function storeOf(change?: (bytes: Uint8Array) => Uint8Array): FileStore & { opens: number; closes: number; reads: number } {
  const bytes = files.get(meta.name)!;
  const inner = memoryFileStore(new Map([[meta.name, change === undefined ? bytes : change(bytes.slice())]]));
  const counted = {
    ...inner,
    opens: 0,
    closes: 0,
    reads: 0,
    async open(name: string) {
      counted.opens++;
      const reader = await inner.open(name);
      return {
        byteLength: reader.byteLength,
        read(offset: number, length: number) {
          counted.reads++;
          return reader.read(offset, length);
        },
        close: () => void counted.closes++,
      };
    },
  };
  return counted;
}

async function openFile(cache: PageCache = new PageCache(1 << 20)): Promise<OpenSst> {
  return new SstFile(meta, memoryFileStore(files)).open(registryOf(), cache);
}

function between(min: number | undefined, max: number | undefined): LeafCondition {
  return { kind: "range", column: "v", min, max };
}

function newMetrics(): ScanMetrics {
  return newScanMetrics();
}

describe("an open file", () => {
  test("gives back its rows", async () => {
    expect(await readFileRows(meta, memoryFileStore(files), schema)).toEqual(wantedRows(requests, "last_row"));
  });

  test("reads its footer once where its filter is asked first", async () => {
    const [alone, asked] = [storeOf(), storeOf()];
    await new SstFile(meta, alone).open(registryOf(), new PageCache(1 << 20));
    // NULL alone: the footer's counts answer, no filter is read.
    const wanted = [{ columnId: 999, hashes: [], orNull: true, orAbsent: true }];
    await new SstFile(meta, asked).openIfHolds(wanted, registryOf(), new PageCache(1 << 20));
    expect(asked.reads).toBe(alone.reads);
  });

  test("numbers its series as the table does, new ones after those", async () => {
    const registry = registryOf();
    registry.register(["someone else", undefined]);
    registry.register(SERIES_TAGS[1]!);
    const open = await new SstFile(meta, memoryFileStore(files)).open(registry, new PageCache(0));
    const numbers = SERIES_TAGS.slice(0, 4).map((tags) => registry.register(tags));
    expect(registry.count).toBe(5);
    expect(new Set(open.series)).toEqual(new Set(numbers));
    expect(numbers[1]).toBe(1);
  });

  test("is of a table that has got more tags since", async () => {
    const registry = new SeriesRegistry("t");
    registry.setColumns([
      { id: 77, name: "added" },
      { id: 2, name: "region" },
      { id: 1, name: "host" },
    ]);
    const open = await new SstFile(meta, memoryFileStore(files)).open(registry, new PageCache(0));
    expect([...open.series].map((series) => registry.dictionaryAt(0)[registry.codesAt(0)[series]!])).toEqual(new Array(4).fill(undefined));
    expect(registry.register([undefined, "eu", "host_2"])).toBeLessThan(4);
  });

  test("finds columns by id and pages by row", async () => {
    const open = await openFile();
    expect([open.columnOf(1), open.columnOf(TIME_ID), open.columnOf(VALUE), open.columnOf(999)]).toEqual([0, 2, 3, -1]);
    expect(open.pageStarts.length).toBeGreaterThan(2);
    for (let page = 0; page + 1 < open.pageStarts.length; page++) {
      expect(open.pageOf(open.pageStarts[page]!)).toBe(page);
      expect(open.pageOf(open.pageStarts[page + 1]! - 1)).toBe(page);
    }
  });

  test("decodes a page once while the cache keeps it", async () => {
    const metrics = newMetrics();
    const open = await openFile();
    const first = await open.page(3, 0, metrics);
    expect(await open.page(3, 0, metrics)).toBe(first);
    expect([metrics.pagesRead, metrics.bytesRead > 0]).toEqual([1, true]);
    const uncached = await openFile(new PageCache(0));
    await uncached.page(3, 0, metrics);
    await uncached.page(3, 0, metrics);
    expect(metrics.pagesRead).toBe(3);
  });

  test("never gets the page of another file, or of the same file opened before", async () => {
    const cache = new PageCache(1 << 24);
    const twin = { ...meta, id: meta.id + 2 ** 21 };
    const opens = await Promise.all([meta, twin, meta].map((each) => new SstFile(each, memoryFileStore(files)).open(registryOf(), cache)));
    const pages = await Promise.all(
      opens.flatMap((open) => [0, 1].flatMap((page) => [2, 3].map((column) => open.page(column, page, undefined)))),
    );
    expect(new Set(pages).size).toBe(12);
  });

  test("knows which pages cannot hold a value between bounds", async () => {
    const open = await openFile();
    const column = open.columnOf(VALUE);
    expect(open.pageMayMeet(column, 0, between(undefined, undefined))).toBe(true);
    expect(open.pageMayMeet(column, 0, between(50, undefined))).toBe(false);
    expect(open.pageMayMeet(column, 0, between(49, undefined))).toBe(true);
    expect(open.pageMayMeet(column, 0, between(undefined, -1))).toBe(false);
    expect(open.pageMayMeet(column, 0, between(undefined, 0))).toBe(true);
    expect(open.pageMayMeet(0, 0, between(1, 2))).toBe(true); // Text has no such bounds.
    expect(open.pageMayMeet(open.columnOf(FIELDS[2]!.id), 0, between(1, 2))).toBe(false); // All NULL.
  });
});

describe("a data file", () => {
  test("is opened once and closed by its last user", async () => {
    const store = storeOf();
    const file = new SstFile(meta, store);
    file.retain();
    const registry = registryOf();
    const [a, b] = await Promise.all([file.open(registry, new PageCache(0)), file.open(registry, new PageCache(0))]);
    expect(a).toBe(b);
    await file.release();
    expect([store.opens, store.closes]).toEqual([1, 0]);
    await file.release();
    expect([store.opens, store.closes]).toEqual([1, 1]);
    expect(() => file.retain()).toThrow("a file in use");
    expect(() => file.open(registryOf(), new PageCache(0))).toThrow("has users");
    expect((await errorOf(file.release())).message).toContain("has users");
    expect(await store.list("tables")).toEqual([meta.name]);
  });

  test("is opened anew for a later registry of its table, and stays open for those who have the earlier one", async () => {
    const file = new SstFile(meta, storeOf());
    const cache = new PageCache(1 << 20);
    const [earlier, later] = [registryOf(), registryOf()];
    later.register(Array.from({ length: later.columnCount }, () => "another")); // So that numbers differ.
    const before = await file.open(earlier, cache);
    const after = await file.open(later, cache);
    expect(after).not.toBe(before);
    expect(after.series[0]).toBe((before.series[0] as number) + 1);
    expect(await file.open(later, cache)).toBe(after);
    const again = await file.open(earlier, cache);
    expect([...again.series]).toEqual([...before.series]);
    expect(await file.open(earlier, cache)).toBe(again);
    await file.release();
  });

  test("is let go by a full cache, and opened again with its pages", async () => {
    const store = storeOf();
    const file = new SstFile(meta, store);
    const cache = new PageCache(1 << 20);
    const registry = registryOf();
    const first = await file.open(registry, cache);
    const page = await first.page(3, 0, undefined);
    expect([await file.open(registry, cache), cache.bytes > first.byteLength]).toEqual([first, true]);
    cache.hold(cache.takeKeys(1), 1 << 20, () => undefined);
    const metrics = newMetrics();
    const second = await file.open(registry, cache);
    expect([second === first, second.pageKeys === first.pageKeys, [...second.series]]).toEqual([false, true, [...first.series]]);
    expect(await second.page(3, 0, metrics)).toEqual(page);
    expect(await first.page(3, 1, metrics)).toEqual(await second.page(3, 1, metrics)); // A scan that has it goes on.
    await file.release();
    expect([store.opens, store.closes]).toEqual([1, 1]);
  });

  test("knows the run of a series", async () => {
    const open = await openFile();
    for (const [run, series] of open.series.entries()) expect(open.runOf(series)).toBe(run);
    expect(open.runOf(12_345)).toBe(-1);
  });

  test("that was dropped is deleted when nobody reads it any more", async () => {
    const store = storeOf();
    const file = new SstFile(meta, store);
    await file.open(registryOf(), new PageCache(0));
    file.retain();
    await file.drop();
    expect(await store.list("tables")).toEqual([meta.name]);
    await file.release();
    expect([await store.list("tables"), store.closes]).toEqual([[], 1]);
  });

  test("that was dropped leaves nothing in the cache once nobody reads it", async () => {
    const cache = new PageCache(1 << 24);
    const [stays, goes] = [new SstFile({ ...meta, id: meta.id + 1 }, storeOf()), new SstFile(meta, storeOf())];
    await (await stays.open(registryOf(), cache)).page(2, 0, undefined);
    const { bytes } = cache;
    const open = await goes.open(registryOf(), cache);
    for (const column of [2, 3]) await open.page(column, 1, undefined);
    goes.retain();
    await goes.drop();
    expect(cache.bytes).toBeGreaterThan(bytes);
    await goes.release();
    expect(cache.bytes).toBe(bytes);
  });

  test("that is closed while it is being opened is closed once it is", async () => {
    const store = storeOf();
    const file = new SstFile(meta, store);
    const opening = file.open(registryOf(), new PageCache(0));
    await file.release();
    await opening;
    expect([store.opens, store.closes]).toEqual([1, 1]);
  });

  test("that is missing says so, each time, and is found when it is back", async () => {
    const lost = new Map<string, Uint8Array>();
    const file = new SstFile(meta, memoryFileStore(lost));
    for (let i = 0; i < 2; i++) {
      const error = await failureOf(file.open(registryOf(), new PageCache(0)));
      expect([error.code, error.message]).toEqual([StatusCode.StorageUnavailable, expect.stringContaining(meta.name)]);
    }
    lost.set(meta.name, files.get(meta.name)!);
    expect((await file.open(registryOf(), new PageCache(0))).parquet.rowCount).toBe(20_000);
    await file.release();
  });
});

describe("a damaged data file", () => {
  const length = files.get(meta.name)!.length;

  async function check(change: (bytes: Uint8Array) => Uint8Array): Promise<void> {
    const store = storeOf(change);
    const file = new SstFile(meta, store);
    const error = await failureOf(file.open(registryOf(), new PageCache(0)));
    expect(error.code).toBe(StatusCode.StorageUnavailable);
    expect(error.message).toContain(meta.name);
    expect(store.closes).toBe(store.opens);
    await file.release();
  }

  test("is named when it is cut, empty, or no Parquet", async () => {
    for (const kept of [0, 1, 8, length >> 1, length - 1]) await check((bytes) => bytes.subarray(0, kept));
    await check((bytes) => bytes.fill(0));
  });

  test("is named when its footer is wrong", async () => {
    for (let offset = length - 200; offset < length; offset += 7) {
      await check((bytes) => {
        bytes[offset]! ^= 0x20;
        return bytes;
      });
    }
  });

  test("is named when its series index is wrong", async () => {
    const open = await openFile();
    const range = open.parquet.blob("series-index")!;
    for (let offset = range.offset; offset < range.offset + range.length; offset += 5) {
      await check((bytes) => {
        bytes[offset]! ^= 1;
        return bytes;
      });
    }
  });

  test("is named when a page is wrong, and not before the page is read", async () => {
    const whole = await openFile();
    const at = whole.parquet.pageIndex(0, 3).offsets[1]! + 30;
    const store = storeOf((bytes) => {
      bytes[at]! ^= 1;
      return bytes;
    });
    const open = await new SstFile(meta, store).open(registryOf(), new PageCache(1 << 20));
    await open.page(3, 0, undefined);
    const error = await failureOf(open.page(3, 1, undefined));
    expect([error.code, error.message]).toEqual([StatusCode.StorageUnavailable, expect.stringContaining(meta.name)]);
  });
});
