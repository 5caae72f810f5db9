/**
 * Rows that pass the tests of a scan, found before its other columns are read: of a query for one row in ten nine tenths of what a scan
 * would join are never touched, and pages without such a row are not even read.
 *
 *   a page ─► columns of a test ─► rows that pass ─► columns of the next test, of these rows ─► … ─► the other columns of what is left
 *
 * Rows that pass are gathered from several pages until they make a batch, unless most of a page pass: those go out at once.
 */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ScanBatch } from "../../../table/scan.ts";
import type { Piece } from "../runs/scan-source.ts";
import { type Assembler, joinNeighbours, type OutputColumn, readColumn, runsOf, type Segment } from "./assemble.ts";
import { columnOfRows, placeRows, type SingleRows } from "./assemble-rows.ts";
import { CandidateRows, type ColumnsOfRows, nothing } from "./candidate-rows.ts";
import { concatPieces } from "./concat.ts";

/** Rows that are tested for one batch at most: the reader has a turn, also where none passes. */
const TESTED_ROWS = 65_536;
/** Rows that make a batch. */
const PASSED_ROWS = 8192;
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
    this.places = [...places].filter((place) => assembler.output[place]?.kind !== "tag" && !assembler.unread.has(place));
    this.clear();
  }

  /** Tests the rows of `segments`. Returns the batches that are ready; they may be without rows. */
  async add(segments: readonly Segment[]): Promise<readonly ScanBatch[]> {
    const { assembler } = this;
    const columns = new PartColumns(assembler, segments);
    const part = new CandidateRows(columns);
    await part.test(assembler.tests);
    this.tested += columns.rowCount;
    if (part.isFew) await this.hold(part, columns);
    else {
      const before = this.count === 0 ? [] : [await this.take()];
      this.tested = 0;
      return [...before, await part.batch(assembler)];
    }
    return this.tested >= TESTED_ROWS || this.count >= PASSED_ROWS ? [await this.take()] : [];
  }

  /** What has gathered; undefined: nothing. */
  async rest(): Promise<ScanBatch | undefined> {
    return this.count === 0 ? undefined : await this.take();
  }

  private async hold(part: CandidateRows, { segments, rowCount }: PartColumns): Promise<void> {
    if (part.count === 0) return;
    for (const [i, place] of this.places.entries()) this.pieces[i]?.push({ vector: await part.column(place), from: 0, to: part.count });
    this.positions.push(part.positions(this.rowCount));
    for (const segment of segments) this.segments.push(segment);
    this.rowCount += rowCount;
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

  /** What has gathered, as a batch, which may be without rows. */
  async take(): Promise<ScanBatch> {
    const { assembler, segments, positions, count, pieces, places } = this;
    this.clear();
    const rows = placeRows(segments, joined(positions, count), assembler.sources.length);
    const vectors: Vector[] = [];
    for (const [place, column] of assembler.output.entries()) {
      const type = column.kind === "field" ? column.column.type : assembler.timeType;
      if (column.kind === "field" && assembler.unread.has(place)) {
        vectors.push(nothing(count, type));
        continue;
      }
      const known = column.kind === "tag" || count === 0 ? -1 : places.indexOf(place);
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

/** Columns of some segments. */
class PartColumns implements ColumnsOfRows {
  readonly segments: readonly Segment[];
  readonly rowCount: number;
  readonly runs: SeriesRuns;
  private readonly assembler: Assembler;
  private readonly joined: readonly Segment[];
  private rows: SingleRows | undefined;
  private positions: Uint32Array | undefined;

  constructor(assembler: Assembler, segments: readonly Segment[]) {
    this.assembler = assembler;
    this.segments = segments;
    this.joined = joinNeighbours(segments);
    this.runs = runsOf(segments);
    this.rowCount = this.runs.starts.at(-1) ?? 0;
  }

  async column(place: number): Promise<Vector> {
    return await readColumn(this.assembler, this.outputAt(place), this.joined, this.rowCount, this.runs);
  }

  columnAtHand(place: number): Vector | undefined {
    const { assembler, joined, rowCount } = this;
    const [segment] = joined;
    const column = this.outputAt(place);
    const source = segment === undefined || joined.length > 1 ? undefined : assembler.sources[segment.source];
    if (segment === undefined || source === undefined || column.kind === "tag") return undefined;
    const isTime = column.kind === "time";
    const pieces = isTime ? source.timesAtHand(segment) : source.columnAtHand(column.column, segment);
    return pieces === undefined ? undefined : concatPieces(pieces, rowCount, isTime ? assembler.timeType : column.column.type);
  }

  async columnAt(place: number, positions: Uint32Array): Promise<Vector> {
    if (this.rows === undefined || this.positions !== positions) {
      this.rows = placeRows(this.segments, positions, this.assembler.sources.length);
      this.positions = positions;
    }
    return await columnOfRows(this.assembler, this.outputAt(place), this.rows);
  }

  private outputAt(place: number): OutputColumn {
    const column = this.assembler.output[place];
    if (column === undefined) throw new Error(`a test reads columns of the projection; got place ${place}`);
    return column;
  }
}
