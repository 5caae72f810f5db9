/** What operators share while a query runs: cancellation, pacing, memory, the choice of twin. */
import { throwIfCancelled } from "../../base/cancel.ts";
import type { Clock } from "../../base/clock.ts";
import { nextRound } from "../../base/rounds.ts";
import type { Batch, SeriesRuns } from "../../column/batch.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import type { RowsSummary } from "../../table/scan.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { SpillSpace } from "../../table/spill-space.ts";
import type { Environment } from "../function/environment.ts";
import type { PlanNode } from "../plan/node.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import type { LongCalls } from "./long-calls.ts";
import type { NodeMetrics } from "./node-metrics.ts";
import type { QueryWorkers } from "./parallel/query-workers.ts";

/** Most milliseconds of work before other tasks of the thread get a turn. Reason: ingest and small queries share the thread. */
const TURN_MS_MAX = 10;

/** A batch between operators. `runs` tells series apart as long as rows are rows of a scan. Valid until the next one is asked for. */
export interface ExecBatch extends Batch {
  readonly runs?: SeriesRuns | undefined;
  /** Figures in the place of vectors: only from a scan whose request allows it. */
  readonly summary?: RowsSummary | undefined;
}

/** Lets other tasks run now and then. */
export class Pace {
  /** Milliseconds that others had in all. */
  awayMillis = 0;
  private last: number;
  private readonly clock: Clock;
  private readonly onTurn: (() => void) | undefined;

  /** @param onTurn called at each call of `turn` */
  constructor(clock: Clock, onTurn?: () => void) {
    this.clock = clock;
    this.onTurn = onTurn;
    this.last = clock.monotonicMillis();
  }

  /** Whether `turn` would give way: work in short steps asks first, since each `await` costs more than a step of a small plan. */
  isDue(): boolean {
    return this.clock.monotonicMillis() - this.last >= TURN_MS_MAX;
  }

  /** Gives way if this query has worked for `TURN_MS_MAX` since it last did. */
  async turn(): Promise<void> {
    this.onTurn?.();
    const now = this.clock.monotonicMillis();
    if (now - this.last < TURN_MS_MAX) return;
    await nextRound();
    this.last = this.clock.monotonicMillis();
    this.awayMillis += this.last - now;
  }
}

/**
 * The series of tables as a query found them first: its scans and those who read what they give mean the same numbers, whatever a table
 * does meanwhile.
 */
export class SeriesOfTables {
  private readonly views: Map<ScannedTable, SeriesView> = new Map();

  of(table: ScannedTable): SeriesView {
    let view = this.views.get(table);
    if (view === undefined) {
      view = table.series;
      this.views.set(table, view);
    }
    return view;
  }
}

/** Shared state of the operators of one query. */
export interface ExecContext {
  readonly environment: Environment;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly budget: MemoryBudget;
  readonly series: SeriesOfTables;
  /** Where rows go that do not fit in memory; undefined: nowhere, and too many are an error. */
  readonly spill: SpillSpace | undefined;
  /** True: no generated code runs. */
  readonly interpretOnly: boolean;
  /** Filled for EXPLAIN ANALYZE. */
  readonly metrics: Map<PlanNode, NodeMetrics> | undefined;
  /** Takes the source of each generated loop, for EXPLAIN VERBOSE. */
  readonly onSource: ((name: string, source: string) => void) | undefined;
  /** Where calls run that take long on one row; undefined: here. */
  readonly calls?: LongCalls | undefined;
  /** Other threads for large scans; undefined: all runs here. */
  readonly workers: QueryWorkers | undefined;
  /** Rows of a join's right side that are read before its left side is tried too; undefined: as many as are held with little cost. */
  readonly joinRowsFirst?: number | undefined;
}

/** The result of work that is done in steps, with other tasks in between. @throws DbError Cancelled */
export async function inTurns<T>(steps: Iterator<void, T>, context: Pick<ExecContext, "signal" | "pace">): Promise<T> {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
    checkCancelled(context);
    if (context.pace.isDue()) await context.pace.turn();
  }
}

/** Called once a batch. @throws DbError Cancelled when the client left or its time is over */
export function checkCancelled(context: Pick<ExecContext, "signal">): void {
  throwIfCancelled(context.signal);
}
