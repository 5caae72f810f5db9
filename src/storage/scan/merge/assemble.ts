/**
 * Segments of rows in, batches out: reads the wanted columns of each segment and joins them.
 */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { DictionaryVector, Vector } from "../../../column/vector.ts";
import type { RowTest, ScanBatch, ScanMetrics } from "../../../table/scan.ts";
import type { MergeMode } from "../../../table/schema.ts";
import type { BatchArrays } from "./batch-arrays.ts";
import { concatPieces, type DoublesMaker } from "./concat.ts";
import { readInterleaved } from "./interleave.ts";
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
  readonly timeColumnId: number;
  /** What times of runs count from. */
  readonly base: bigint;
  readonly mergeMode: MergeMode;
  /** Rows that do not pass need not be in batches of runs that stand alone. */
  readonly tests: readonly RowTest[];
  readonly metrics: ScanMetrics | undefined;
  /** Places in the output that only tests read. */
  readonly unread: ReadonlySet<number>;
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
  doubles?: DoublesMaker,
): Promise<Vector> | Vector {
  if (column.kind === "tag") return tagVector(assembler, column.position, runs, rowCount);
  if (column.kind === "time") return readTimes(assembler, segments, rowCount, doubles);
  return readField(assembler, column.column, segments, rowCount, doubles);
}

/** Times of the rows of `segments`, which are joined. */
export async function readTimes(
  assembler: Assembler,
  segments: readonly Segment[],
  rowCount: number,
  doubles?: DoublesMaker,
): Promise<Vector> {
  return concatPieces(
    await readInterleaved(assembler.sources, segments, (source, ranges) => source.times(ranges)),
    rowCount,
    assembler.timeType,
    doubles,
  );
}

/** A field of the rows of `segments`, which are joined. */
export async function readField(
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
