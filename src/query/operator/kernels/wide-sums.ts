/**
 * Exact sums by group of 64-bit integers and of decimals of more than 18 digits, as words, without a bigint a row.
 *
 *   a sum is five limbs of 32 bits, the lowest first, each a double that is exact: words are added as they come, and limbs carried over
 *   before 2^20 rows could take one beyond 2^53; the highest limb of a value has its sign
 */
import { grown } from "../../../base/bytes/longer-array.ts";
import type { BytesVector, Validity, WideVector } from "../../../column/vector.ts";

const LIMBS = 5;
const LIMB = 2 ** 32;
/** Rows that are added before limbs are carried over. */
const CARRY_ROWS = 2 ** 20;

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
    addPairs(words, values instanceof BigInt64Array, validity, rows, this.limbs, counts);
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
