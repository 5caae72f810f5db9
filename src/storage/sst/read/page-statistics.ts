/** Statistics of whole pages, from the page index and the page sums. */
import type { DataType } from "../../../column/data-type.ts";
import type { PageIndex } from "../../../format/parquet/types.ts";
import type { ColumnSummary } from "../../../table/scan.ts";
import { exactInteger } from "../../../column/exact-integer.ts";

/** What is wanted of a column. */
export interface WantedStatistics {
  readonly wantsBounds: boolean;
  readonly wantsSum: boolean;
}

/** Pages `[from, to)` of one column chunk, one or more. */
export interface PageRange {
  readonly from: number;
  readonly to: number;
}

const NO_VALUE: ColumnSummary = { valueCount: 0, min: undefined, max: undefined, sum: undefined };

/** Statistics of some pages together; undefined when one of them must be decoded to know them. */
export function pageStatistics(
  pages: PageIndex,
  { from, to }: PageRange,
  type: DataType,
  { wantsBounds, wantsSum }: WantedStatistics,
): ColumnSummary | undefined {
  let valueCount = 0;
  let sum = 0;
  let min: number | bigint | undefined;
  let max: number | bigint | undefined;
  for (let page = from; page < to; page++) {
    const count = valuesOf(pages, page);
    if (count === 0) continue;
    valueCount += count;
    if (wantsSum) {
      sum += pages.sums?.[page] ?? Number.NaN;
      if (!isExact(sum, type)) return undefined;
    }
    if (!wantsBounds) continue;
    const bounds = exactBounds(pages, page, type);
    if (bounds === undefined) return undefined;
    if (min === undefined || bounds.min < min) min = bounds.min;
    if (max === undefined || bounds.max > max) max = bounds.max;
  }
  return valueCount === 0 ? NO_VALUE : { valueCount, min, max, sum: wantsSum ? sum : undefined };
}

function valuesOf({ rowStarts, nullCounts }: PageIndex, page: number): number {
  return rowStarts[page + 1]! - rowStarts[page]! - nullCounts[page]!;
}

/** Whether a sum of the sums of pages is what the values come to. */
function isExact(sum: number, { kind }: DataType): boolean {
  return kind === "int" ? Number.isSafeInteger(sum) : Number.isFinite(sum);
}

interface Bounds {
  readonly min: number | bigint;
  readonly max: number | bigint;
}

function exactBounds(pages: PageIndex, page: number, type: DataType): Bounds | undefined {
  const wideMin = pages.wideMins?.[page];
  const wideMax = pages.wideMaxs?.[page];
  if (type.kind === "timestamp" || type.kind === "duration") {
    return wideMin === undefined || wideMax === undefined ? undefined : { min: wideMin, max: wideMax };
  }
  if (type.kind !== "int" && type.kind !== "float" && type.kind !== "date") return undefined;
  if (wideMin !== undefined && wideMax !== undefined) return { min: exactInteger(wideMin), max: exactInteger(wideMax) };
  const min = pages.mins?.[page];
  const max = pages.maxs?.[page];
  if (min === undefined || max === undefined) return undefined;
  // Bounds of floats leave NaN out and give 0 the sign that takes in both zeros.
  if (type.kind === "float" && (Number.isNaN(pages.sums?.[page]) || min === 0 || max === 0)) return undefined;
  return { min, max };
}
