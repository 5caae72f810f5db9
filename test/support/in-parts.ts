/** A table whose scans run in parts, as on other threads: the snapshot is cloned and its files are opened again. */
import { opensJoined } from "../../src/engine/joined/joined-share.ts";
import type { FileStore } from "../../src/storage/file-store/file-store.ts";
import { PageCache } from "../../src/storage/cache/page-cache.ts";
import { SnapshotStorage } from "../../src/storage/share/snapshot-storage.ts";
import type { Table } from "../../src/table/catalog.ts";
import { columnNamed } from "../../src/table/not-found.ts";
import type { ScanBatch, ScanRequest } from "../../src/table/scan.ts";
import type { ScanPart } from "../../src/table/shared-scan.ts";
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
  const source = opensJoined((own) => storage.open(own))(structuredClone(shared.snapshot));
  try {
    const { tagPredicates: _, ...rest } = request;
    const rows = (part: ScanPart): AsyncIterable<ScanBatch> => source.part([part]).scan({ ...rest, tagPredicates: [] });
    const { parts, shards } = shared;
    if (shards?.areOrdered === true) {
      const streams = [...new Set(parts.map(({ shard = 0 }) => shard))].map((shard) => ({
        shard,
        batches: inTurn(parts.filter((part) => part.shard === shard).map(rows)),
      }));
      yield* shards.merged(
        streams,
        request.projection.map((name) => columnNamed(table.schema, name).type),
      );
      return;
    }
    for (const part of parts) {
      for await (const batch of rows(part)) yield shards === undefined ? batch : { ...batch, runs: shards.renumbered(batch.runs, part) };
    }
  } finally {
    source.close();
    await shared.release();
  }
}

async function* inTurn(streams: readonly AsyncIterable<ScanBatch>[]): AsyncGenerator<ScanBatch> {
  for (const stream of streams) yield* stream;
}
