/**
 * Deleted ranges of time by series, within one 64-day group: what hides older rows.
 *
 *   series   [ 7        | 2 | 9     ]           each once, in any order
 *   ends     [ 3        | 4 | 6     ]           ranges of series i are [ends[i - 1] ?? 0, ends[i])
 *   firsts   [ 0  5  20 | 3 | 0  9  ]           inclusive on both ends, offsets from `base`; within a series ascending and apart
 *   lasts    [ 0  9  31 | 3 | 4  9  ]
 *
 * A single row is a range of one time, so a DELETE of a day of 4,000 series is 4,000 ranges. 16 B a range and 12 B a series.
 */
import { firstNumberFrom } from "../../base/bytes/binary-search.ts";
import { assert } from "../../base/assert.ts";

/** See the file header. Never changed once made. */
export class TombstoneSet {
  /** What times count from, in the unit of the time index. */
  readonly base: bigint;
  readonly series: Uint32Array;
  readonly ends: Uint32Array;
  readonly firsts: Float64Array;
  readonly lasts: Float64Array;
  /** Larger is newer; only where ranges of several ages were joined (`TombstoneBuilder`). */
  readonly ages: Uint32Array | undefined;
  /** Rows that were counted when they were deleted: for deciding what is worth a merge. Not exact. */
  readonly rowCount: number;
  private positions: Map<number, number> | undefined;

  constructor(parts: Pick<TombstoneSet, "base" | "series" | "ends" | "firsts" | "lasts" | "ages" | "rowCount">) {
    assert(parts.series.length === parts.ends.length, `an end a series; got ${parts.ends.length} of ${parts.series.length}`);
    assert((parts.ends.at(-1) ?? 0) === parts.firsts.length, `ranges end at ${parts.ends.at(-1)}; got ${parts.firsts.length}`);
    this.base = parts.base;
    this.series = parts.series;
    this.ends = parts.ends;
    this.firsts = parts.firsts;
    this.lasts = parts.lasts;
    this.ages = parts.ages;
    this.rowCount = parts.rowCount;
  }

  /** Number of ranges. */
  get count(): number {
    return this.firsts.length;
  }

  /** Position of a series in `series`, or -1 when nothing of it is deleted. */
  positionOf(series: number): number {
    this.positions ??= new Map(Array.from(this.series, (number, position) => [number, position] as const));
    return this.positions.get(series) ?? -1;
  }

  /** The first range of the series at `position` that does not end before `time`; `ends[position]` if there is none. */
  firstFrom(position: number, time: number): number {
    return firstNumberFrom(this.lasts, time, this.startOf(position), this.ends[position]!);
  }

  /** Index of the first range of the series at `position`. */
  startOf(position: number): number {
    return position === 0 ? 0 : this.ends[position - 1]!;
  }

  /** Oldest and newest deleted time as offsets; undefined when nothing is deleted. Inclusive. */
  range(): { readonly min: number; readonly max: number } | undefined {
    if (this.count === 0) return undefined;
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < this.count; i++) {
      if (this.firsts[i]! < min) min = this.firsts[i]!;
      if (this.lasts[i]! > max) max = this.lasts[i]!;
    }
    return { min, max };
  }

  /** The parts of the ranges within the spans, inclusive offsets; undefined when nothing is left. Spans may overlap. */
  within(spans: readonly { readonly min: number; readonly max: number }[]): TombstoneSet | undefined {
    const joined = joinSpans(spans);
    const series: number[] = [];
    const ends: number[] = [];
    const firsts: number[] = [];
    const lasts: number[] = [];
    for (let position = 0; position < this.series.length; position++) {
      const before = firsts.length;
      let span = 0; // Ranges ascend, so spans that end before one are over for the next.
      for (let i = this.startOf(position); i < this.ends[position]!; i++) {
        while (span < joined.length && joined[span]!.max < this.firsts[i]!) span++;
        for (let s = span; s < joined.length && joined[s]!.min <= this.lasts[i]!; s++) {
          firsts.push(Math.max(joined[s]!.min, this.firsts[i]!));
          lasts.push(Math.min(joined[s]!.max, this.lasts[i]!));
        }
      }
      if (firsts.length === before) continue;
      series.push(this.series[position]!);
      ends.push(firsts.length);
    }
    if (firsts.length === 0) return undefined;
    return new TombstoneSet({
      base: this.base,
      series: Uint32Array.from(series),
      ends: Uint32Array.from(ends),
      firsts: Float64Array.from(firsts),
      lasts: Float64Array.from(lasts),
      ages: undefined,
      rowCount: Math.ceil((this.rowCount * Math.min(firsts.length, this.count)) / this.count),
    });
  }
}

/** The same spans, ascending and apart. */
function joinSpans(spans: readonly { readonly min: number; readonly max: number }[]): { min: number; max: number }[] {
  const joined: { min: number; max: number }[] = [];
  for (const { min, max } of [...spans].sort((a, b) => a.min - b.min)) {
    const last = joined.at(-1);
    if (last !== undefined && min <= last.max + 1) last.max = Math.max(last.max, max);
    else if (min <= max) joined.push({ min, max });
  }
  return joined;
}
