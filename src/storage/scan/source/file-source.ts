import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ScanMetrics } from "../../../table/scan.ts";
import { formerIn } from "../../../table/schema.ts";
import type { OpenSst } from "../../sst/read/open-sst.ts";
import { startOfRun } from "../../sst/series/series-sections.ts";
import type { ColumnCondition } from "../select/column-condition.ts";
import { RetypedVectors } from "./retyped-vectors.ts";
import { PagePruner } from "./page-pruner.ts";
import { PageRows } from "./page-rows.ts";
import { PageSummaries, type ResolvedSummaries } from "./page-summaries.ts";
import type { RunList } from "../runs/run-list.ts";
import type { SeriesSelection } from "../select/series-selection.ts";
import type { Piece, RowRange, ScanColumn, ScanSource } from "../runs/scan-source.ts";

/** What a scan tells its file sources. */
export interface FileScan {
  /** What run times count from. */
  readonly base: bigint;
  /** `[minOffset, maxOffset]` from `base`. */
  readonly minOffset: number;
  readonly maxOffset: number;
  readonly timeColumnId: number;
  readonly timeType: DataType;
  readonly selection: SeriesSelection;
  readonly conditions: readonly ColumnCondition[];
  readonly summaries: ResolvedSummaries | undefined;
  readonly metrics: ScanMetrics | undefined;
  /** No row of the file is later, as an offset from `base`. */
  readonly latest: number;
}

/** A data file as a source. The file's group base equals the scan's, so its offsets need no shift. */
export function fileSource(file: OpenSst, scan: FileScan): ScanSource {
  const timeColumn = file.columnOf(scan.timeColumnId);
  const pruner = new PagePruner(file, scan.conditions, scan.metrics);
  const summaries = scan.summaries === undefined ? undefined : new PageSummaries(file, scan.summaries, scan.selection, scan.metrics);
  const retyped = new Map<number, RetypedVectors>();
  let pageRowsMade: PageRows | undefined;
  const pageRows = (): PageRows => (pageRowsMade ??= new PageRows(file));
  return {
    addRuns: (source, from, to, runs) => addRuns(file, scan, source, from, to, runs),
    times: (ranges) => piecesOf(file, timeColumn, ranges, scan.metrics),
    async column(column: ScanColumn, ranges): Promise<readonly Piece[]> {
      const position = file.columnOf(column.id);
      if (position >= 0) return piecesOf(file, position, ranges, scan.metrics);
      const old = formerIn(column.former, (id) => (file.columnOf(id) >= 0 ? file.columnOf(id) : undefined));
      if (old !== undefined) {
        const casts = retyped.get(column.id) ?? new RetypedVectors();
        retyped.set(column.id, casts);
        const pieces = await piecesOf(file, old.found, ranges, scan.metrics);
        return pieces.map(({ vector, from, to }) => ({ vector: vector && casts.of(vector, old.type, column.type), from, to }));
      }
      let rowCount = 0;
      for (const { start, end } of ranges) rowCount += end - start;
      return [{ vector: column.missing?.atLeast(rowCount), from: 0, to: rowCount }];
    },
    timesAtHand: (range) => piecesAtHand(file, timeColumn, range),
    columnAtHand(column, range): readonly Piece[] | undefined {
      const position = file.columnOf(column.id);
      if (position >= 0) return piecesAtHand(file, position, range);
      if (column.former !== undefined) return undefined;
      const rowCount = range.end - range.start;
      return [{ vector: column.missing?.atLeast(rowCount), from: 0, to: rowCount }];
    },
    timesAt: (rows) => pageRows().take(timeColumn, scan.timeType, rows, scan.metrics),
    async columnAt(column, rows): Promise<Vector | undefined> {
      const position = file.columnOf(column.id);
      if (position >= 0) return await pageRows().take(position, column.type, rows, scan.metrics);
      const old = formerIn(column.former, (id) => (file.columnOf(id) >= 0 ? file.columnOf(id) : undefined));
      if (old === undefined) return column.missing?.atLeast(rows.length);
      return new RetypedVectors().of(await pageRows().take(old.found, old.type, rows, scan.metrics), old.type, column.type);
    },
    latest: scan.latest,
    newestOfAll: (from, to) => newestOfAll(file, scan, from, to),
    pageEnd: (row) => file.pageStarts[file.pageOf(row) + 1] as number,
    tombstones: () => file.tombstones,
    prune: (runs, own) => pruner.decide(runs, own),
    summarise: (runs, own) => summaries?.take(runs, own) ?? [],
    holdsNothing: (row) => pruner.holdsNothing(row) || summaries?.isTaken(row) === true,
    mayHold(row, columnId, bound) {
      const column = file.columnOf(columnId);
      return column < 0 || file.pageMayHold(column, file.pageOf(row), bound);
    },
  };
}

function addRuns(file: OpenSst, scan: FileScan, source: number, from: number, to: number, runs: RunList): void {
  const { index, series } = file;
  const { minOffset, maxOffset, selection } = scan;
  const add = (run: number, slot: number): void => {
    const first = index.firstTimes[run] as number;
    const last = index.lastTimes[run] as number;
    if (last < minOffset || first > maxOffset) return;
    runs.push(slot, source, startOfRun(index, run), index.ends[run] as number, first, last);
  };
  if (selection.isFew) {
    const found = fewRuns(file, selection, from, to);
    const width = to - from;
    for (let i = 0; i < found.length; i++) {
      const run = Math.floor((found[i] as number) / width);
      add(run, from + (found[i] as number) - run * width);
    }
    return;
  }
  const slots = selection.slotOfSeries();
  for (let run = 0; run < series.length; run++) {
    const slot = slots[series[run] as number] as number;
    if (slot >= from && slot < to) add(run, slot); // DROPPED is above every slot.
  }
}

/** See `ScanSource`. A file has at most one run of a series. */
function newestOfAll(file: OpenSst, scan: FileScan, from: number, to: number): number {
  const { index, series } = file;
  const { minOffset, maxOffset, selection } = scan;
  if (selection.isFew || series.length < to - from) return Number.NEGATIVE_INFINITY; // Few runs of each source cost nothing.
  const slots = selection.slotOfSeries();
  let found = 0;
  let newest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < series.length; run++) {
    const slot = slots[series[run] as number] as number;
    const last = index.lastTimes[run] as number;
    if (slot < from || slot >= to || last < minOffset || last > maxOffset) continue;
    found++;
    if (last < newest) newest = last;
  }
  return found === to - from ? newest : Number.NEGATIVE_INFINITY;
}

/** Runs of the series in slots `[from, to)` in the order of the file's rows, as run * (to - from) + slot - from: below 2^53. */
function fewRuns(file: OpenSst, selection: SeriesSelection, from: number, to: number): Float64Array {
  const found = new Float64Array(to - from);
  let count = 0;
  let isSorted = true;
  for (let slot = from; slot < to; slot++) {
    const run = file.runOf(selection.seriesOf(slot));
    if (run < 0) continue;
    const key = run * (to - from) + slot - from;
    if (count > 0 && key < (found[count - 1] as number)) isSorted = false;
    found[count++] = key;
  }
  const runs = found.subarray(0, count);
  return isSorted ? runs : runs.sort();
}

/** As `piecesOf`, of pages that are in the cache; undefined where one of them is not. */
function piecesAtHand(file: OpenSst, column: number, { start, end }: RowRange): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  for (let at = start; at < end; ) {
    const page = file.pageOf(at);
    const vector = file.pageAtHand(column, page);
    if (vector === undefined) return undefined;
    const pageStart = file.pageStarts[page] as number;
    const to = Math.min(file.pageStarts[page + 1] as number, end);
    pieces.push({ vector, from: at - pageStart, to: to - pageStart });
    at = to;
  }
  return pieces;
}

/** One page is asked for once however many ranges lie in it: newest rows of 4,000 series are 4,000 ranges in a few hundred pages. */
async function piecesOf(
  file: OpenSst,
  column: number,
  ranges: readonly RowRange[],
  metrics: ScanMetrics | undefined,
): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  let pageStart = 0;
  let pageEnd = 0;
  let vector: Vector | undefined;
  for (const { start, end } of ranges) {
    for (let at = start; at < end; ) {
      if (at < pageStart || at >= pageEnd) {
        const page = file.pageOf(at);
        pageStart = file.pageStarts[page] as number;
        pageEnd = file.pageStarts[page + 1] as number;
        vector = await file.page(column, page, metrics);
      }
      const to = Math.min(pageEnd, end);
      pieces.push({ vector, from: at - pageStart, to: to - pageStart });
      at = to;
    }
  }
  return pieces;
}
