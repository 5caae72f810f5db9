/** Gives each bucket of time among the groups of one key a dense code, and a vector of starts for codes in the end. */
import type { DataType } from "../../../column/data-type.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { bucketStartOf, type TimeBuckets } from "../../function/time/buckets.ts";
import type { BucketFrame } from "../../expression/kernels/bucket-starts.ts";
import { isTimeType, valuesVector } from "../../expression/vector-values.ts";
import { grown } from "../../../base/bytes/longer-array.ts";
import { NO_CODE } from "./value-codes.ts";

/** Steps from the first bucket that are looked up in an array: at first, without more ado, and at most as more come. */
const NEAR_STEPS_MIN = 64;
const NEAR_STEPS = 4096;
const NEAR_STEPS_MAX = 2 ** 20;

/** See the file header. */
export class BucketCodes {
  private first: bigint | undefined;
  /** Code + 1 by steps from the first bucket, for the usual case of near buckets. */
  private near: Uint32Array = new Uint32Array(NEAR_STEPS_MIN);
  private readonly far = new Map<number, number>();
  private readonly indexes: bigint[] = [];
  private readonly buckets: TimeBuckets;
  private readonly type: DataType;

  constructor(buckets: TimeBuckets, type: DataType) {
    this.buckets = buckets;
    this.type = type;
  }

  /** Codes given so far; they are dense. */
  get size(): number {
    return this.indexes.length;
  }

  /** Steps from the first bucket seen to the one that holds a frame's base; add a range's steps for `codeOf`. */
  stepsTo(frame: BucketFrame): number {
    this.first ??= frame.baseIndex;
    return Number(frame.baseIndex - this.first);
  }

  /**
   * The code of the bucket that many steps after the first seen: a new one for a new bucket when `isNew`, `NO_CODE` otherwise. Exact while
   * buckets lie within 2^53 steps.
   */
  codeOf(steps: number, isNew: boolean): number {
    const code = steps >= 0 && steps < this.near.length ? (this.near[steps] as number) - 1 : (this.far.get(steps) ?? NO_CODE);
    return code < 0 && isNew ? this.add(steps) : code;
  }

  private add(steps: number): number {
    const code = this.indexes.push((this.first ?? 0n) + BigInt(steps)) - 1;
    const { length } = this.near;
    if (steps >= length && steps < Math.max(NEAR_STEPS, length * 2) && length < NEAR_STEPS_MAX) {
      const more = Math.max(length * 2, 2 ** (32 - Math.clz32(steps)));
      this.near = grown(this.near, more);
      for (const [far, farCode] of this.far) if (far >= 0 && far < more) this.near[far] = farCode + 1;
    }
    if (steps >= 0 && steps < this.near.length) this.near[steps] = code + 1;
    else this.far.set(steps, code);
    return code;
  }

  /** The starts of the buckets of codes. */
  vector(codes: Uint32Array): Vector {
    // Groups outnumber buckets where there are other keys; few of many buckets may be asked for at a time.
    const starts = new Map<number, bigint>();
    const values: Scalar[] = [];
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i] as number;
      const known = starts.get(code) ?? bucketStartOf(this.buckets, this.indexes[code] ?? 0n);
      starts.set(code, known);
      values.push(known);
    }
    return valuesVector(isTimeType(this.type) ? this.type : { kind: "timestamp", unit: this.buckets.unit }, values);
  }
}
