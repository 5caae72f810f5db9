/**
 * Queries of rows in memory: 3M rows of 4,000 series and ten integers, in requests of 3,000 rows. "pass" is what each takes without the
 * chains of `row-postings.ts`.
 */
import { bench, run } from "mitata";
import { tsbsJob } from "../../../../test/support/storage/tsbs-job.ts";
import type { MemtableView } from "../../memtable/pick-rows.ts";
import { RowPostings, rowStarts } from "../../memtable/row-postings.ts";
import { scatterColumn } from "../../memtable/scatter.ts";
import { sortRows } from "../../memtable/sort-rows.ts";
import { groupLength, groupStartOf } from "../../sst/time-window.ts";
import { memtableSource } from "./memtable-source.ts";
import { SeriesSelection } from "../select/series-selection.ts";

const SERIES = 4000;
const ROWS = process.env["VARVE_BENCH_SMOKE"] === "1" ? 60_000 : 3_000_000;
const { schema, chunks } = tsbsJob(0, ROWS, SERIES, 1);
const memtable: MemtableView = { chunks, starts: rowStarts(chunks), postings: new RowPostings(), times: undefined };
const fields = schema.columns.filter(({ semantic }) => semantic === "field");
const newest = chunks.at(-1)!;
const base = groupStartOf(newest.timeBase, "nanosecond");
const length = groupLength("nanosecond");
const end = Number(newest.timeBase - base) + newest.timeSteps * newest.timeScale;
const HOUR = 3600e9;

async function read(series: Uint32Array | undefined, minOffset: number, newestOnly: boolean): Promise<number> {
  const selection = new SeriesSelection(series, undefined, SERIES);
  const scan = { base, minOffset, maxOffset: length - 1, selection, seriesCount: SERIES, newestOnly, mergeMode: "last_row" as const };
  const source = memtableSource([memtable], scan);
  let found = 0;
  for (const column of fields) {
    const [piece] = await source.column({ id: column.id, type: column.type, former: [], missing: undefined }, [{ start: 0, end: 1 }]);
    found += piece?.to ?? 0;
  }
  return found;
}

function pass(series: Uint32Array | undefined, minOffset: number): number {
  const selection = new SeriesSelection(series, undefined, SERIES);
  const rows = { base, minOffset, maxOffset: length - 1, bucketOfSeries: selection.slotOfSeries(), bucketCount: selection.count };
  const sorted = sortRows(chunks, rows, "last_row");
  for (const column of fields) scatterColumn(sorted, column.id, column.type);
  return sorted.rowCount;
}

const one = Uint32Array.of(1234);
bench("one series, the last hour, all columns", () => read(one, end - HOUR, false));
bench("one series, the last hour, all columns: pass", () => pass(one, end - HOUR));
bench("newest row of each series, all columns", () => read(undefined, 0, true));
bench("newest row of each series, all columns: pass", () => pass(undefined, 0));
bench("chains of all rows", () => new RowPostings().extend(chunks, memtable.starts, SERIES));
await run();
