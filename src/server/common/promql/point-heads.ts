/** What stands before the values of points, `,[t,"`: printed once for the steps of an answer. */
import { HEAD_BYTES, type Heads, isShortTime, newHeads, setHead } from "./kernels/points.ts";
import { timeJson } from "./value-text.ts";

/** Steps whose heads are kept, at least so many as a block. Reason: 33 B each; beyond, they are printed for each series. */
const KEPT_MAX = 16_384;

const encoder = new TextEncoder();

/** See the file header. */
export class PointHeads {
  heads: Heads = newHeads(0);
  /** The step of head 0. */
  first = 0;
  private end = 0;
  readonly count: number;
  readonly millisOf: (step: number) => number;

  /** @param count of steps */
  constructor(count: number, millisOf: (step: number) => number) {
    this.count = count;
    this.millisOf = millisOf;
  }

  /** Has the heads of steps `[from, to)`, at most KEPT_MAX. */
  reach(from: number, to: number): void {
    if (from >= this.first && to <= this.end) return;
    this.first = this.count <= KEPT_MAX ? 0 : from;
    this.end = Math.min(this.count, this.first + KEPT_MAX);
    if (this.heads.lengths.length < this.end - this.first) this.heads = newHeads(this.end - this.first);
    for (let step = this.first; step < this.end; step++) this.print(step - this.first, this.millisOf(step));
  }

  private print(i: number, millis: number): void {
    if (isShortTime(millis)) return setHead(this.heads, i, millis);
    const { bytes, lengths } = this.heads;
    const room = bytes.subarray(i * HEAD_BYTES, (i + 1) * HEAD_BYTES);
    lengths[i] = encoder.encodeInto(`,[${timeJson(millis)},"`, room).written;
  }
}
