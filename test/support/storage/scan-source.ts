/** A source of a scan for tests of what runs and times alone decide. */
import type { ScanSource } from "../../../src/storage/scan/runs/scan-source.ts";

/** A source whose rows have the times that `times` reads; it has no columns, tombstones or figures, and a page a row. */
export function timesSource(times: ScanSource["times"]): ScanSource {
  return {
    times,
    addRuns: () => undefined,
    column: async () => [],
    timesAtHand: () => undefined,
    columnAtHand: () => undefined,
    timesAt: async () => ({ kind: "time", base: 0n, offsets: new Float64Array(0), validity: undefined }),
    columnAt: async () => undefined,
    latest: 0,
    newestOfAll: () => Number.NEGATIVE_INFINITY,
    pageEnd: (row) => row,
    tombstones: () => undefined,
    prune: async () => undefined,
    summarise: () => [],
    holdsNothing: () => false,
    mayHold: () => true,
  };
}
