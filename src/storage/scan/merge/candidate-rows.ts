/** Rows while they are tested: columns are read as they are asked for, and only of rows that passed so far where that is less work. */
import type { Batch, SeriesRuns } from "../../../column/batch.ts";
import { takeRows } from "../../../column/take-rows.ts";
import { type DataType, STRING } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { RowTest, ScanBatch } from "../../../table/scan.ts";
import type { Assembler } from "./assemble.ts";
import { concatPieces } from "./concat.ts";

/** Of more than one row in so many whole columns are read, and the rows taken from them. */
const FEW_SHARE = 4;

/** Where columns of some rows come from; columns by their place in the output. */
export interface ColumnsOfRows {
  readonly rowCount: number;
  readonly runs: SeriesRuns;
  /** A column of all rows. */
  column(place: number): Promise<Vector>;
  /** The same where it is in memory; undefined: it is not, or not simply. */
  columnAtHand?(place: number): Vector | undefined;
  /** A column of the rows at `positions`, which are ascending and the same array for one column after the other; absent: taken from all. */
  columnAt?(place: number, positions: Uint32Array): Promise<Vector>;
}

/** See the file header. */
export class CandidateRows {
  /** Rows that passed so far. */
  count: number;
  private isTested = false;
  private readonly columns: ColumnsOfRows;
  /** Positions of these rows; undefined: all. */
  private selected: Uint32Array | undefined;
  /** By place: all rows of a column, and those that passed. */
  private readonly whole: (Vector | undefined)[] = [];
  private passed: (Vector | undefined)[] = [];

  constructor(columns: ColumnsOfRows) {
    this.columns = columns;
    this.count = columns.rowCount;
  }

  /** Whether one row in `FEW_SHARE` passed at most. */
  get isFew(): boolean {
    return this.count * FEW_SHARE <= this.columns.rowCount;
  }

  /** Leaves rows out that do not pass. */
  async test(tests: readonly RowTest[]): Promise<void> {
    this.isTested = tests.length > 0;
    for (const test of tests) {
      this.keep(await test.select(await this.batchOf(test.columns)));
      if (this.count === 0) return;
    }
  }

  private async batchOf(places: readonly number[]): Promise<Batch> {
    const vectors: Vector[] = [];
    for (const place of places) vectors.push(this.atHand(place) ?? (await this.column(place)));
    return { rowCount: this.count, vectors };
  }

  /**
   * As `column`, without waiting; undefined: it has to be read. Promises of a column of a page in memory take longer than a test of its
   * rows: a condition on five columns of 5M rows 19 ms with them, 15 without.
   */
  private atHand(place: number): Vector | undefined {
    const { selected, columns } = this;
    if (selected === undefined) return (this.whole[place] ??= columns.columnAtHand?.(place));
    const known = this.passed[place];
    if (known !== undefined) return known;
    if (this.whole[place] === undefined && this.isFew && columns.columnAt !== undefined) return undefined;
    const whole = (this.whole[place] ??= columns.columnAtHand?.(place));
    return whole === undefined ? undefined : (this.passed[place] = takeRows(whole, selected));
  }

  /** A column of the rows that passed so far. */
  async column(place: number): Promise<Vector> {
    const { selected, columns } = this;
    if (selected === undefined) return await this.wholeColumn(place);
    const known = this.passed[place];
    if (known !== undefined) return known;
    const some = this.whole[place] === undefined && this.isFew ? columns.columnAt?.(place, selected) : undefined;
    const vector = some === undefined ? takeRows(await this.wholeColumn(place), selected) : await some;
    this.passed[place] = vector;
    return vector;
  }

  private async wholeColumn(place: number): Promise<Vector> {
    const known = this.whole[place];
    if (known !== undefined) return known;
    const vector = await this.columns.column(place);
    this.whole[place] = vector;
    return vector;
  }

  /** Of the rows that passed so far those at `positions` are kept; undefined: all. */
  private keep(positions: Uint32Array | undefined): void {
    if (positions === undefined || positions.length === this.count) return;
    const { selected } = this;
    const kept = positions.slice();
    if (selected !== undefined) for (let i = 0; i < kept.length; i++) kept[i] = selected[kept[i] as number] as number;
    const passed: (Vector | undefined)[] = [];
    if (kept.length > 0) {
      for (const [place, vector] of this.passed.entries()) if (vector !== undefined) passed[place] = takeRows(vector, positions);
    }
    this.passed = passed;
    this.selected = kept;
    this.count = kept.length;
  }

  /** Where the rows that passed are among all, counted from `base`. */
  positions(base: number): Uint32Array {
    const { selected, count } = this;
    const positions = selected?.slice() ?? new Uint32Array(count);
    for (let i = 0; i < count; i++) positions[i] = (selected === undefined ? i : (positions[i] as number)) + base;
    return positions;
  }

  /** The rows that passed. Of no rows no column is read that no test has. */
  async batch({ output, unread }: Pick<Assembler, "output" | "unread">): Promise<ScanBatch> {
    const vectors: Vector[] = [];
    for (const [place, column] of output.entries()) {
      const isRead = this.count > 0 && (column.kind !== "field" || !unread.has(place));
      const whole = this.selected === undefined ? this.whole[place] : undefined;
      vectors.push(
        isRead ? await this.column(place) : (whole ?? nothing(this.count, column.kind === "field" ? column.column.type : STRING)),
      );
    }
    return { rowCount: this.count, vectors, runs: this.runs(), isTested: this.isTested };
  }

  private runs(): SeriesRuns {
    const { selected, columns } = this;
    return selected === undefined ? columns.runs : runsAt(columns.runs, selected);
  }
}

/** NULL in each row. */
export function nothing(rowCount: number, type: DataType): Vector {
  return concatPieces([{ vector: undefined, from: 0, to: rowCount }], rowCount, type);
}

/** The runs of the rows at `positions`. */
function runsAt({ starts, series }: SeriesRuns, positions: Uint32Array): SeriesRuns {
  const kept: number[] = [];
  const own: number[] = [];
  let at = 0;
  for (let run = 0; run < series.length && at < positions.length; run++) {
    const from = at;
    const end = starts[run + 1] as number;
    while (at < positions.length && (positions[at] as number) < end) at++;
    if (at === from) continue;
    kept.push(from);
    own.push(series[run] as number);
  }
  kept.push(positions.length);
  return { starts: Uint32Array.from(kept), series: Uint32Array.from(own) };
}
