/**
 * Quantiles of weighted numbers in bounded memory: a t-digest (Dunning, Ertl: "Computing extremely accurate quantiles using t-digests").
 *
 * Numbers wait in a buffer. When it is full they are merged, in order, with the centroids that there are: neighbours become one while the
 * weight up to their end stays below the next step of the scale q(k) = 2 (k/d)^2 up to the middle and its mirror image above, so that
 * centroids are small at both ends. At most d + 1 centroids are left.
 */

/** Numbers that wait. */
const BUFFER_MAX = 8192;

/** About what a digest, a centroid and a number that waits take, bytes. */
const DIGEST_BYTES = 256;
const CENTROID_BYTES = 16;
const WAITING_BYTES = 48;

/** Centroids unless a call says. */
export const CENTROIDS_DEFAULT = 100;

/** A growing digest. Weights are above 0. */
export class TDigest {
  private readonly size: number;
  private means: number[] = [];
  private weights: number[] = [];
  private waiting: { value: number; weight: number }[] = [];
  private total = 0;
  private low = Number.NaN;
  private high = Number.NEGATIVE_INFINITY;

  /** @param size the d of the scale: about how many centroids are kept, at least 1 */
  constructor(size: number) {
    this.size = size;
  }

  /** Bytes held, about. */
  get heldBytes(): number {
    return DIGEST_BYTES + this.means.length * CENTROID_BYTES + this.waiting.length * WAITING_BYTES;
  }

  add(value: number, weight: number): void {
    this.waiting.push({ value, weight });
    if (this.waiting.length >= BUFFER_MAX) this.merge();
  }

  /** The value below which `portion` (0..1) of the weight lies; undefined when nothing was added. */
  quantile(portion: number): number | undefined {
    this.merge();
    const last = this.means.length - 1;
    if (last < 0) return undefined;
    if (portion >= 1) return this.high;
    if (portion <= 0) return this.low;
    const rank = portion * this.total;
    const { at, before } = portion > 0.5 ? this.fromAbove(rank) : this.fromBelow(rank);
    const mean = this.means[at] as number;
    if (last === 0) return this.clamped(mean, this.low, this.high);
    const [left, right] = [this.means[at - 1], this.means[at + 1]];
    const [min, max] = [left ?? this.low, right ?? this.high];
    const step = left === undefined ? (right ?? mean) - mean : right === undefined ? mean - left : (right - left) / 2;
    return this.clamped(mean + ((rank - before) / (this.weights[at] ?? 1) - 0.5) * step, min, max);
  }

  /** The centroid that holds a rank, and the weight before it, counted from the low end. */
  private fromBelow(rank: number): { readonly at: number; readonly before: number } {
    let before = 0;
    for (const [at, weight] of this.weights.entries()) {
      if (rank < before + weight) return { at, before };
      before += weight;
    }
    return { at: this.weights.length - 1, before };
  }

  /** The same from the high end, where the small differences are then exact. */
  private fromAbove(rank: number): { readonly at: number; readonly before: number } {
    let before = this.total;
    for (let at = this.weights.length - 1; at >= 0; at--) {
      before -= this.weights[at] as number;
      if (rank >= before) return { at, before };
    }
    return { at: 0, before };
  }

  private clamped(value: number, low: number, high: number): number {
    return Math.min(Math.max(value, low), high);
  }

  private merge(): void {
    if (this.waiting.length === 0) return;
    const all = [...this.means.map((value, i) => ({ value, weight: this.weights[i] as number })), ...this.waiting];
    all.sort((a, b) => a.value - b.value || (Number.isNaN(a.value) ? 1 : 0) - (Number.isNaN(b.value) ? 1 : 0));
    for (const { value, weight } of this.waiting) {
      this.total += weight;
      // NaN is above every number.
      if (value < this.low || Number.isNaN(this.low)) this.low = value;
      if (value > this.high || Number.isNaN(value)) this.high = value;
    }
    this.waiting = [];
    this.means = [];
    this.weights = [];
    this.compress(all);
  }

  private compress(all: readonly { readonly value: number; readonly weight: number }[]): void {
    let [sum, weight, reached, step] = [0, 0, 0, 1];
    let limit = this.weightAt(step);
    for (const next of all) {
      reached += next.weight;
      if (weight > 0 && reached > limit) {
        this.keep(sum, weight);
        [sum, weight] = [0, 0];
        step++;
        limit = this.weightAt(step);
      }
      sum += next.value * next.weight;
      weight += next.weight;
    }
    this.keep(sum, weight);
  }

  private keep(sum: number, weight: number): void {
    this.means.push(sum / weight);
    this.weights.push(weight);
  }

  /** Weight up to step k of the scale. */
  private weightAt(step: number): number {
    const part = step / this.size;
    return (part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) * (1 - part)) * this.total;
  }
}
