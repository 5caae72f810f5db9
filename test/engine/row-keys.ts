/** Rows of a table as a delete by keys names them. */
import type { Table } from "../../src/table/catalog.ts";
import type { RowKeys } from "../../src/table/delete.ts";
import { ALL_TIME } from "../../src/table/scan.ts";

/** Series and times of the rows of a table that are chosen by their place in the order "series-time", a part for each base of times. */
export async function keysOf(table: Table, timeName: string, chosen: readonly boolean[]): Promise<RowKeys[]> {
  const parts = new Map<bigint, { readonly series: number[]; readonly offsets: number[] }>();
  const numbers = table.series;
  const request = {
    projection: [timeName],
    timeRange: ALL_TIME,
    tagPredicates: [],
    fieldBounds: [],
    order: "series-time" as const,
    numbers,
  };
  let at = 0;
  for await (const { rowCount, vectors, runs } of table.scan(request)) {
    const [times] = vectors;
    if (times?.kind !== "time") throw new Error(`times come as ${times?.kind}`);
    for (let row = 0, run = 0; row < rowCount; row++, at++) {
      while ((runs.starts[run + 1] ?? rowCount) <= row) run++;
      if (chosen[at] !== true) continue;
      const part = parts.get(times.base) ?? { series: [], offsets: [] };
      parts.set(times.base, part);
      part.series.push(runs.series[run] ?? -1);
      part.offsets.push(times.offsets[row] ?? 0);
    }
  }
  if (at !== chosen.length) throw new Error(`a scan gives ${at} rows; want ${chosen.length}`);
  return Array.from(parts, ([base, { series, offsets }]) => ({
    rowCount: series.length,
    series: Uint32Array.from(series),
    numbers,
    times: { kind: "time", base, offsets: Float64Array.from(offsets), validity: undefined },
  }));
}
