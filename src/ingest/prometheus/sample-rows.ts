/** Samples as they are decoded: three arrays that grow, kept between requests. */
import { undecodable } from "./failure.ts";
import { SAMPLES_AT_FIRST, SAMPLES_KEPT_MAX, SAMPLES_MAX } from "./limits.ts";

/** See the file header. A value's bits are written through `words`, since a double in a variable may lose those of a NaN. */
export class SampleRows {
  count = 0;
  keys: Uint32Array<ArrayBuffer> = new Uint32Array(SAMPLES_AT_FIRST);
  /** Milliseconds since 1970. */
  times: Float64Array<ArrayBuffer> = new Float64Array(SAMPLES_AT_FIRST);
  values: Float64Array<ArrayBuffer> = new Float64Array(SAMPLES_AT_FIRST);
  /** The memory of `values`: two words a value, the lower half first. */
  words: Int32Array<ArrayBuffer> = new Int32Array(this.values.buffer);

  get byteSize(): number {
    return this.keys.length * 20;
  }

  /** Forgets the rows, and arrays that are larger than is usual. */
  reset(): void {
    this.count = 0;
    if (this.keys.length > SAMPLES_KEPT_MAX) this.resize(SAMPLES_KEPT_MAX);
  }

  /** Makes room for another row. @throws DbError InvalidArguments at the limit */
  grow(): void {
    const { length } = this.keys;
    if (length >= SAMPLES_MAX) throw undecodable(`it has more than ${SAMPLES_MAX} samples; send smaller requests`);
    this.resize(length * 2);
  }

  private resize(length: number): void {
    const { keys, times, words, count } = this;
    this.keys = new Uint32Array(length);
    this.keys.set(keys.subarray(0, count));
    this.times = new Float64Array(length);
    this.times.set(times.subarray(0, count));
    this.values = new Float64Array(length);
    this.words = new Int32Array(this.values.buffer);
    this.words.set(words.subarray(0, 2 * count));
  }
}
