/**
 * Rows that pass the tests of a scan, found before its other columns are read: of a query for one row in ten nine tenths of what a scan
 * would join are never touched, and pages without such a row are not even read.
 *
 *   rows of a page ─► columns of a test ─► those that pass ─► columns of the next test, of these rows ─► … ─► the other columns of what is left
 *
 * Rows that pass are gathered from several pages until they make a batch, unless most of a page pass: those go out at once.
 */
import type { Batch } from "../../../column/batch.ts";
import { takeRows } from "../../../column/take-rows.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ScanBatch } from "../../../table/scan.ts";
import type { Piece } from "../runs/scan-source.ts";
import { type Assembler, joinNeighbours, readColumn, runsOf, type Segment } from "./assemble.ts";
import { columnOfRows, placeRows, type SingleRows } from "./assemble-rows.ts";
import { concatPieces } from "./concat.ts";

/** Rows that are tested for one batch at most: the reader has a turn, also where none passes. */
const TESTED_ROWS = 65_536;
/** Rows that make a batch. */
const PASSED_ROWS = 8192;
/** Of more than one row in so many whole columns are read, and the rows taken from them. */
const FEW_SHARE = 4;

/** What passed of several pages. */
export class TestedRows {
  private readonly assembler: Assembler;
  /** Fields that tests read: what they read of rows that pass is kept. */
  private readonly places: readonly number[];
  private pieces: Piece[][] = [];
  private segments: Segment[] = [];
  /** Rows of `segments`. */
  private rowCount = 0;
  /** Positions of those that passed among them, in pieces. */
  private positions: Uint32Array[] = [];
  private count = 0;
  private tested = 0;

  constructor(assembler: Assembler) {
    this.assembler = assembler;
    const places = new Set(assembler.tests.flatMap(({ columns }) => columns));
    this.places = [...places].filter((place) => assembler.output[place]?.kind !== "tag");
    this.clear();
  }

  /** Tests the rows of `segments`. Returns the batches that are ready; they may be without rows. */
  async add(segments: readonly Segment[]): Promise<readonly ScanBatch[]> {
    const part = new PartRows(this.assembler, segments);
    for (const test of this.assembler.tests) {
      part.keep(await test.select(await part.batchOf(test.columns)));
      if (part.count === 0) break;
    }
    this.tested += part.rowCount;
    if (part.isFew) await this.hold(part);
    else {
      const before = this.count === 0 ? [] : [await this.take()];
      this.tested = 0;
      return [...before, await part.batch()];
    }
    return this.tested >= TESTED_ROWS || this.count >= PASSED_ROWS ? [await this.take()] : [];
  }

  /** What has gathered; undefined: nothing. */
  async rest(): Promise<ScanBatch | undefined> {
    return this.count === 0 ? undefined : await this.take();
  }

  private async hold(part: PartRows): Promise<void> {
    if (part.count === 0) return;
    for (const [i, place] of this.places.entries()) this.pieces[i]?.push({ vector: await part.vector(place), from: 0, to: part.count });
    this.positions.push(part.positions(this.rowCount));
    for (const segment of part.segments) this.segments.push(segment);
    this.rowCount += part.rowCount;
    this.count += part.count;
  }

  private clear(): void {
    this.pieces = this.places.map(() => []);
    this.segments = [];
    this.positions = [];
    this.rowCount = 0;
    this.count = 0;
    this.tested = 0;
  }

  private async take(): Promise<ScanBatch> {
    const { assembler, segments, positions, count, pieces, places } = this;
    this.clear();
    const rows = placeRows(segments, joined(positions, count), assembler.sources.length);
    const vectors: Vector[] = [];
    for (const [place, column] of assembler.output.entries()) {
      const known = column.kind === "tag" || count === 0 ? -1 : places.indexOf(place);
      const type = column.kind === "field" ? column.column.type : assembler.timeType;
      vectors.push(known < 0 ? await columnOfRows(assembler, column, rows) : concatPieces(pieces[known] as Piece[], count, type));
    }
    return { rowCount: count, vectors, runs: rows.runs, isTested: true };
  }
}

function joined(parts: readonly Uint32Array[], count: number): Uint32Array {
  const all = new Uint32Array(count);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Rows of some segments while they are tested. */
class PartRows {
  readonly segments: readonly Segment[];
  readonly rowCount: number;
  /** Rows that passed so far. */
  count: number;
  private readonly assembler: Assembler;
  private readonly joined: readonly Segment[];
  private readonly runs: ScanBatch["runs"];
  /** Positions of these rows; undefined: all. */
  private selected: Uint32Array | undefined;
  private rows: SingleRows | undefined;
  /** By place: all rows of a column, and those that passed. */
  private readonly whole: Vector[] = [];
  private passed: Vector[] = [];

  constructor(assembler: Assembler, segments: readonly Segment[]) {
    this.assembler = assembler;
    this.segments = segments;
    this.joined = joinNeighbours(segments);
    this.runs = runsOf(segments);
    this.rowCount = this.runs.starts.at(-1) ?? 0;
    this.count = this.rowCount;
  }

  /** Whether single rows are read rather than whole columns. */
  get isFew(): boolean {
    return this.count * FEW_SHARE <= this.rowCount;
  }

  /** The rows that passed so far, in the columns at some places. */
  async batchOf(places: readonly number[]): Promise<Batch> {
    const vectors: Vector[] = [];
    for (const place of places) vectors.push(await this.vector(place));
    return { rowCount: this.count, vectors };
  }

  /** A column of the rows that passed so far. */
  async vector(place: number): Promise<Vector> {
    const { selected } = this;
    if (selected === undefined) return await this.wholeColumn(place);
    const known = this.passed[place];
    if (known !== undefined) return known;
    const whole = this.whole[place] ?? (this.isFew ? undefined : await this.wholeColumn(place));
    const column = this.assembler.output[place];
    if (column === undefined) throw new Error(`a test reads columns of the projection; got place ${place}`);
    const vector = whole === undefined ? await columnOfRows(this.assembler, column, this.placed()) : takeRows(whole, selected);
    this.passed[place] = vector;
    return vector;
  }

  private async wholeColumn(place: number): Promise<Vector> {
    const known = this.whole[place];
    if (known !== undefined) return known;
    const column = this.assembler.output[place];
    if (column === undefined) throw new Error(`a test reads columns of the projection; got place ${place}`);
    const vector = await readColumn(this.assembler, column, this.joined, this.rowCount, this.runs);
    this.whole[place] = vector;
    return vector;
  }

  private placed(): SingleRows {
    this.rows ??= placeRows(this.segments, this.positions(0), this.assembler.sources.length);
    return this.rows;
  }

  /** Of the rows that passed so far those at `positions` are kept; undefined: all. */
  keep(positions: Uint32Array | undefined): void {
    if (positions === undefined || positions.length === this.count) return;
    const { selected } = this;
    const kept = positions.slice();
    if (selected !== undefined) for (let i = 0; i < kept.length; i++) kept[i] = selected[kept[i] as number] as number;
    const passed: Vector[] = [];
    if (kept.length > 0) for (const [place, vector] of this.passed.entries()) if (vector !== undefined) passed[place] = takeRows(vector, positions);
    this.passed = passed;
    this.selected = kept;
    this.count = kept.length;
    this.rows = undefined;
  }

  /** Where the rows that passed are among all, counted from `base`. */
  positions(base: number): Uint32Array {
    const { selected, rowCount } = this;
    const positions = selected?.slice() ?? new Uint32Array(rowCount);
    if (selected === undefined) for (let row = 0; row < rowCount; row++) positions[row] = row + base;
    else if (base > 0) for (let i = 0; i < positions.length; i++) positions[i] = (positions[i] as number) + base;
    return positions;
  }

  /** All columns of the rows that passed. */
  async batch(): Promise<ScanBatch> {
    const vectors: Vector[] = [];
    for (const place of this.assembler.output.keys()) vectors.push(await this.vector(place));
    const runs = this.selected === undefined ? this.runs : this.placed().runs;
    return { rowCount: this.count, vectors, runs, isTested: true };
  }
}
