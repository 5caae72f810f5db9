/** A table whose scans run in parts, as on other threads: the snapshot is cloned and its files are opened again. */
import type { FileStore } from "../../src/storage/file-store/file-store.ts";
import { PageCache } from "../../src/storage/cache/page-cache.ts";
import { SnapshotStorage } from "../../src/storage/share/snapshot-storage.ts";
import type { Table } from "../../src/table/catalog.ts";
import type { ScanBatch, ScanRequest } from "../../src/table/scan.ts";
import { FINE } from "./local-workers.ts";

const PAGE_CACHE_BYTES = 1024 * 1024;

/** What a worker reads snapshots with, over these files. */
export function snapshotStorage(files: FileStore): SnapshotStorage {
  return new SnapshotStorage(files, new PageCache(PAGE_CACHE_BYTES), (text) => {
    throw new Error(text);
  });
}

/** The table, its scans in parts where it gives parts. */
export function inParts(table: Table, files: FileStore): Table {
  const storage = snapshotStorage(files);
  const parted: Table = Object.create(table);
  parted.scan = (request) => scanParts(table, storage, request);
  return parted;
}

async function* scanParts(table: Table, storage: SnapshotStorage, request: ScanRequest): AsyncGenerator<ScanBatch> {
  const shared = await table.share?.(request, FINE);
  if (shared === undefined) {
    yield* table.scan(request);
    return;
  }
  const source = storage.open(structuredClone(shared.snapshot));
  try {
    const { tagPredicates: _, ...rest } = request;
    for (const part of shared.parts) yield* source.part(part).scan({ ...rest, tagPredicates: [] });
  } finally {
    source.close();
    await shared.release();
  }
}
