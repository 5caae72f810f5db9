/**
 * Segments of rows in, batches out: reads the wanted columns of each segment and joins them.
 */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { DictionaryVector, Vector } from "../../../column/vector.ts";
import type { RowTest, ScanBatch } from "../../../table/scan.ts";
import type { MergeMode } from "../../../table/schema.ts";
import type { BatchArrays } from "./batch-arrays.ts";
import { concatPieces, type DoublesMaker } from "./concat.ts";
import { readInterleaved } from "./interleave.ts";
import { mergeColumn, planMerge } from "./merge-rows.ts";
import type { ScanDictionary } from "../select/scan-dictionary.ts";
import type { RowRange, ScanColumn, ScanSource } from "../runs/scan-source.ts";
import type { TagCodes } from "../select/tag-codes.ts";

/** A column of the projection. */
export type OutputColumn =
  | { readonly kind: "tag"; readonly position: number }
  | { readonly kind: "time" }
  | { readonly kind: "field"; readonly column: ScanColumn };

/** Rows of a source, all of one series. */
export interface Segment extends RowRange {
  readonly source: number;
  readonly series: number;
}

/** What turns segments into batches. */
export interface Assembler {
  readonly sources: readonly ScanSource[];
  readonly output: readonly OutputColumn[];
  readonly tags: TagCodes;
  readonly timeType: DataType;
  readonly mergeMode: MergeMode;
  /** Rows that do not pass need not be in batches of runs that stand alone. */
  readonly tests: readonly RowTest[];
  /** By tag position: where tags come from a dictionary of this scan; elsewhere from that of the table. */
  readonly dictionaries: ReadonlyMap<number, ScanDictionary>;
  /** Arrays of batches of runs that stand alone; undefined: each batch has its own. */
  readonly arrays: BatchArrays | undefined;
}

/** A batch of the segments' rows, one after another. */
export async function assembleSegments(assembler: Assembler, segments: readonly Segment[]): Promise<ScanBatch> {
  const runs = runsOf(segments);
  const rowCount = runs.starts.at(-1) ?? 0;
  const joined = joinNeighbours(segments);
  const vectors: Vector[] = [];
  for (const [place, column] of assembler.output.entries()) {
    const doubles = assembler.arrays?.makerOf(place);
    vectors.push(await readColumn(assembler, column, joined, rowCount, runs, doubles));
  }
  return { rowCount, vectors, runs };
}

/**
 * A batch of clusters: the rows of each series of all its segments merged by time. `clusters[k]` are the segments of one series, oldest
 * source first.
 */
export async function assembleClusters(assembler: Assembler, clusters: readonly (readonly Segment[])[]): Promise<ScanBatch> {
  const segments = clusters.flat();
  let total = 0;
  for (const { start, end } of segments) total += end - start;
  const group = new Uint32Array(total);
  const age = new Uint32Array(total);
  let at = 0;
  for (let k = 0; k < clusters.length; k++) {
    for (const { source, start, end } of clusters[k] ?? []) {
      group.fill(k, at, at + end - start);
      age.fill(source, at, at + end - start);
      at += end - start;
    }
  }
  const joined = joinNeighbours(segments);
  const times = await readTimes(assembler, joined, total);
  if (times.kind !== "time") throw new Error(`times come as a time vector; got ${times.kind}`);
  const plan = planMerge(group, times.offsets, age, assembler.mergeMode);
  const runs = runsOfGroups(clusters, group, plan.order, plan.starts, plan.rowCount);
  const vectors: Vector[] = [];
  for (const column of assembler.output) {
    if (column.kind === "tag") vectors.push(tagVector(assembler, column.position, runs, plan.rowCount));
    else if (column.kind === "time") vectors.push(mergeColumn(plan, times, assembler.mergeMode));
    else vectors.push(mergeColumn(plan, await readField(assembler, column.column, joined, total), assembler.mergeMode));
  }
  return { rowCount: plan.rowCount, vectors, runs };
}

/** A run goes on only while its rows follow each other in one source: the times of another source may lie before it. */
export function runsOf(segments: readonly Segment[]): SeriesRuns {
  const starts = [0];
  const series: number[] = [];
  let at = 0;
  let last: Segment | undefined;
  for (const segment of segments) {
    const goesOn = last !== undefined && last.series === segment.series && last.source === segment.source && last.end === segment.start;
    if (!goesOn) {
      if (last !== undefined) starts.push(at);
      series.push(segment.series);
    }
    last = segment;
    at += segment.end - segment.start;
  }
  if (at > 0) starts.push(at);
  return { starts: Uint32Array.from(starts), series: Uint32Array.from(series) };
}

function runsOfGroups(
  clusters: readonly (readonly Segment[])[],
  group: Uint32Array,
  order: Uint32Array,
  planStarts: Uint32Array,
  rowCount: number,
): SeriesRuns {
  const starts: number[] = [];
  const series: number[] = [];
  let current = -1;
  for (let r = 0; r < rowCount; r++) {
    const g = group[order[planStarts[r] as number] as number] as number;
    if (g === current) continue;
    current = g;
    starts.push(r);
    series.push(clusters[g]?.[0]?.series ?? 0);
  }
  starts.push(rowCount);
  return { starts: Uint32Array.from(starts), series: Uint32Array.from(series) };
}

/** Segments of one source that follow each other become one, so that a whole page is read as one piece. */
export function joinNeighbours(segments: readonly Segment[]): Segment[] {
  const joined: Segment[] = [];
  for (const segment of segments) {
    const last = joined.at(-1);
    if (last !== undefined && last.source === segment.source && last.end === segment.start) {
      joined[joined.length - 1] = { ...last, end: segment.end };
    } else joined.push(segment);
  }
  return joined;
}

/** A column of the rows of `segments`, which are joined, where they are neighbours. `runs` are theirs. */
export function readColumn(
  assembler: Assembler,
  column: OutputColumn,
  segments: readonly Segment[],
  rowCount: number,
  runs: SeriesRuns,
  doubles?: DoublesMaker | undefined,
): Promise<Vector> | Vector {
  if (column.kind === "tag") return tagVector(assembler, column.position, runs, rowCount);
  if (column.kind === "time") return readTimes(assembler, segments, rowCount, doubles);
  return readField(assembler, column.column, segments, rowCount, doubles);
}

async function readTimes(assembler: Assembler, segments: readonly Segment[], rowCount: number, doubles?: DoublesMaker): Promise<Vector> {
  return concatPieces(
    await readInterleaved(assembler.sources, segments, (source, ranges) => source.times(ranges)),
    rowCount,
    assembler.timeType,
    doubles,
  );
}

async function readField(
  assembler: Assembler,
  column: ScanColumn,
  segments: readonly Segment[],
  rowCount: number,
  doubles?: DoublesMaker,
): Promise<Vector> {
  return concatPieces(
    await readInterleaved(assembler.sources, segments, (source, ranges) => source.column(column, ranges)),
    rowCount,
    column.type,
    doubles,
  );
}

/** The tag of each row. */
export function tagVector(
  { tags, dictionaries }: Pick<Assembler, "tags" | "dictionaries">,
  position: number,
  runs: SeriesRuns,
  rowCount: number,
): DictionaryVector {
  const codes = new Uint32Array(rowCount);
  const own = dictionaries.get(position);
  const codeOf = tags.codesAt(position);
  for (let run = 0; run < runs.series.length; run++) {
    const code = codeOf[runs.series[run] as number] as number;
    codes.fill(own === undefined ? code : own.codeOf(code), runs.starts[run], runs.starts[run + 1]);
  }
  return { kind: "dictionary", codes, dictionary: own?.texts ?? tags.dictionaryAt(position) };
}
