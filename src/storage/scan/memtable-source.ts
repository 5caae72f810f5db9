import type { MergeMode } from "../../table/schema.ts";
import type { Chunk } from "../memtable/chunk.ts";
import { scatterColumn } from "../memtable/scatter.ts";
import { type RowSelection, type SortedRows, sortRows } from "../memtable/sort-rows.ts";
import type { Vector } from "../../column/vector.ts";
import type { RunList } from "./run-list.ts";
import type { Piece, ScanColumn, ScanSource } from "./scan-source.ts";

/**
 * The wanted rows of memtables as a source: sorted when the scan begins, each column moved when it is first asked for.
 *
 * @param chunks oldest first
 * @param selection the scan's range and series; buckets are the numbers that runs carry
 */
export function memtableSource(chunks: readonly Chunk[], selection: RowSelection, mergeMode: MergeMode): ScanSource {
  const sorted = sortRows(chunks, selection, mergeMode);
  const columns = new Map<number, Vector>();
  return {
    addRuns: (source, _numbers, runs) => addRuns(sorted, source, runs),
    async times(ranges): Promise<readonly Piece[]> {
      const vector: Vector = { kind: "time", base: selection.base, offsets: sorted.times, validity: undefined };
      return ranges.map(({ start, end }) => ({ vector, from: start, to: end }));
    },
    async column(column: ScanColumn, ranges): Promise<readonly Piece[]> {
      let vector = columns.get(column.id);
      if (vector === undefined) {
        vector = scatterColumn(sorted, column.id, column.type, column.former);
        columns.set(column.id, vector);
      }
      const values = vector;
      return ranges.map(({ start, end }) => ({ vector: values, from: start, to: end }));
    },
    pageEnd: () => sorted.rowCount,
    tombstones: () => sorted.tombstones,
    prune: async () => undefined,
    summarise: () => [],
    holdsNothing: () => false,
  };
}

function addRuns(sorted: SortedRows, source: number, runs: RunList): void {
  const { runBuckets, runStarts, times } = sorted;
  for (let run = 0; run < runBuckets.length; run++) {
    const start = runStarts[run] as number;
    const end = runStarts[run + 1] as number;
    runs.push(runBuckets[run] as number, source, start, end, times[start] as number, times[end - 1] as number);
  }
}
