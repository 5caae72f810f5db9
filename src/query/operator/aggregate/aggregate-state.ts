/** What an aggregation keeps of one aggregate: filled batch by batch, read at the end. */
import type { Vector } from "../../../column/vector.ts";
import type { ColumnSummary } from "../../../table/scan.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import type { Segments } from "../group-keys/group-keys.ts";

/** One aggregate over all groups. */
export interface AggregateState {
  /** Takes the segments of a batch; groups are below `groupCount`. */
  update(batch: ExecBatch, segments: Segments, groupCount: number): void;
  /** Takes the statistics of `rowCount` rows, all of one group; `summary` is that of the first argument's column, if there is one. */
  addSummary(group: number, groupCount: number, rowCount: number, summary: ColumnSummary | undefined): void;
  /**
   * Takes over what another state of the same call has of `groups`, as groups 0, 1 and so on; this one is new. Absent where that cannot
   * be taken apart.
   */
  adopt?(state: AggregateState, groups: Uint32Array): void;
  /** The aggregate of each group. */
  vector(groupCount: number): Vector;
}
