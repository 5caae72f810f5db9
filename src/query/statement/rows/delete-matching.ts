/**
 * Deletes the rows that a plan gives, by their tags and times. The keys are deleted in parts while the scan goes on over its snapshot, so
 * memory is bounded; what fails or is cancelled leaves earlier parts deleted.
 *
 * The condition was evaluated on what the scan saw: rows that were written again since are left out, and looked at by another scan. Where a
 * write replaces the whole row, those that go on being written count as written after the DELETE; where fields merge one by one, what it
 * matched would show through.
 */
import { assert } from "../../../base/assert.ts";
import { DbError } from "../../../base/error.ts";
import { DELETE_BATCH_ROWS } from "../../../base/limits.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { TimeVector } from "../../../column/vector.ts";
import type { Table } from "../../../table/catalog.ts";
import type { OverwriteWatch } from "../../../table/delete.ts";
import type { TimeRange } from "../../../table/scan.ts";
import { mergeModeOf } from "../../../table/schema.ts";
import type { SeriesView } from "../../../table/series-view.ts";
import type { ExecBatch, ExecContext } from "../../operator/contract/exec-context.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { run } from "../../operator/run.ts";

/** Rows to delete. */
export interface MatchingRows {
  readonly table: Table;
  /** Gives them: a scan of the table with conditions above it, and its time index. */
  readonly plan: PlanNode;
  /** Place of the time index in what the plan gives. */
  readonly timeColumn: number;
  /** All of their times lie in it. */
  readonly timeRange: TimeRange;
}

/** Deletes rows; returns how many. @throws DbError RegionBusy, and those of the table */
export async function deleteMatching({ table, plan, timeColumn, timeRange }: MatchingRows, exec: ExecContext): Promise<number> {
  const isMerged = mergeModeOf(table.schema) === "last_non_null";
  let rowCount = 0;
  for (let round = 1; ; round++) {
    const watch = table.watchOverwrites(timeRange);
    try {
      const keys = new KeyBuffer(table, exec.series.of(table), watch);
      for await (const batch of run(plan, exec)) await keys.add(batch, timeColumn);
      await keys.flush();
      rowCount += keys.deleted;
      if (keys.leftOut === 0 || (!isMerged && round >= ROUNDS && !watch.isFull)) return rowCount;
      if (round >= ROUNDS_MAX) throw overwritten(table.schema.name, keys.leftOut);
    } finally {
      watch.end();
    }
  }
}

/** Scans after which rows that are replaced all the time are left alone. */
const ROUNDS = 3;
/** Scans of one DELETE at most. */
const ROUNDS_MAX = 16;

function overwritten(table: string, rows: number): DbError {
  return new DbError(
    StatusCode.RegionBusy,
    `cannot delete from table ${table}: ${rows} rows that match are being written all the time; the others are deleted; try again`,
    { retryAfterSeconds: 1 },
  );
}

/** Keys of rows until there are enough for a delete. */
class KeyBuffer {
  /** Rows that were deleted, and that were not since they were written again. */
  deleted = 0;
  leftOut = 0;
  private readonly table: Table;
  private readonly numbers: SeriesView;
  private readonly watch: OverwriteWatch;
  private readonly series: Uint32Array = new Uint32Array(DELETE_BATCH_ROWS);
  private readonly offsets: Float64Array = new Float64Array(DELETE_BATCH_ROWS);
  private base = 0n;
  private count = 0;

  constructor(table: Table, numbers: SeriesView, watch: OverwriteWatch) {
    this.table = table;
    this.numbers = numbers;
    this.watch = watch;
  }

  /** Adds the rows of a batch, whose times are its column `timeColumn`. */
  async add({ rowCount, vectors, runs }: ExecBatch, timeColumn: number): Promise<void> {
    const times = vectors[timeColumn];
    assert(times?.kind === "time", `a scan gives times as a time vector; got ${times?.kind}`);
    assert(runs !== undefined, "rows of a scan come with their series");
    if (this.count > 0 && this.base !== times.base) await this.flush();
    this.base = times.base;
    for (let run = 0; run < runs.series.length; run++) {
      const series = runs.series[run] as number;
      for (let row = runs.starts[run] as number; row < Math.min(rowCount, runs.starts[run + 1] as number); row++) {
        if (this.count === DELETE_BATCH_ROWS) await this.flush();
        this.series[this.count] = series;
        this.offsets[this.count++] = times.offsets[row] as number;
      }
    }
  }

  async flush(): Promise<void> {
    if (this.count === 0) return;
    const times: TimeVector = { kind: "time", base: this.base, offsets: this.offsets, validity: undefined };
    const keys = { rowCount: this.count, series: this.series, numbers: this.numbers, times };
    this.count = 0;
    const leftOut = await this.table.deleteRows(keys, this.watch);
    this.deleted += keys.rowCount - leftOut;
    this.leftOut += leftOut;
  }
}
