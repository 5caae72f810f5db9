/**
 * Single rows in, batches out: the newest row of each series. What `assemble.ts` does with stretches of rows, without an object a row.
 */
import type { Vector } from "../../column/vector.ts";
import type { ScanBatch } from "../../table/scan.ts";
import type { Assembler, OutputColumn } from "./assemble.ts";
import { concatPieces } from "./concat.ts";
import type { Piece, ScanSource } from "./scan-source.ts";

/** Rows of several sources: those of one stand together. */
export interface SingleRows {
  /** Series of each row, all different, by the table's numbers. */
  readonly series: Uint32Array;
  readonly parts: readonly RowsOfSource[];
}

/** Rows of one source, by their numbers in it, in the order of its rows. */
export interface RowsOfSource {
  readonly source: number;
  readonly rows: Uint32Array;
}

/** A batch of the rows, each of them a run. */
export async function assembleRows(assembler: Assembler, { series, parts }: SingleRows): Promise<ScanBatch> {
  const rowCount = series.length;
  const starts = new Uint32Array(rowCount + 1);
  for (let row = 0; row <= rowCount; row++) starts[row] = row;
  const vectors: Vector[] = [];
  for (const column of assembler.output) {
    vectors.push(column.kind === "tag" ? tagsOf(assembler, column.position, series) : await valuesOf(assembler, column, parts, rowCount));
  }
  return { rowCount, vectors, runs: { starts, series } };
}

async function valuesOf(
  { sources, timeType }: Assembler,
  column: Exclude<OutputColumn, { kind: "tag" }>,
  parts: readonly RowsOfSource[],
  rowCount: number,
): Promise<Vector> {
  const pieces: Piece[] = [];
  for (const { source, rows } of parts) {
    const from = sources[source] as ScanSource;
    const vector = column.kind === "time" ? await from.timesAt(rows) : await from.columnAt(column.column, rows);
    pieces.push({ vector, from: 0, to: rows.length });
  }
  return concatPieces(pieces, rowCount, column.kind === "time" ? timeType : column.column.type);
}

function tagsOf({ tags, dictionaries }: Assembler, position: number, series: Uint32Array): Vector {
  const codes = new Uint32Array(series.length);
  const own = dictionaries.get(position);
  const codeOf = tags.codesAt(position);
  if (own === undefined) for (let row = 0; row < codes.length; row++) codes[row] = codeOf[series[row] as number] as number;
  else for (let row = 0; row < codes.length; row++) codes[row] = own.codeOf(codeOf[series[row] as number] as number);
  return { kind: "dictionary", codes, dictionary: own?.texts ?? tags.dictionaryAt(position) };
}
