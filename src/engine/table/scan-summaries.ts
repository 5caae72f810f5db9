import type { ResolvedSummaries, SummaryColumn } from "../../storage/scan/source/page-summaries.ts";
import type { ScanRequest } from "../../table/scan.ts";

/** A column of storage whose figures may stand for its rows. */
export type SummarisedColumn = Omit<SummaryColumn, "wantsBounds" | "wantsSum">;

/**
 * The figures that a request allows to answer with, names resolved; undefined where it has to have rows.
 *
 * @param columnOf what storage has for a field of the table
 */
export function resolvedSummaries(
  { summaries, order, newestPerSeries, fieldBounds, fieldConditions }: ScanRequest,
  timeColumnId: number,
  columnOf: (name: string) => SummarisedColumn,
): ResolvedSummaries | undefined {
  if (summaries === undefined || order !== "none" || newestPerSeries === true) return undefined;
  if (fieldBounds.length > 0 || (fieldConditions?.length ?? 0) > 0) return undefined;
  const columns = summaries.columns.map(({ column, wantsBounds, wantsSum }) => ({ ...columnOf(column), wantsBounds, wantsSum }));
  return { columns, timeColumnId, buckets: summaries.buckets, isPerSeries: summaries.isPerSeries };
}
