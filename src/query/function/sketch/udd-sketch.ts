/**
 * Quantiles within a relative error in bounded memory: UDDSketch (Epicoco and others, 2020). A value v > 0 falls into bucket
 * ceil(log v / log gamma), gamma = (1 + error) / (1 - error); values below 0 mirror that, 0 has its own. When there are more buckets than
 * allowed, neighbours become one and gamma its square, so that the error grows evenly.
 *
 * State, a Binary value that tables may keep (all little-endian):
 *
 *   'U' 1 buckets:u32 error:f64 collapses:u8    15 bytes
 *   (key:i32 count:f64) *                       12 bytes each, by value; key = bucket * 4 + (0 below zero, 1 zero, 2 above zero)
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** Most buckets that a call may ask for. Reason: each costs about 100 bytes a group. */
const BUCKETS_MAX = 65_536;
/** Most times that buckets become one with their neighbours: then gamma is beyond every double. */
const COLLAPSES_MAX = 60;
/** About what a bucket costs in memory. */
const BUCKET_BYTES = 48;
const HEADER = Uint8Array.of(0x55, 1); // 'U', version 1
const HEADER_BYTES = 15;
const ENTRY_BYTES = 12;

const BELOW = 0;
const ZERO = 1;
const ABOVE = 2;

/** A growing sketch. */
export class UddSketch {
  readonly buckets: number;
  readonly error: number;
  private collapses = 0;
  private counts = new Map<number, number>();

  /** @throws DbError EngineExecuteQuery for parameters out of range */
  constructor(buckets: number, error: number) {
    if (!Number.isInteger(buckets) || buckets < 1 || buckets > BUCKETS_MAX) {
      throw refusal(`the number of buckets is ${buckets}; it must be 1..${BUCKETS_MAX}`);
    }
    if (!(error >= 1e-12 && error < 1)) throw refusal(`the error rate is ${error}; it must be from 1e-12 to below 1`);
    this.buckets = buckets;
    this.error = error;
  }

  /** Takes a number that is finite; others have no place in a bucket. @throws DbError EngineExecuteQuery */
  add(value: number): void {
    if (!Number.isFinite(value)) throw refusal(`it cannot take ${value}`);
    const kind = value > 0 ? ABOVE : value < 0 ? BELOW : ZERO;
    const bucket = kind === ZERO ? 0 : Math.ceil(Math.log(Math.abs(value)) / this.logGamma());
    this.count(bucket * 4 + kind, 1);
  }

  /** Takes all that another sketch took. @throws DbError EngineExecuteQuery for other parameters */
  merge(other: UddSketch): void {
    if (other.buckets !== this.buckets || other.error !== this.error) {
      const own = `arguments=(${this.buckets}, ${this.error})`;
      const theirs = `actual input=(${other.buckets}, ${other.error})`;
      const message = `Error during planning: Merging UDDSketch with different parameters: ${own} vs ${theirs}`;
      throw new DbError(StatusCode.EngineExecuteQuery, message);
    }
    while (this.collapses < other.collapses) this.collapse();
    const lift = this.collapses - other.collapses;
    for (const [key, count] of other.counts) this.count(liftedKey(key, lift), count);
  }

  /** The value below which `portion` (0..1) of the values lie; undefined when there are none. */
  quantile(portion: number): number | undefined {
    let total = 0;
    for (const count of this.counts.values()) total += count;
    if (total === 0) return undefined;
    let remaining = Math.min(Math.floor(total * portion) + 1, total);
    for (const [key, count] of this.sorted()) {
      if (remaining <= count) return this.valueOf(key);
      remaining -= count;
    }
    return undefined;
  }

  /** About what the sketch holds in memory, bytes. */
  get heldBytes(): number {
    return this.counts.size * BUCKET_BYTES;
  }

  /** The state as bytes. */
  encoded(): Uint8Array {
    const entries = this.sorted();
    const bytes = new Uint8Array(HEADER_BYTES + entries.length * ENTRY_BYTES);
    const view = new DataView(bytes.buffer);
    bytes.set(HEADER);
    view.setUint32(2, this.buckets, true);
    view.setFloat64(6, this.error, true);
    view.setUint8(14, this.collapses);
    for (const [i, [key, count]] of entries.entries()) {
      view.setInt32(HEADER_BYTES + i * ENTRY_BYTES, key, true);
      view.setFloat64(HEADER_BYTES + i * ENTRY_BYTES + 4, count, true);
    }
    return bytes;
  }

  /** The sketch of a state. @throws DbError EngineExecuteQuery for bytes that are none */
  static decoded(state: Uint8Array): UddSketch {
    const body = state.length - HEADER_BYTES;
    if (body < 0 || body % ENTRY_BYTES !== 0 || state[0] !== HEADER[0] || state[1] !== HEADER[1]) throw notAState("its shape is another");
    const view = new DataView(state.buffer, state.byteOffset, state.byteLength);
    const sketch = new UddSketch(view.getUint32(2, true), view.getFloat64(6, true));
    sketch.collapses = view.getUint8(14);
    if (sketch.collapses > COLLAPSES_MAX || body / ENTRY_BYTES > sketch.buckets) throw notAState("a number is out of range");
    for (let at = HEADER_BYTES; at < state.length; at += ENTRY_BYTES) {
      const [key, count] = [view.getInt32(at, true), view.getFloat64(at + 4, true)];
      if (!(count > 0) || (key & 3) > ABOVE || sketch.counts.has(key)) throw notAState("a bucket is out of range");
      sketch.counts.set(key, count);
    }
    return sketch;
  }

  private logGamma(): number {
    return Math.log((1 + this.error) / (1 - this.error)) * 2 ** this.collapses;
  }

  private count(key: number, count: number): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + count);
    while (this.counts.size > this.buckets && this.collapses < COLLAPSES_MAX) this.collapse();
  }

  private collapse(): void {
    const counts = new Map<number, number>();
    for (const [key, count] of this.counts) {
      const lifted = liftedKey(key, 1);
      counts.set(lifted, (counts.get(lifted) ?? 0) + count);
    }
    this.counts = counts;
    this.collapses++;
  }

  private valueOf(key: number): number {
    const kind = key & 3;
    if (kind === ZERO) return 0;
    const log = this.logGamma();
    // gamma = (1 + e) / (1 - e) gives back the error that gamma stands for now.
    const error = Math.tanh(log / 2);
    const value = Math.exp(log * ((key >> 2) - 1)) * (1 + error);
    return kind === BELOW ? -value : value;
  }

  private sorted(): (readonly [key: number, count: number])[] {
    return [...this.counts].sort((a, b) => orderOf(a[0], b[0]));
  }
}

/** The key of the bucket that a bucket falls into after `times` collapses: bucket b into ceil(b / 2). */
function liftedKey(key: number, times: number): number {
  let bucket = key >> 2;
  for (let i = 0; i < times; i++) bucket = Math.ceil(bucket / 2);
  return bucket * 4 + (key & 3);
}

/** Order of the values in two buckets: below zero from the largest bucket on, zero, above zero. */
function orderOf(a: number, b: number): number {
  const [kindA, kindB] = [a & 3, b & 3];
  if (kindA !== kindB) return kindA - kindB;
  return kindA === BELOW ? b - a : a - b;
}

function refusal(why: string): DbError {
  return new DbError(StatusCode.EngineExecuteQuery, `cannot keep a UDDSketch: ${why}`);
}

function notAState(why: string): DbError {
  return new DbError(StatusCode.EngineExecuteQuery, `cannot read the state of a UDDSketch: ${why}; give what uddsketch_state() made`);
}
