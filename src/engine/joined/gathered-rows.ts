/**
 * Rows of several parts put together to batches: parts that take turns give a few rows each time, down to one, and whoever reads pays for
 * each batch.
 */
import { slice } from "../../column/slice.ts";
import type { DictionaryVector, Vector } from "../../column/vector.ts";
import { concatPieces } from "../../storage/scan/merge/concat.ts";
import type { ScanBatch } from "../../table/scan.ts";
import type { DataType } from "../../column/data-type.ts";
import { type JoinedSeries, ScannedTags } from "./joined-series.ts";
import type { RowsOfPart } from "./merged-runs.ts";

/** Rows of a batch. */
const ROWS = 8192;
/** Times of a batch are offsets from one base, which doubles hold exactly; those of a scan's batch are below 2^52. */
const BASES_APART_MAX = 2n ** 51n;
/** Rows that are worth a batch of their own: they are not copied. */
const OWN_ROWS = 1024;

/** See the file header. */
export class GatheredRows {
  /** Rows of them. */
  rowCount = 0;
  private readonly series: JoinedSeries;
  private readonly types: readonly DataType[];
  /** By place of columns that come as codes of a dictionary. */
  private readonly tags: (ScannedTags | undefined)[] = [];
  private pieces: RowsOfPart[] = [];

  /** @param types a place for each vector that is wanted; those behind them are left out */
  constructor(series: JoinedSeries, types: readonly DataType[]) {
    this.series = series;
    this.types = types;
  }

  /** Whether they are a batch, or are to be taken before some rows are added. */
  isFull(next?: RowsOfPart): boolean {
    if (this.rowCount >= ROWS) return true;
    const [first] = this.pieces;
    if (first === undefined) return false;
    if (next === undefined) return this.pieces.length === 1 && this.rowCount >= OWN_ROWS;
    return next.to - next.from >= OWN_ROWS || first.batch.isTested !== next.batch.isTested || !this.goTogether(first.batch, next.batch);
  }

  private goTogether(a: ScanBatch, b: ScanBatch): boolean {
    if (a === b) return true;
    for (let place = 0; place < this.types.length; place++) {
      const x = a.vectors[place];
      const y = b.vectors[place];
      if ((x?.kind === "dictionary") !== (y?.kind === "dictionary")) return false;
      if (x?.kind === "time" && y?.kind === "time" && areFar(x.base, y.base)) return false;
    }
    return true;
  }

  /** Adds rows, which have to stay valid until `taken`. */
  add(rows: RowsOfPart): void {
    this.pieces.push(rows);
    this.rowCount += rows.to - rows.from;
  }

  /** The rows as one batch, if there are some; none of them is left. */
  *taken(): Generator<ScanBatch> {
    const { pieces, rowCount } = this;
    this.pieces = [];
    this.rowCount = 0;
    const [first] = pieces;
    if (first === undefined) return;
    const { isTested } = first.batch;
    const vectors = this.types.map((type, place) => this.vectorOf(type, place, pieces, rowCount));
    const batch = { rowCount, vectors, runs: this.runsOf(pieces) };
    yield isTested === undefined ? batch : { ...batch, isTested };
  }

  private runsOf(pieces: readonly RowsOfPart[]): ScanBatch["runs"] {
    const starts: number[] = [];
    const numbers: number[] = [];
    let at = 0;
    for (const { part, batch, from, to, run: firstRun } of pieces) {
      const { starts: own, series } = batch.runs;
      for (let run = firstRun; run < series.length && (own[run] as number) < to; run++) {
        starts.push(at + Math.max(from, own[run] as number) - from);
        numbers.push(this.series.joinedNumber(part, series[run] as number));
      }
      at += to - from;
    }
    starts.push(at);
    return { starts: Uint32Array.from(starts), series: Uint32Array.from(numbers) };
  }

  private vectorOf(type: DataType, place: number, pieces: readonly RowsOfPart[], rowCount: number): Vector {
    const [first] = pieces;
    if (first?.batch.vectors[place]?.kind === "dictionary") return this.codesOf(place, pieces, rowCount);
    if (pieces.length === 1 && first !== undefined) return slice(first.batch.vectors[place] as Vector, first.from, first.to);
    return concatPieces(
      pieces.map(({ batch, from, to }) => ({ vector: batch.vectors[place], from, to })),
      rowCount,
      type,
    );
  }

  private codesOf(place: number, pieces: readonly RowsOfPart[], rowCount: number): Vector {
    const tags = this.tags[place] ?? new ScannedTags();
    this.tags[place] = tags;
    const codes = new Uint32Array(rowCount);
    let at = 0;
    for (const { batch, from, to } of pieces) {
      tags.code(batch.vectors[place] as DictionaryVector, from, to, codes.subarray(at));
      at += to - from;
    }
    return { kind: "dictionary", codes, dictionary: tags.dictionary };
  }
}

function areFar(a: bigint, b: bigint): boolean {
  if (a === b) return false;
  const apart = a - b;
  return apart > BASES_APART_MAX || apart < -BASES_APART_MAX;
}
