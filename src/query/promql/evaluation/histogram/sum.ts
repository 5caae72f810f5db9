/**
 * Sums and means of histograms. What a sum of floats loses is kept beside it, as for numbers (Neumaier 1974).
 *
 *   main   counts as they were added up      ┐ of the same buckets
 *   lost   what rounding took from each      ┘
 *
 * The sum of observations alone may cancel out, and folds of windows are merged in another order than that of time: of it also what the
 * sum of the losses loses is kept (Klein 2006).
 */
import type { NativeHistogram } from "../series-source.ts";
import { scaled } from "./arithmetic.ts";
import { bytesOfHistogram } from "./bytes.ts";
import { hintBit, hintOfBits, isCollision } from "./hints.ts";
import { add, addCompensated, compacted, copied, emptied, grown, largestOf, quotients, type Spans } from "./kernels/spans.ts";
import { commonTerms, haveSameBounds, inTerms, isCustom } from "./terms.ts";

/** A power of two by which sums beyond the largest number are kept smaller, for means. */
const SCALE: number = 2 ** -64;

type Part = { -readonly [Key in Exclude<keyof NativeHistogram, "resetHint">]: NativeHistogram[Key] };

/** Grows by histograms; owns its arrays. */
export class HistogramSum {
  /** How many it is made of. */
  size = 0;
  /** One had custom bounds and another had not: there is no sum. */
  isMixed = false;
  wereBoundsReconciled = false;
  private bits = 0;
  private parts: { main: Part; lost: Part } | undefined;
  private readonly isMean: boolean;
  private scale = 1;
  /** No count of the sum is larger. */
  private bound = 0;
  /** What the loss of the sum of observations lost. */
  private sumRest = 0;

  /** @param isMean it will be asked for the mean, which is finite where the sum is not */
  constructor(isMean: boolean) {
    this.isMean = isMean;
  }

  /** Bytes that it holds. */
  get bytes(): number {
    return this.parts === undefined ? 0 : 2 * bytesOfHistogram(this.parts.main);
  }

  /** Whether some of it were reset and others were not. */
  get doHintsCollide(): boolean {
    return isCollision(this.bits);
  }

  add(histogram: NativeHistogram): void {
    this.size++;
    this.bits |= hintBit(histogram);
    if (this.isMean) this.keepFinite(largestCount(histogram));
    this.take(this.scale === 1 ? histogram : scaled(histogram, this.scale), undefined);
  }

  /** Adds what another sum holds, which stays as it is. */
  merge(other: HistogramSum): void {
    this.size += other.size;
    this.bits |= other.bits;
    this.isMixed ||= other.isMixed;
    this.wereBoundsReconciled ||= other.wereBoundsReconciled;
    if (other.parts === undefined) return;
    if (other.scale < this.scale) this.shrink();
    this.sumRest += other.sumRest * (this.scale / other.scale);
    if (this.isMean) this.keepFinite(other.bound / other.scale);
    const { main, lost } = other.parts;
    if (this.scale === other.scale) this.take(main, lost);
    else this.take(scaledPart(main, this.scale), scaledPart(lost, this.scale));
  }

  clone(): HistogramSum {
    const copy = new HistogramSum(this.isMean);
    copy.size = this.size;
    copy.isMixed = this.isMixed;
    copy.wereBoundsReconciled = this.wereBoundsReconciled;
    copy.bits = this.bits;
    copy.scale = this.scale;
    copy.bound = this.bound;
    copy.sumRest = this.sumRest;
    if (this.parts !== undefined) copy.parts = { main: copyOf(this.parts.main), lost: copyOf(this.parts.lost) };
    return copy;
  }

  /** The sum, or the mean; undefined: there is none. */
  result(): NativeHistogram | undefined {
    if (this.isMixed || this.parts === undefined) return undefined;
    const { main, lost } = this.parts;
    const { scale } = this;
    const divisor = this.isMean ? this.size : 1;
    // Each part alone: what they are together may be beyond the largest number.
    const whole = (value: number, loss: number): number => (value / divisor + loss / divisor) / scale;
    const side = (spans: Spans, losses: Spans): Spans => {
      const result = quotients(spans, divisor);
      add(result, losses, 1 / divisor);
      return compacted(scale === 1 ? result : quotients(result, scale));
    };
    return {
      schema: main.schema,
      zeroThreshold: main.zeroThreshold,
      customValues: main.customValues,
      count: whole(main.count, lost.count),
      sum: whole(main.sum, lost.sum) + this.sumRest / divisor / scale,
      zeroCount: whole(main.zeroCount, lost.zeroCount),
      positiveSpans: side(main.positiveSpans, lost.positiveSpans),
      negativeSpans: side(main.negativeSpans, lost.negativeSpans),
      resetHint: hintOfBits(this.bits),
    };
  }

  /** Makes all smaller before a count would be beyond the largest number. */
  private keepFinite(more: number): void {
    if (this.scale === 1 && this.bound + more > Number.MAX_VALUE / 2) this.shrink();
    this.bound += more * this.scale;
  }

  private shrink(): void {
    this.scale = SCALE;
    this.bound *= SCALE;
    this.sumRest *= SCALE;
    if (this.parts === undefined) return;
    this.parts = { main: scaledPart(this.parts.main, SCALE), lost: scaledPart(this.parts.lost, SCALE) };
  }

  private take(histogram: Part, loss: Part | undefined): void {
    this.parts ??= { main: nothingOf(histogram), lost: nothingOf(histogram) };
    const { main, lost } = this.parts;
    const terms = commonTerms(main, histogram);
    if (terms === undefined) {
      this.isMixed = true;
      return;
    }
    if (isCustom(terms) && !haveSameBounds(main, histogram)) this.wereBoundsReconciled = true;
    const other = inTerms(histogram, terms);
    const otherLoss = loss === undefined ? undefined : inTerms(loss, terms);
    const wide = { main: inTerms(main, terms), lost: inTerms(lost, terms) };
    this.parts = wide;
    widen(wide, "positiveSpans", other);
    widen(wide, "negativeSpans", other);
    for (const side of ["positiveSpans", "negativeSpans"] as const) {
      addCompensated(wide.main[side], wide.lost[side], other[side], 1);
      if (otherLoss !== undefined) add(wide.lost[side], otherLoss[side], 1);
    }
    for (const scalar of ["count", "zeroCount"] as const) {
      const { sum, loss: lost } = added(wide.main[scalar], other[scalar]);
      wide.main[scalar] = sum;
      wide.lost[scalar] = Number.isFinite(sum) ? wide.lost[scalar] + lost + (otherLoss?.[scalar] ?? 0) : 0;
    }
    const { sum, loss: lostOfSum } = added(wide.main.sum, other.sum);
    wide.main.sum = sum;
    for (const value of [lostOfSum, otherLoss?.sum ?? 0]) {
      const { sum: losses, loss: rest } = added(wide.lost.sum, value);
      wide.lost.sum = losses;
      this.sumRest += rest;
    }
    if (!Number.isFinite(sum)) wide.lost.sum = this.sumRest = 0;
  }
}

/** The sum of two numbers, and what it loses. */
function added(a: number, b: number): { sum: number; loss: number } {
  const sum = a + b;
  if (!Number.isFinite(sum)) return { sum, loss: 0 };
  return { sum, loss: Math.abs(a) >= Math.abs(b) ? a - sum + b : b - sum + a };
}

/** Gives both parts the buckets of each other and of `other`. */
function widen({ main, lost }: { main: Part; lost: Part }, side: "positiveSpans" | "negativeSpans", other: Part): void {
  main[side] = grown(grown(main[side], other[side]), lost[side]);
  lost[side] = grown(lost[side], main[side]);
}

function nothingOf(histogram: Part): Part {
  const { schema, zeroThreshold, customValues, positiveSpans, negativeSpans } = histogram;
  const sides = { positiveSpans: emptied(positiveSpans), negativeSpans: emptied(negativeSpans) };
  return { schema, zeroThreshold, customValues, zeroCount: 0, count: 0, sum: 0, ...sides };
}

function copyOf(part: Part): Part {
  return { ...part, positiveSpans: copied(part.positiveSpans), negativeSpans: copied(part.negativeSpans) };
}

function scaledPart(part: Part, factor: number): Part {
  return scaled({ ...part, resetHint: "unknown" }, factor);
}

/** The largest finite size of a count, or of the sum. */
function largestCount({ count, sum, zeroCount, positiveSpans, negativeSpans }: NativeHistogram): number {
  let largest = Math.max(largestOf(positiveSpans), largestOf(negativeSpans));
  for (const value of [count, sum, zeroCount]) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
  return largest;
}
