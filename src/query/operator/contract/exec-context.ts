/** What operators share while a query runs: cancellation, pacing, memory, the choice of reference. */
import type { Clock } from "../../../base/clock.ts";
import type { EvaluationContext } from "../../expression/evaluation-context.ts";
import type { Batch, SeriesRuns } from "../../../column/batch.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import type { RowsSummary } from "../../../table/scan.ts";
import type { SeriesView } from "../../../table/series-view.ts";
import type { SpillSpace } from "../../../table/spill-space.ts";
import type { PlanNode } from "./node.ts";
import type { NodeMetrics } from "./node-metrics.ts";
import type { QueryWorkers } from "./query-workers.ts";
import type { RowSources } from "./row-sources.ts";

/** A batch between operators. `runs` tells series apart as long as rows are rows of a scan. Valid until the next one is asked for. */
export interface ExecBatch extends Batch {
  readonly runs?: SeriesRuns | undefined;
  /** Statistics in the place of vectors: only from a scan whose request allows it. */
  readonly summary?: RowsSummary | undefined;
  /** Of a scan that was given tests: whether all rows passed them. */
  readonly isTested?: boolean | undefined;
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

/** Hears of the groups of one aggregation. */
export interface GroupWatch {
  readonly node: PlanNode | undefined;
  /** Whether it was to end there, without an answer: it runs elsewhere. */
  readonly isOver: boolean;
  /**
   * Told after some rows each. @returns whether the aggregation is to end there
   *
   * @param share how much of the time it was grouping, 0 to 1; the rest was reading its input
   */
  takesOver(groups: number, rows: number, share: number): boolean | Promise<boolean>;
}

/** Shared state of the operators of one query. */
export interface ExecContext extends EvaluationContext {
  readonly clock: Clock;
  readonly series: SeriesOfTables;
  /** Where rows come from that the server computes. */
  readonly sources: RowSources;
  /** Rows of the round before, of the recursive queries around, by their names. */
  readonly rounds?: ReadonlyMap<string, ExecBatch> | undefined;
  /** Where rows go that do not fit in memory; undefined: nowhere, and too many are an error. */
  readonly spill: SpillSpace | undefined;
  /** Filled for EXPLAIN ANALYZE. */
  readonly metrics: Map<PlanNode, NodeMetrics> | undefined;
  /** Other threads for large scans; undefined: all runs here. */
  readonly workers: QueryWorkers | undefined;
  /** Whether rows of expressions say of which series they are, as those of a scan do: whoever puts them in order needs that. */
  readonly keepsRuns?: boolean | undefined;
  /** Who wants to know how many groups an aggregation has while it reads. */
  readonly groupWatch?: GroupWatch | undefined;
  /** Rows of a join's right side that are read before its left side is tried too; undefined: as many as are held with little cost. */
  readonly joinRowsFirst?: number | undefined;
  /** Groups from which on they are spread over parts; undefined: as many as the cache of a core holds, about. */
  readonly groupsInOneTable?: number | undefined;
}
