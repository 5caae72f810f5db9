import type { FieldBounds, ScanMetrics } from "../../table/scan.ts";
import type { OpenSst } from "../sst/sst-file.ts";
import type { RunList } from "./run-list.ts";
import type { Piece, ScanColumn, ScanSource } from "./scan-source.ts";

/** Field bounds with the id of their column. */
export type ColumnBounds = FieldBounds & { readonly columnId: number };

/** What a scan tells its file sources. */
export interface FileScan {
  /** What run times count from. */
  readonly base: bigint;
  /** `[minOffset, maxOffset]` from `base`. */
  readonly minOffset: number;
  readonly maxOffset: number;
  readonly timeColumnId: number;
  readonly bounds: readonly ColumnBounds[];
  readonly metrics: ScanMetrics | undefined;
}

/** A data file as a source. The file's group base equals the scan's, so its offsets need no shift. */
export function fileSource(file: OpenSst, scan: FileScan): ScanSource {
  const timeColumn = file.columnOf(scan.timeColumnId);
  const skipped = new Set<number>();
  return {
    addRuns: (source, wanted, runs) => addRuns(file, scan, source, wanted, runs),
    times: (start, end) => piecesOf(file, timeColumn, start, end, scan.metrics),
    async column(column: ScanColumn, start, end): Promise<readonly Piece[]> {
      const position = file.columnOf(column.id);
      if (position < 0) return [{ vector: column.missing?.atLeast(end - start), from: 0, to: end - start }];
      return piecesOf(file, position, start, end, scan.metrics);
    },
    pageEnd: (row) => file.pageStarts[file.pageOf(row) + 1] as number,
    outsideBounds: (start) => isOutside(file, scan, file.pageOf(start), skipped),
  };
}

function addRuns(file: OpenSst, scan: FileScan, source: number, wanted: (series: number) => boolean, runs: RunList): void {
  const { index, series } = file;
  const { minOffset, maxOffset } = scan;
  let start = 0;
  for (let run = 0; run < series.length; run++) {
    const end = index.ends[run] as number;
    const first = index.firstTimes[run] as number;
    const last = index.lastTimes[run] as number;
    const number = series[run] as number;
    if (last >= minOffset && first <= maxOffset && wanted(number)) runs.push(number, source, start, end, first, last);
    start = end;
  }
}

async function piecesOf(
  file: OpenSst,
  column: number,
  start: number,
  end: number,
  metrics: ScanMetrics | undefined,
): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  let page = file.pageOf(start);
  for (let at = start; at < end; page++) {
    const pageStart = file.pageStarts[page] as number;
    const to = Math.min(file.pageStarts[page + 1] as number, end);
    pieces.push({ vector: await file.page(column, page, metrics), from: at - pageStart, to: to - pageStart });
    at = to;
  }
  return pieces;
}

/** `skipped` keeps a page that many runs share from being counted once a run. */
function isOutside(file: OpenSst, scan: FileScan, page: number, skipped: Set<number>): boolean {
  for (const bounds of scan.bounds) {
    const column = file.columnOf(bounds.columnId);
    if (column >= 0 && file.pageOutside(column, page, bounds.min, bounds.max)) {
      if (scan.metrics !== undefined && !skipped.has(page)) scan.metrics.pagesSkipped++;
      skipped.add(page);
      return true;
    }
  }
  return false;
}
