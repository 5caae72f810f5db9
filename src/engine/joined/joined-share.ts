/**
 * Scans of a table that lies in several parts, on other threads: the parts' own shared scans together. Each `ScanPart` is of one of them,
 * which its `shard` names.
 *
 *   here    parts' snapshots ─► JoinedSnapshot ─clone─► there    sources of the parts ─► one part alone, or several as one table
 *
 * Series of rows that another thread gave have the numbers of their part, and get joined ones here.
 */
import { assert } from "../../base/assert.ts";
import type { DataType } from "../../column/data-type.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { BatchOfSeries, ScanPart, SharedScan, ShardRows, ShareLimits } from "../../table/shared-scan.ts";
import { GatheredRows } from "./gathered-rows.ts";
import { gatheredRows, type JoinedPart, type JoinedRows, joinedScan, orderOfParts, scanOfPart } from "./joined-scan.ts";
import { JoinedSeries } from "./joined-series.ts";
import { MergedRuns, orderByTags } from "./merged-runs.ts";
import { Reader } from "./reader.ts";

/** What another thread needs: plain data. */
export interface JoinedSnapshot {
  readonly kind: "joined";
  readonly schema: TableSchema;
  /** Names of all tags where a series may lie in several parts. */
  readonly repeating: readonly string[] | undefined;
  /** By shard; undefined: no part is of it. */
  readonly snapshots: readonly (object | undefined)[];
}

/** A part that gives scans in parts. */
type SharingPart = JoinedPart & { readonly table: Pick<ScannedTable, "scan" | "share"> };

/**
 * The rows of some parts in parts for other threads, from snapshots that are taken before this returns a promise; undefined where a part
 * does not give them so, or rows of one series would have to be put in the order of time.
 */
export async function joinedShare(
  parts: readonly SharingPart[],
  rows: JoinedRows,
  request: ScanRequest,
  limits: ShareLimits,
  metrics?: ScanMetrics,
): Promise<SharedScan | undefined> {
  const isOrdered = request.order !== "none" && parts.length > 1;
  if ((isOrdered || (request.newestPerSeries === true && parts.length > 1)) && rows.series.repeats) return undefined;
  const order = orderOfParts(request.order, rows.orderIn);
  const own: ShareLimits = { ...limits, rowsMin: 0, partsMax: Math.max(1, Math.floor(limits.partsMax / parts.length)) };
  const asked = parts.map(async ({ table, part }) =>
    table.share?.({ ...request, order, numbers: rows.series.parts[part] as SeriesView }, own, metrics),
  );
  const outcomes = await Promise.allSettled(asked);
  const shared: { readonly part: number; readonly scan: SharedScan }[] = [];
  for (const [i, outcome] of outcomes.entries()) {
    const scan = outcome.status === "fulfilled" ? outcome.value : undefined;
    if (scan !== undefined) shared.push({ part: (parts[i] as JoinedPart).part, scan });
  }
  const release = async (): Promise<void> => {
    for (const { scan } of shared) await scan.release();
  };
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  const rowCount = shared.reduce((sum, { scan }) => scan.parts.reduce((own, part) => own + part.rowCount, sum), 0);
  if (failed !== undefined || shared.length < parts.length || rowCount === 0 || rowCount < limits.rowsMin) {
    await release();
    if (failed !== undefined) throw failed.reason;
    return undefined;
  }
  return sharedOf(shared, rows, isOrdered ? request.order : "none", release);
}

function sharedOf(
  shared: readonly { readonly part: number; readonly scan: SharedScan }[],
  rows: JoinedRows,
  order: ScanRequest["order"],
  release: () => Promise<void>,
): SharedScan {
  const { schema, series } = rows;
  const scanOf = (shard: number | undefined): SharedScan => {
    const found = shared.find(({ part }) => part === shard);
    assert(found !== undefined, `a shard of the scan; got ${shard}`);
    return found.scan;
  };
  const snapshot: JoinedSnapshot = {
    kind: "joined",
    schema,
    repeating: series.repeating,
    snapshots: series.parts.map((_, part) => shared.find((each) => each.part === part)?.scan.snapshot),
  };
  return {
    snapshot,
    ...(shared.some(({ scan }) => scan.keepsTags === true) ? { keepsTags: true } : {}),
    parts: shared.flatMap(({ part, scan }) => scan.parts.map((each): ScanPart => ({ ...each, shard: part }))),
    shards: {
      areOrdered: order !== "none",
      renumbered: (runs, { shard }) => series.joinedRuns(runs, shard as number),
      merged: (streams, types) => mergedStreams(streams, rows, order, types),
    },
    scanHere(request, metrics, part) {
      if (part !== undefined) {
        const shard = part.shard as number;
        const own = { ...request, numbers: series.parts[shard] as SeriesView };
        return scanOfPart(scanOf(shard).scanHere(own, metrics, part), shard, rows, request.projection);
      }
      const tables = shared.map(
        ({ part: place, scan }): JoinedPart => ({ table: { scan: (own, to) => scan.scanHere(own, to) }, part: place }),
      );
      return joinedScan(tables, rows, request, metrics);
    },
    release,
  };
}

async function* mergedStreams(
  streams: readonly ShardRows[],
  { schema, series, orderIn }: JoinedRows,
  order: ScanRequest["order"],
  types: readonly DataType[],
): AsyncGenerator<BatchOfSeries> {
  const iterators = streams.map(({ batches }) => batches[Symbol.asyncIterator]());
  try {
    const begun = iterators.map((batches, i) => Reader.begun(batches, (streams[i] as ShardRows).shard));
    await Promise.allSettled(begun); // Whichever fails: no other is left behind.
    const merged = new MergedRuns(await Promise.all(begun), series, {
      order: orderIn?.(order, series) ?? orderByTags(schema, series),
      timePlace: -1, // No series is in two shards.
      newestOnly: false,
    });
    yield* gatheredRows(merged, new GatheredRows(series, types));
  } finally {
    for (const iterator of iterators) await iterator.return?.();
  }
}

/** What reads parts of a snapshot on a thread. */
interface PartsOfSnapshot {
  part(part: readonly ScanPart[]): ScannedTable;
  close(): void;
}

/** What opens snapshots of several parts as well. @param open opens those of one */
export function opensJoined(open: (snapshot: object) => PartsOfSnapshot): (snapshot: object) => PartsOfSnapshot {
  return (snapshot) => (isJoined(snapshot) ? new OpenJoined(snapshot, open) : open(snapshot));
}

function isJoined(snapshot: object): snapshot is JoinedSnapshot {
  return "kind" in snapshot && snapshot.kind === "joined";
}

/** A snapshot that is being read. */
class OpenJoined implements PartsOfSnapshot {
  private readonly snapshot: JoinedSnapshot;
  private readonly sources: readonly (PartsOfSnapshot | undefined)[];

  constructor(snapshot: JoinedSnapshot, open: (snapshot: object) => PartsOfSnapshot) {
    this.snapshot = snapshot;
    this.sources = snapshot.snapshots.map((own) => (own === undefined ? undefined : open(own)));
  }

  part(parts: readonly ScanPart[]): ScannedTable {
    const tables = parts.map((part) => {
      const source = this.sources[part.shard ?? -1];
      assert(source !== undefined, `a shard of the snapshot; got ${part.shard}`);
      return source.part([part]);
    });
    const [only] = tables;
    return tables.length === 1 && only !== undefined ? only : new JoinedParts(this.snapshot, tables);
  }

  close(): void {
    for (const source of this.sources) source?.close();
  }
}

/** Parts of several shards as one table. */
class JoinedParts implements ScannedTable {
  readonly schema: TableSchema;
  readonly series: JoinedSeries;
  private readonly tables: readonly ScannedTable[];

  constructor({ schema, repeating }: JoinedSnapshot, tables: readonly ScannedTable[]) {
    this.schema = schema;
    this.tables = tables;
    this.series = new JoinedSeries(
      tables.map(({ series }) => series),
      repeating,
    );
  }

  scan(request: ScanRequest, metrics?: ScanMetrics): AsyncIterable<ScanBatch> {
    return joinedScan(
      this.tables.map((table, part) => ({ table, part })),
      this,
      request,
      metrics,
    );
  }

  timeBounds(): TimeRange | undefined {
    return boundsOf(this.tables);
  }
}

/** Oldest and newest time of several tables. */
export function boundsOf(tables: readonly Pick<ScannedTable, "timeBounds">[]): TimeRange | undefined {
  let bounds: TimeRange | undefined;
  for (const table of tables) {
    const own = table.timeBounds();
    if (own === undefined) continue;
    const { start, end } = bounds ?? own;
    bounds = { start: own.start < start ? own.start : start, end: own.end > end ? own.end : end };
  }
  return bounds;
}
