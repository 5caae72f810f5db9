/**
 * Single rows in, batches out: the newest row of each series, or the rows that passed tests. What `assemble.ts` does with ranges of
 * rows, without an object a row.
 */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ScanBatch } from "../../../table/scan.ts";
import type { Assembler, OutputColumn, Segment } from "./assemble.ts";
import { concatPieces } from "./concat.ts";
import { onlySourceOf } from "./interleave.ts";
import { takeRows } from "../../../column/take-rows.ts";
import type { Piece, ScanSource } from "../runs/scan-source.ts";

/** Rows of several sources. */
export interface SingleRows {
  /** Series of each row, by the table's numbers. */
  readonly series: Uint32Array;
  readonly runs: SeriesRuns;
  readonly parts: readonly RowsOfSource[];
  /** Place of each row among those of all parts, one after another; absent: that is their order. */
  readonly places?: Uint32Array | undefined;
}

/** Rows of one source, by their numbers in it, in the order of its rows. */
export interface RowsOfSource {
  readonly source: number;
  readonly rows: Uint32Array;
}

/** A batch of rows of different series, which are in the order of the parts. */
export function assembleNewest(assembler: Assembler, series: Uint32Array, parts: readonly RowsOfSource[]): Promise<ScanBatch> {
  const starts = new Uint32Array(series.length + 1);
  for (let row = 0; row < starts.length; row++) starts[row] = row;
  return assembleRows(assembler, { series, runs: { starts, series }, parts });
}

/** Where the rows at some positions of the segments are: source by source, since each is asked once for all of its rows. */
export function placeRows(segments: readonly Segment[], selected: Uint32Array, sourceCount: number): SingleRows {
  const count = selected.length;
  const single = onlySourceOf(segments);
  const series = new Uint32Array(count);
  const rows = new Uint32Array(count);
  const sources = new Uint16Array(single === undefined ? count : 0);
  const countOf = new Uint32Array(single === undefined ? sourceCount : 0);
  const runStarts: number[] = [];
  const runSeries: number[] = [];
  let at = 0;
  let segmentStart = 0;
  for (const segment of segments) {
    const segmentEnd = segmentStart + segment.end - segment.start;
    const from = at;
    const shift = segment.start - segmentStart;
    for (; at < count && (selected[at] as number) < segmentEnd; at++) {
      rows[at] = (selected[at] as number) + shift;
      series[at] = segment.series;
      if (single === undefined) sources[at] = segment.source;
    }
    if (at > from) {
      // Rows of a segment that follows in the same source are later, so the run may as well begin anew.
      runStarts.push(from);
      runSeries.push(segment.series);
      if (single === undefined) countOf[segment.source] = (countOf[segment.source] as number) + at - from;
    }
    segmentStart = segmentEnd;
  }
  runStarts.push(count);
  const runs = { starts: Uint32Array.from(runStarts), series: Uint32Array.from(runSeries) };
  const only = single ?? countOf.findIndex((own) => own === count);
  if (only >= 0) return { series, runs, parts: [{ source: only, rows }] };
  const parts: { source: number; rows: Uint32Array }[] = [];
  const next = new Uint32Array(sourceCount);
  const byPart = new Uint32Array(count);
  for (let source = 0, start = 0; source < sourceCount; source++) {
    const own = countOf[source] as number;
    next[source] = start;
    if (own > 0) parts.push({ source, rows: byPart.subarray(start, start + own) });
    start += own;
  }
  const places = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const source = sources[i] as number;
    const place = next[source] as number;
    next[source] = place + 1;
    byPart[place] = rows[i] as number;
    places[i] = place;
  }
  return { series, runs, parts, places };
}

async function assembleRows(assembler: Assembler, rows: SingleRows): Promise<ScanBatch> {
  const vectors: Vector[] = [];
  for (const column of assembler.output) {
    vectors.push(await columnOfRows(assembler, column, rows));
  }
  return { rowCount: rows.series.length, vectors, runs: rows.runs };
}

/** A column of single rows. */
export async function columnOfRows(assembler: Assembler, column: OutputColumn, rows: SingleRows): Promise<Vector> {
  return column.kind === "tag" ? tagsOf(assembler, column.position, rows.series) : await valuesOf(assembler, column, rows);
}

async function valuesOf(
  { sources, timeType }: Assembler,
  column: Exclude<OutputColumn, { kind: "tag" }>,
  { series, parts, places }: SingleRows,
): Promise<Vector> {
  const pieces: Piece[] = [];
  for (const { source, rows } of parts) {
    const from = sources[source] as ScanSource;
    const vector = column.kind === "time" ? await from.timesAt(rows) : await from.columnAt(column.column, rows);
    pieces.push({ vector, from: 0, to: rows.length });
  }
  const joined = concatPieces(pieces, series.length, column.kind === "time" ? timeType : column.column.type);
  return places === undefined ? joined : takeRows(joined, places);
}

function tagsOf({ tags, dictionaries }: Assembler, position: number, series: Uint32Array): Vector {
  const codes = new Uint32Array(series.length);
  const own = dictionaries.get(position);
  const codeOf = tags.codesAt(position);
  if (own === undefined) for (let row = 0; row < codes.length; row++) codes[row] = codeOf[series[row] as number] as number;
  else for (let row = 0; row < codes.length; row++) codes[row] = own.codeOf(codeOf[series[row] as number] as number);
  return { kind: "dictionary", codes, dictionary: own?.texts ?? tags.dictionaryAt(position) };
}
