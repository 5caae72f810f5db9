/**
 * A DELETE as a chunk: it goes through log, memtable and flush like rows do (`chunk.ts`), under its own sequence.
 *
 *   series, times     as of rows: series and first time of each range
 *   column 1          length of each range, its last time minus the first; left out when all are single times
 *   column 2          rows that each range covered when it was made; left out when that is one each
 *
 * It hides rows of older chunks and files, never rows of its own request or later ones.
 */
import { assert } from "../../base/assert.ts";
import { INT64 } from "../../column/data-type.ts";
import type { Arena } from "./arena.ts";
import type { Chunk } from "./chunk.ts";
import { buildChunk, type ColumnSource } from "./chunk-builder.ts";
import { TombstoneBuilder } from "../tombstone/tombstone-builder.ts";
import type { TombstoneSet } from "../tombstone/tombstone-set.ts";

const LENGTH_COLUMN = 1;
const ROWS_COLUMN = 2;

/** Ranges to delete; arrays hold at least `count` of them and are borrowed until the call returns. */
export interface DeleteSource {
  readonly sequence: number;
  readonly count: number;
  /** Series number of each range. */
  readonly series: Uint32Array;
  /** Largest element of `series`. */
  readonly seriesMax: number;
  readonly timeBase: bigint;
  /** First time of each range as an offset from `timeBase`. */
  readonly firsts: Float64Array;
  /** Last time minus first time, 0 or more; undefined: single times. No range crosses the border of a 64-day group. */
  readonly lengths: Float64Array | undefined;
  /** Rows that each range covered; undefined: one each. */
  readonly rows: Float64Array | undefined;
}

/** Copies ranges into a chunk on memory of `arena`. */
export function buildDeleteChunk(source: DeleteSource, arena: Arena): Chunk {
  const columns: ColumnSource[] = [];
  const add = (columnId: number, values: Float64Array | undefined): void => {
    if (values !== undefined) columns.push({ columnId, type: INT64, vector: { kind: "number", values, validity: undefined } });
  };
  add(LENGTH_COLUMN, source.lengths);
  add(ROWS_COLUMN, source.rows);
  const { sequence, count, series, seriesMax, timeBase, firsts } = source;
  const chunk = buildChunk({ sequence, rowCount: count, series, seriesMax, timeBase, timeOffsets: firsts, columns }, arena);
  return { ...chunk, deletes: true };
}

/** What the delete chunks among `chunks` delete within `[minOffset, maxOffset]` of a group; the age of each is its place in the list. */
export function tombstonesOf(
  chunks: readonly Chunk[],
  base: bigint,
  minOffset: number,
  maxOffset: number,
  isWanted: (series: number) => boolean,
): TombstoneSet | undefined {
  let builder: TombstoneBuilder | undefined;
  for (let age = 0; age < chunks.length; age++) {
    const chunk = chunks[age]!;
    if (chunk.deletes !== true) continue;
    builder ??= new TombstoneBuilder(base);
    addChunk(chunk, age, base, minOffset, maxOffset, isWanted, builder);
  }
  return builder?.finish();
}

function addChunk(
  chunk: Chunk,
  age: number,
  base: bigint,
  minOffset: number,
  maxOffset: number,
  isWanted: (series: number) => boolean,
  builder: TombstoneBuilder,
): void {
  const offset = Number(chunk.timeBase - base);
  const { series, times, timeScale, rowCount } = chunk;
  const lengths = numbersOf(chunk, LENGTH_COLUMN);
  const rows = numbersOf(chunk, ROWS_COLUMN);
  for (let i = 0; i < rowCount; i++) {
    const first = offset + times[i]! * timeScale;
    if (first > maxOffset) continue;
    const last = lengths === undefined ? first : first + lengths[i]!;
    if (last < minOffset || !isWanted(series[i]!)) continue;
    builder.add(series[i]!, first, last, age);
    builder.addRows(rows === undefined ? 1 : rows[i]!);
  }
}

function numbersOf(chunk: Chunk, columnId: number): ArrayLike<number> | undefined {
  const data = chunk.columns.find((column) => column.columnId === columnId)?.data;
  if (data === undefined) return undefined;
  assert(data.kind === "number", `a delete chunk's column ${columnId} holds numbers; got ${data.kind}`);
  return data.values;
}
