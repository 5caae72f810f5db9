/** Tests of tags that are made here: rows of series that fail are left out. */
import type { Batch } from "../../column/batch.ts";
import { takeRows } from "../../column/take-rows.ts";
import type { ScanBatch } from "../../table/scan.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { OwnTest } from "./remote-request.ts";

/** See the file header. Each test is called once for each distinct value. */
export class OwnTests {
  private readonly tests: readonly OwnTest[];
  private readonly view: SeriesView;
  /** Whether a value passes, by test and code. */
  private readonly known: readonly (boolean | undefined)[][];

  constructor(tests: readonly OwnTest[], view: SeriesView) {
    this.tests = tests;
    this.view = view;
    this.known = tests.map(() => []);
  }

  /** The rows that pass. */
  passing(batch: ScanBatch): ScanBatch {
    const { rowCount, runs, vectors } = batch;
    const passes = this.tests.map(({ column }) => this.view.codesOf(column));
    const picks = new Uint32Array(rowCount);
    const starts: number[] = [];
    const series: number[] = [];
    let count = 0;
    for (let run = 0; run + 1 < runs.starts.length; run++) {
      const number = runs.series[run] as number;
      if (!this.tests.every((_, i) => this.test(i, (passes[i] as Uint32Array)[number] as number, number))) continue;
      const [from, to] = [runs.starts[run] as number, Math.min(rowCount, runs.starts[run + 1] as number)];
      starts.push(count);
      series.push(number);
      for (let row = from; row < to; row++) picks[count++] = row;
    }
    if (count === rowCount) return batch;
    starts.push(count);
    const kept = picks.subarray(0, count);
    const rows: Batch = { rowCount: count, vectors: vectors.map((vector) => takeRows(vector, kept)) };
    return { ...rows, runs: { starts: Uint32Array.from(starts), series: Uint32Array.from(series) } };
  }

  private test(i: number, code: number, series: number): boolean {
    const known = this.known[i] as (boolean | undefined)[];
    const { column, test } = this.tests[i] as OwnTest;
    return (known[code] ??= test(this.view.tagOf(column, series)));
  }
}
