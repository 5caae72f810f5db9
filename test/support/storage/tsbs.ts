/** Rows like those of TSBS "cpu": ten integers of 0 to 100 for each host every ten seconds. A formula, so always the same. */
import { INT64 } from "../../../src/column/data-type.ts";
import type { ChunkSource } from "../../../src/storage/memtable/chunk-builder.ts";

/** Number of value columns; their ids are 100 to 109. */
export const TSBS_FIELDS = 10;
/** Id of the first value column. */
export const TSBS_FIRST_FIELD = 100;

const START = 1_700_000_000_000_000_000n;
/** Nanoseconds between two rows of a host. */
const STEP = 10_000_000_000;

/**
 * Request number `request` of `rowCount` rows: hosts report one after another, then time moves on. Values walk, as those of machines do.
 */
export function tsbsRequest(request: number, rowCount: number, hostCount: number): ChunkSource {
  const first = request * rowCount;
  const series = Uint32Array.from({ length: rowCount }, (_, i) => (first + i) % hostCount);
  const timeOffsets = Float64Array.from({ length: rowCount }, (_, i) => Math.floor((first + i) / hostCount) * STEP);
  const columns = Array.from({ length: TSBS_FIELDS }, (_, c) => ({
    columnId: TSBS_FIRST_FIELD + c,
    type: INT64,
    vector: {
      kind: "number",
      values: Int32Array.from(series, (host, i) => walk(host, c, timeOffsets[i]! / STEP)),
      validity: undefined,
    } as const,
  }));
  return { sequence: request + 1, rowCount, series, seriesMax: hostCount - 1, timeBase: START, timeOffsets, columns };
}

/** A value of 0 to 100 that moves by at most 1 a step. */
function walk(host: number, column: number, step: number): number {
  const phase = Math.imul(host * 31 + column * 7 + 1, 0x9e37_79b1) >>> 8;
  const noise = Math.imul((step + 1) * (phase | 1), 0x85eb_ca6b) >>> 31;
  return Math.min(100, Math.abs(((phase + step) % 202) - 101) * 0.98 + noise) | 0;
}
