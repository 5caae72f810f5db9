/**
 * Which series have a tag value: for each tag column that a query has asked by value, a list of series a code.
 *
 *   heads[code] ─► newest series with it ─► next[series] ─► the one before ─► … ─► none
 *
 * Made when a column is first asked for and extended by the series that came since: 4 B a series and 8 B a value, nothing while rows are
 * written.
 */
import { longer } from "../../base/bytes/longer-array.ts";

const NONE = 0xffff_ffff;

/** See the file header. */
export class TagPostings {
  private heads: Uint32Array = new Uint32Array(0);
  private counts: Uint32Array = new Uint32Array(0);
  private next: Uint32Array = new Uint32Array(0);
  private listed = 0;

  /** Takes in series below `count`, whose codes are `codes`; codes are below `codeCount`. */
  extend(codes: Uint32Array, count: number, codeCount: number): void {
    if (this.heads.length < codeCount) {
      this.heads = longer(this.heads, codeCount).fill(NONE, this.heads.length);
      this.counts = longer(this.counts, codeCount);
    }
    if (this.next.length < count) this.next = longer(this.next, count);
    const { heads, counts, next } = this;
    for (let series = this.listed; series < count; series++) {
      const code = codes[series] as number;
      next[series] = heads[code] as number;
      heads[code] = series;
      counts[code] = (counts[code] as number) + 1;
    }
    this.listed = Math.max(this.listed, count);
  }

  /** Series with a code. */
  countOf(code: number): number {
    return this.counts[code] ?? 0;
  }

  /** Writes the series with a code to `into` from `at` on, the newest first, and returns the position behind them. */
  list(code: number, into: Uint32Array, at: number): number {
    const { next } = this;
    let to = at;
    for (let series = this.heads[code] ?? NONE; series !== NONE; series = next[series] as number) into[to++] = series;
    return to;
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.heads.byteLength + this.counts.byteLength + this.next.byteLength;
  }
}
