/**
 * A scan of one table over a snapshot of memtables and files.
 *
 *   prune files by time ─► open ─► series wanted (tag codes) ─► per 64-day group: runs of all sources ─► clip ─► carve ─► overlaps
 *        ─► batches: runs that stand alone as they lie in their source; overlapping runs merged by time
 *
 * Nothing is merged unless two sources hold overlapping times of one series, so a scan over disjoint files reads pages as they are.
 *
 * Series are taken in slices in the order of their tags when there are very many, so that lists of runs are bounded whatever a table has:
 * rows of files lie in that order, so pages of a slice lie together.
 */
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import type { ScanBatch } from "../../table/scan.ts";
import { vectorBytes } from "../cache/page-cache.ts";
import { assembleNewest, type RowsOfSource } from "./merge/assemble-rows.ts";
import { orderUnits } from "./merge/ordered-units.ts";
import { BATCH_ROWS, PendingBatch, PendingClusters } from "./pending-batch.ts";
import { type Group, type GroupSources, isOutside, openGroup, partsOf, segmentOf, sliceGroup } from "./scan-group.ts";
import { planScan, type ScanPlan } from "./scan-plan.ts";
import type { ScanSource } from "./runs/scan-source.ts";
import { JoinedSummaries } from "./source/joined-summaries.ts";
import { isOfAll, type ResolvedSummaries } from "./source/page-summaries.ts";
import { type ResolvedScan, type SelectedScan, selectedScan, SLICE_SERIES } from "./selected-scan.ts";

/** The batches of a scan. @throws DbError StorageUnavailable when a file cannot be read */
export async function* scanRows(scan: ResolvedScan, sliceSeries: number = SLICE_SERIES): AsyncGenerator<ScanBatch> {
  throwIfCancelled(scan.request.signal);
  yield* scanSelected(await selectedScan(scan, sliceSeries), sliceSeries);
}

/** The batches of a scan whose series are found. @throws DbError StorageUnavailable when a page cannot be read */
export async function* scanSelected(scan: SelectedScan, sliceSeries: number = SLICE_SERIES): AsyncGenerator<ScanBatch> {
  const { request, metrics } = scan;
  if (scan.slots.count === 0) return;
  const plan = planScan(scan, sliceSeries);
  let returned = 0;
  try {
    for await (const batch of request.order === "none" ? plainBatches(plan) : orderedBatches(plan)) {
      returned += batch.rowCount; // A filter may leave none for long: the reader yields all the same.
      scan.cache.passed(bytesOf(batch));
      if (metrics !== undefined) metrics.rowsReturned += batch.rowCount;
      yield batch;
      if (request.limit !== undefined && returned >= request.limit) return;
      throwIfCancelled(request.signal);
    }
  } finally {
    plan.arrays?.giveBack();
  }
}

/** Bytes of a batch's arrays; pages that pass through as they are count again. */
function bytesOf({ vectors }: ScanBatch): number {
  let bytes = 0;
  for (const vector of vectors) bytes += vectorBytes(vector);
  return bytes;
}

/** Order "none": source by source, then what had to be merged. */
async function* plainBatches(plan: ScanPlan): AsyncGenerator<ScanBatch> {
  const { count } = plan.scan.slots;
  for (const base of plan.groups) {
    const sources = openGroup(plan, base);
    for (let from = 0; from < count; from += plan.sliceSeries) {
      const group = await sliceGroup(plan, sources, from, Math.min(count, from + plan.sliceSeries));
      yield* plan.seen === undefined ? singleRuns(group, plan.scan.summaries) : newestRows(group);
      yield* clusterBatches(group);
    }
  }
}

/** Runs that stand alone, one row each. */
async function* newestRows({ assembler, runs, singles, singlesOf, selection }: Group): AsyncGenerator<ScanBatch> {
  let left = singles.length;
  let series = new Uint32Array(Math.min(BATCH_ROWS, left));
  let count = 0;
  let parts: RowsOfSource[] = [];
  for (const [source, own] of singlesOf.entries()) {
    const rowsOf = assembler.sources[source] as ScanSource;
    for (let from = 0; from < own.length; ) {
      const rows = new Uint32Array(Math.min(own.length - from, BATCH_ROWS - count));
      let kept = 0;
      for (; from < own.length && count < BATCH_ROWS; from++) {
        const run = own[from] as number;
        const row = runs.starts[run] as number;
        if (rowsOf.holdsNothing(row)) continue;
        rows[kept++] = row;
        series[count++] = selection.numberOf(runs.slots[run] as number);
      }
      if (kept > 0) parts.push({ source, rows: rows.subarray(0, kept) });
      if (count < BATCH_ROWS) continue;
      yield await assembleNewest(assembler, series, parts);
      left -= BATCH_ROWS;
      series = new Uint32Array(Math.max(0, Math.min(BATCH_ROWS, left)));
      count = 0;
      parts = [];
    }
  }
  if (count > 0) yield await assembleNewest(assembler, series.subarray(0, count), parts);
}

/** Statistics of pages where those will do. */
function* summaries({ assembler, runs, singlesOf }: Group, wanted: ResolvedSummaries | undefined): Generator<ScanBatch> {
  if (wanted === undefined) return;
  const joined = isOfAll(wanted) ? new JoinedSummaries(wanted.columns) : undefined;
  for (const [s, source] of assembler.sources.entries()) {
    for (const batch of source.summarise(runs, singlesOf[s] as Uint32Array)) {
      const ready = joined === undefined ? batch : joined.add(batch);
      if (ready !== undefined) yield ready;
    }
  }
  const last = joined?.rest();
  if (last !== undefined) yield last;
}

/** Runs that stand alone, and statistics of their pages where those will do. */
async function* singleRuns(group: Group, wanted: ResolvedSummaries | undefined): AsyncGenerator<ScanBatch> {
  const pending = new PendingBatch(group.assembler);
  yield* summaries(group, wanted);
  for (const i of group.singles) {
    const run = segmentOf(group, i);
    for (let at = run.start; at < run.end; ) {
      at = pending.add(run, at);
      if (pending.isFull) yield* await pending.take();
    }
  }
  yield* await pending.rest();
}

/** Runs that had to be merged. */
async function* clusterBatches(group: Group): AsyncGenerator<ScanBatch> {
  const clusters = new PendingClusters(group.assembler);
  for (const cluster of group.clusters) {
    if (isOutside(group, cluster)) continue;
    for (const part of await partsOf(group, cluster)) {
      clusters.add(part);
      if (clusters.isFull) yield* await clusters.take();
    }
  }
  yield* await clusters.rest();
}

/** Orders other than "none": series by their slots, each through all groups, oldest first. */
async function* orderedBatches(plan: ScanPlan): AsyncGenerator<ScanBatch> {
  const { count } = plan.scan.slots;
  const all: GroupSources[] = [];
  for (const base of plan.groups) all.push(openGroup(plan, base));
  for (let from = 0; from < count; from += plan.sliceSeries) {
    const to = Math.min(count, from + plan.sliceSeries);
    const groups: Group[] = [];
    for (const group of all) groups.push(await sliceGroup(plan, group, from, to));
    yield* orderedSlice(groups, from, to);
  }
}

async function* orderedSlice(groups: readonly Group[], from: number, to: number): AsyncGenerator<ScanBatch> {
  let pending: PendingBatch | PendingClusters | undefined;
  const units = orderUnits(groups, from, to);
  for (let i = 0; i < units.count; i++) {
    const group = groups[units.groups[i] as number] as Group;
    const { assembler } = group;
    const cluster = group.clusters[units.clusters[i] as number];
    const wantsClusters = cluster !== undefined;
    if (wantsClusters && isOutside(group, cluster)) continue;
    if (pending !== undefined && (pending.assembler !== assembler || pending instanceof PendingClusters !== wantsClusters)) {
      yield* await pending.rest();
      pending = undefined;
    }
    pending ??= wantsClusters ? new PendingClusters(assembler) : new PendingBatch(assembler);
    if (pending instanceof PendingClusters) {
      for (const part of await partsOf(group, cluster ?? [])) {
        pending.add(part);
        if (pending.isFull) yield* await pending.take();
      }
      continue;
    }
    const segment = segmentOf(group, units.runs[i] as number);
    for (let at = segment.start; at < segment.end; ) {
      at = pending.add(segment, at);
      if (pending.isFull) yield* await pending.take();
    }
  }
  if (pending !== undefined) yield* await pending.rest();
}
