/**
 * Single rows of a file out of its decoded pages: the newest rows of 4,000 series lie in a few hundred pages, one to a few dozen in each.
 *
 * Where they are the last rows of all series of the file, what was found is kept beside the pages: 4,000 rows of ten integers lie 540 B
 * apart, each a miss of the processor's cache (1.9 ms a query).
 */
import type { DataType } from "../../../column/data-type.ts";
import { halvesOf, moveHalves } from "../../../column/double-bits.ts";
import type { NumberArray, Vector } from "../../../column/vector.ts";
import type { ScanMetrics } from "../../../table/scan.ts";
import type { OpenSst } from "../../sst/read/open-sst.ts";
import { concatPieces, numberTarget } from "../merge/concat.ts";
import { takeRows } from "../../../column/take-rows.ts";
import type { Piece } from "../runs/scan-source.ts";

/** Rows `[from, to)` of a list lie in page `page`, whose first row is `start`. */
interface Range {
  readonly page: number;
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

/** A range with the values of its page. */
interface Filled extends Range {
  readonly vector: Vector;
}

/** Takes rows of one file, column by column. */
export class PageRows {
  private readonly file: OpenSst;
  private rows: Uint32Array = new Uint32Array(0);
  private ranges: readonly Range[] = [];
  /** Whether `rows` are the last rows of all runs. */
  private isLastRows = false;

  constructor(file: OpenSst) {
    this.file = file;
  }

  /** Values of `rows`, in their order; neighbours in the list should be neighbours in the file. The caller does not change the list. */
  async take(column: number, type: DataType, rows: Uint32Array, metrics: ScanMetrics | undefined): Promise<Vector> {
    if (rows !== this.rows) {
      this.isLastRows = areLastRows(this.file, rows);
      this.ranges = rangesOf(this.file, rows);
      this.rows = rows;
    }
    const kept = this.isLastRows ? this.file.lastRows(column) : undefined;
    if (kept !== undefined) return kept;
    const filled: Filled[] = [];
    for (const range of this.ranges) {
      const vector = this.file.pageAtHand(column, range.page) ?? (await this.file.page(column, range.page, metrics));
      filled.push({ ...range, vector });
    }
    const vector = joinFilled(filled, type, rows);
    if (this.isLastRows) this.file.keepLastRows(column, vector);
    return vector;
  }
}

function areLastRows({ index: { ends } }: OpenSst, rows: Uint32Array): boolean {
  if (rows.length !== ends.length) return false;
  for (let run = 0; run < ends.length; run++) if ((rows[run] as number) + 1 !== ends[run]) return false;
  return true;
}

function rangesOf(file: OpenSst, rows: Uint32Array): Range[] {
  const found: Range[] = [];
  for (let from = 0; from < rows.length; ) {
    const page = file.pageOf(rows[from] as number);
    const start = file.pageStarts[page] as number;
    const end = file.pageStarts[page + 1] as number;
    let to = from + 1;
    while (to < rows.length && (rows[to] as number) >= start && (rows[to] as number) < end) to++;
    found.push({ page, start, from, to });
    from = to;
  }
  return found;
}

function joinFilled(filled: readonly Filled[], type: DataType, rows: Uint32Array): Vector {
  const [first] = filled;
  if (first !== undefined && filled.every(isPlainNumbers)) {
    const values = numberTarget(filled, rows.length, type);
    for (const { vector, start, from, to } of filled) {
      if (vector.kind === "number") takeNumbers(vector.values, start, rows, from, to, values);
    }
    return { kind: "number", values, validity: undefined };
  }
  if (first?.vector.kind === "time") {
    const { base } = first.vector;
    const offsets = new Float64Array(rows.length);
    if (filled.every(({ vector }) => vector.kind === "time" && vector.base === base && vector.validity === undefined)) {
      for (const { vector, start, from, to } of filled) {
        if (vector.kind === "time") takeNumbers(vector.offsets, start, rows, from, to, offsets);
      }
      return { kind: "time", base, offsets, validity: undefined };
    }
  }
  const pieces = filled.map(({ vector, start, from, to }): Piece => {
    const picks = rows.slice(from, to);
    for (let i = 0; i < picks.length; i++) picks[i] = (picks[i] as number) - start;
    return { vector: takeRows(vector, picks), from: 0, to: to - from };
  });
  return concatPieces(pieces, rows.length, type);
}

function isPlainNumbers({ vector }: Filled): boolean {
  return vector.kind === "number" && vector.validity === undefined;
}

/** Writes values of `rows[from, to)`, which count from `start`, to the same places of `target`. A NaN keeps its bits. */
function takeNumbers(values: NumberArray, start: number, rows: Uint32Array, from: number, to: number, target: NumberArray): void {
  for (let i = from; i < to; i++) {
    const row = (rows[i] as number) - start;
    const value = values[row] as number;
    if (Number.isNaN(value) && values instanceof Float64Array && target instanceof Float64Array) {
      moveHalves(halvesOf(values), row, halvesOf(target), i);
    } else target[i] = value;
  }
}
