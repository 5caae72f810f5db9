/**
 * The largest or smallest 64-bit integer of each group, as two words, without a bigint a row. 500,000 rows in 100,000 groups: 293 ms with
 * bigints in a `Map`, 53 so (sort.bench.ts).
 */
import { exactInteger } from "../../../column/exact-integer.ts";
import { grown } from "../../../base/bytes/longer-array.ts";

/** Bytes of a group's words and mark. */
const GROUP_BYTES = 9;

/** See the file header. */
export class WideExtremes {
  isEmpty = true;
  private high: Int32Array = new Int32Array(0);
  private low: Uint32Array = new Uint32Array(0);
  private has: Uint8Array = new Uint8Array(0);
  private readonly isLargest: boolean;
  /** What makes the order of high words signed. */
  private readonly flip: number;
  private readonly isSigned: boolean;

  constructor(isLargest: boolean, isSigned: boolean) {
    this.isLargest = isLargest;
    this.isSigned = isSigned;
    this.flip = isSigned ? 0 : 0x8000_0000 | 0;
  }

  /** Bytes that are held. */
  get bytesHeld(): number {
    return this.has.length * GROUP_BYTES;
  }

  /** Makes room for groups. */
  reach(groupCount: number): void {
    this.high = grown(this.high, groupCount);
    this.low = grown(this.low, groupCount);
    this.has = grown(this.has, groupCount);
  }

  /** Takes rows `[from, to)`: words, low half first; row i is of `groups[i]`, or all of `group`. */
  add(words: Int32Array, validity: Uint8Array | undefined, from: number, to: number, group: number, groups: Int32Array | undefined): void {
    const { high, low, has, flip, isLargest } = this;
    for (let i = from; i < to; i++) {
      if (validity !== undefined && validity[i] === 0) continue;
      const own = groups === undefined ? group : groups[i]!;
      const h = words[2 * i + 1]! ^ flip;
      const l = words[2 * i]! >>> 0;
      const best = high[own]!;
      if (has[own] !== 0 && (h === best ? l > low[own]! !== isLargest : h > best !== isLargest)) continue;
      high[own] = h;
      low[own] = l;
      has[own] = 1;
      this.isEmpty = false;
    }
  }

  /** The integer of a group; undefined where it has none. */
  at(group: number): number | bigint | undefined {
    if (this.has[group] !== 1) return undefined;
    const word = this.high[group]! ^ this.flip;
    return exactInteger((BigInt(this.isSigned ? word : word >>> 0) << 32n) + BigInt(this.low[group]!));
  }
}
