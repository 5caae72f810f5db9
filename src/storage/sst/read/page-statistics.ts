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

const NO_VALUE: ColumnSummary = { valueCount: 0, min: undefined, max: undefined, sum: undefined };

/** Statistics of a page; undefined when it must be decoded to know them. */
export function pageStatistics(pages: PageIndex, page: number, type: DataType, wanted: WantedStatistics): ColumnSummary | undefined {
  const valueCount = pages.rowStarts[page + 1]! - pages.rowStarts[page]! - pages.nullCounts[page]!;
  if (valueCount === 0) return NO_VALUE;
  const sum = wanted.wantsSum ? pages.sums?.[page] : undefined;
  if (wanted.wantsSum && (sum === undefined || !Number.isFinite(sum))) return undefined;
  if (!wanted.wantsBounds) return { ...NO_VALUE, valueCount, sum };
  const bounds = exactBounds(pages, page, type);
  return bounds === undefined ? undefined : { valueCount, ...bounds, sum };
}

function exactBounds(pages: PageIndex, page: number, type: DataType): Pick<ColumnSummary, "min" | "max"> | undefined {
  const [wideMin, wideMax] = [pages.wideMins?.[page], pages.wideMaxs?.[page]];
  if (type.kind === "timestamp" || type.kind === "duration") return wideMin === undefined ? undefined : { min: wideMin, max: wideMax };
  if (type.kind !== "int" && type.kind !== "float" && type.kind !== "date") return undefined;
  if (wideMin !== undefined && wideMax !== undefined) return { min: exactInteger(wideMin), max: exactInteger(wideMax) };
  const [min, max] = [pages.mins?.[page], pages.maxs?.[page]];
  if (min === undefined || max === undefined) return undefined;
  // Bounds of floats leave NaN out and give 0 the sign that takes in both zeros.
  if (type.kind === "float" && (Number.isNaN(pages.sums?.[page]) || min === 0 || max === 0)) return undefined;
  return { min, max };
}
