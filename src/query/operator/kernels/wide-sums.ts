/**
 * Exact sums by group of 64-bit integers and of decimals of more than 18 digits, as words, without a bigint a row.
 *
 *   a sum is five limbs of 32 bits, the lowest first, each a double that is exact: words are added as they come, and limbs carried over
 *   before 2^20 rows could take one beyond 2^53; the highest limb of a value has its sign
 */
import { grown } from "../../../base/bytes/longer-array.ts";
import type { BytesVector, Validity, Vector, WideVector } from "../../../column/vector.ts";

const LIMBS = 5;
const LIMB = 2 ** 32;
/** Rows that are added before limbs are carried over. */
const CARRY_ROWS = 2 ** 20;

const DECIMAL_BYTES = 16;
/** Highest words below it, in size, are of values below 10^38 for sure. */
const TOP_MAX = Math.floor(1e38 / 2 ** 96);

/** The limbs of a whole number within ±2^53. */
function limbsOf(value: number, into: Float64Array): void {
  let rest = value;
  for (let k = 0; k < LIMBS - 1; k++) {
    const over = Math.floor(rest / LIMB);
    into[k] = rest - over * LIMB;
    rest = over;
  }
  into[LIMBS - 1] = rest;
}

/** Rows `[from, to)`: row i is of `groups[i]`, or all of `group`. */
export interface SummedRows {
  readonly from: number;
  readonly to: number;
  readonly group: number;
  readonly groups: Int32Array | undefined;
}

/** See the file header. */
export class WideSums {
  isEmpty = true;
  private limbs: Float64Array = new Float64Array(0);
  private rows = 0;

  /** Bytes that are held. */
  get bytesHeld(): number {
    return this.limbs.byteLength;
  }

  /** Makes room for groups. */
  reach(groupCount: number): void {
    this.limbs = grown(this.limbs, groupCount * LIMBS);
  }

  /** Adds 64-bit integers, and one to the count of the group of each. */
  addIntegers({ values, validity }: WideVector, rows: SummedRows, counts: Float64Array): void {
    this.begin(rows);
    const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
    if (rows.groups === undefined && validity === undefined) addRange(words, values instanceof BigInt64Array, rows, this.limbs, counts);
    else addPairs(words, values instanceof BigInt64Array, validity, rows, this.limbs, counts);
  }

  /** Adds decimals of 16 bytes, and one to the count of the group of each. */
  addDecimals({ bytes, offsets, validity }: BytesVector, rows: SummedRows, counts: Float64Array): void {
    this.begin(rows);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    addQuads(view, offsets, validity, rows, this.limbs, counts);
  }

  private begin({ from, to }: SummedRows): void {
    this.isEmpty = false;
    this.rows += to - from;
    if (this.rows < CARRY_ROWS) return;
    this.carry();
    this.rows = to - from;
  }

  private carry(): void {
    const { limbs } = this;
    for (let at = 0; at + LIMBS <= limbs.length; at += LIMBS) {
      for (let k = at; k < at + LIMBS - 1; k++) {
        const over = Math.floor(limbs[k]! / LIMB);
        limbs[k] = limbs[k]! - over * LIMB;
        limbs[k + 1] = limbs[k + 1]! + over;
      }
    }
  }

  /** The sum of a group. */
  at(group: number): bigint {
    const { limbs } = this;
    let sum = 0n;
    for (let k = LIMBS - 1; k >= 0; k--) sum = (sum << 32n) + BigInt(limbs[group * LIMBS + k] ?? 0);
    return sum;
  }

  /**
   * Sums of all groups as decimals of 38 digits, 16 bytes each; undefined where one may have more, or lies in both.
   *
   * @param plain sums of values within ±2^53, for groups that have none here @param counts 0: NULL
   */
  decimals(plain: Float64Array, counts: Float64Array, groupCount: number): Vector | undefined {
    this.carry();
    const bytes = new Uint8Array(groupCount * DECIMAL_BYTES);
    const view = new DataView(bytes.buffer);
    const offsets = new Uint32Array(groupCount + 1);
    const validity = new Uint8Array(groupCount);
    const own = new Float64Array(LIMBS);
    let nulls = 0;
    for (let group = 0; group < groupCount; group++) {
      const to = group * DECIMAL_BYTES;
      offsets[group + 1] = to + DECIMAL_BYTES;
      if (counts[group] === 0) {
        nulls++;
        continue;
      }
      validity[group] = 1;
      if (this.isEmpty) limbsOf(plain[group]!, own);
      else if (plain[group] !== 0) return undefined;
      const limbs = this.isEmpty ? own : this.limbs;
      const at = this.isEmpty ? 0 : group * LIMBS;
      const top = limbs[at + 3]! | 0;
      if (limbs[at + 4] !== (top < 0 ? -1 : 0) || Math.abs(top) >= TOP_MAX) return undefined;
      view.setInt32(to, top);
      view.setUint32(to + 4, limbs[at + 2]!);
      view.setUint32(to + 8, limbs[at + 1]!);
      view.setUint32(to + 12, limbs[at]!);
    }
    return { kind: "bytes", offsets, bytes, validity: nulls === 0 ? undefined : validity };
  }

  /** Takes over the sums of `groups` of another, as groups 0, 1 and so on. */
  adopt(other: WideSums, groups: Uint32Array): void {
    if (other.isEmpty) return;
    this.isEmpty = false;
    this.rows = other.rows;
    this.reach(groups.length);
    for (let g = 0; g < groups.length; g++) {
      for (let k = 0; k < LIMBS; k++) this.limbs[g * LIMBS + k] = other.limbs[groups[g]! * LIMBS + k]!;
    }
  }
}

/**
 * All rows are of one group and have a value. 5M rows: 19 ms by `addPairs`, 10 so in batches of 8,192, 24 and 9 in batches of 65,536 (least
 * of 11 rounds in turns in one process; medians on a core that others use are nearly twice that, 33 and 18, 35 and 15).
 */
function addRange(words: Int32Array, isSigned: boolean, { from, to, group }: SummedRows, limbs: Float64Array, counts: Float64Array): void {
  let [low, high, otherLow, otherHigh] = [0, 0, 0, 0];
  const even = to - ((to - from) & 1);
  for (let at = 2 * from; at < 2 * even; at += 4) {
    low += words[at]! >>> 0;
    high += words[at + 1]!;
    otherLow += words[at + 2]! >>> 0;
    otherHigh += words[at + 3]!;
  }
  if (even < to) {
    low += words[2 * even]! >>> 0;
    high += words[2 * even + 1]!;
  }
  if (!isSigned) for (let i = from; i < to; i++) if (words[2 * i + 1]! < 0) high += LIMB;
  limbs[group * LIMBS]! += low + otherLow;
  limbs[group * LIMBS + 1]! += high + otherHigh;
  counts[group]! += to - from;
}

function addPairs(
  words: Int32Array,
  isSigned: boolean,
  validity: Validity,
  { from, to, group, groups }: SummedRows,
  limbs: Float64Array,
  counts: Float64Array,
): void {
  for (let i = from; i < to; i++) {
    if (validity !== undefined && validity[i] === 0) continue;
    const own = groups === undefined ? group : groups[i]!;
    const at = own * LIMBS;
    const high = words[2 * i + 1]!;
    limbs[at]! += words[2 * i]! >>> 0;
    limbs[at + 1]! += isSigned ? high : high >>> 0;
    counts[own]!++;
  }
}

function addQuads(
  view: DataView,
  offsets: Uint32Array,
  validity: Validity,
  { from, to, group, groups }: SummedRows,
  limbs: Float64Array,
  counts: Float64Array,
): void {
  for (let i = from; i < to; i++) {
    if (validity !== undefined && validity[i] === 0) continue;
    const own = groups === undefined ? group : groups[i]!;
    const at = own * LIMBS;
    const start = offsets[i]!;
    limbs[at + 3]! += view.getInt32(start);
    limbs[at + 2]! += view.getUint32(start + 4);
    limbs[at + 1]! += view.getUint32(start + 8);
    limbs[at]! += view.getUint32(start + 12);
    counts[own]!++;
  }
}
