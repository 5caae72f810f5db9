/**
 * Points of a series as JSON bytes: `,[t,"v"],[t,"v"]`. Numbers of a block become text at once, which takes half as long as one by one and
 * makes no string a point; what stands before a value is kept for all series of an answer and copied in words.
 */

/** Points that are printed together. */
export const BLOCK_POINTS = 512;
/** Bytes of a head, at most: a comma, a bracket, 26 of time, a comma, a quote. */
export const HEAD_BYTES = 32;
/** Most bytes of a point, and room for the words of a head: what `writePoints` needs a point. */
export const POINT_BYTES_MAX: number = HEAD_BYTES + 32;

const HEAD_WORDS = HEAD_BYTES / 4;
/** Seconds below it take at most ten digits. */
const SHORT_SECONDS_MAX = 4_000_000_000;
const HALF = 100_000;

const COMMA = 44;
const QUOTE = 34;
const BRACKET = 91;
const BRACKET_END = 93;
const POINT = 46;
const ZERO = 48;

const encoder = new TextEncoder();
/** Text of a block's numbers. It is filled and read within one call, as the others are. */
const digits = new Uint8Array(BLOCK_POINTS * 32);
const block: number[] = [];
const blockHeads = new Int32Array(BLOCK_POINTS);

/** `,[t,"` of some points: `lengths[i]` bytes from `HEAD_BYTES * i` on. */
export interface Heads {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly lengths: Uint8Array;
}

/** Room for heads. */
export function newHeads(count: number): Heads {
  const bytes = new Uint8Array(count * HEAD_BYTES);
  return { bytes, words: new Uint32Array(bytes.buffer), lengths: new Uint8Array(count) };
}

/** Whether `setHead` can print a time: whole milliseconds from 1970 to 2096. */
export function isShortTime(millis: number): boolean {
  return millis >= 0 && millis < SHORT_SECONDS_MAX * 1000 && Number.isInteger(millis);
}

/** Prints head `i`; its time is one that `isShortTime`. */
export function setHead({ bytes, lengths }: Heads, i: number, millis: number): void {
  const start = i * HEAD_BYTES;
  bytes[start] = COMMA;
  bytes[start + 1] = BRACKET;
  const seconds = Math.floor(millis / 1000);
  const fraction = millis - seconds * 1000;
  const high = Math.floor(seconds / HALF) | 0;
  const low = (seconds - high * HALF) | 0;
  let end = high === 0 ? writeDigits(low, widthOf(low), bytes, start + 2) : writeDigits(high, widthOf(high), bytes, start + 2);
  if (high !== 0) end = writeDigits(low, 5, bytes, end);
  if (fraction !== 0) {
    bytes[end++] = POINT;
    end = writeDigits(fraction | 0, 3, bytes, end);
  }
  bytes[end++] = COMMA;
  bytes[end++] = QUOTE;
  lengths[i] = end - start;
}

/** Of a number below 100,000. */
function widthOf(value: number): number {
  return value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : value < 10_000 ? 4 : 5;
}

function writeDigits(value: number, width: number, out: Uint8Array, at: number): number {
  for (let i = at + width - 1; i >= at; i--) {
    const rest = (value / 10) | 0;
    out[i] = ZERO + value - rest * 10;
    value = rest;
  }
  return at + width;
}

/**
 * Writes the points of steps `[from, to)` that are there to `out` from `at` on. Returns where they end.
 *
 * @param to at most `from + BLOCK_POINTS`
 * @param present 1 where there is one; undefined: all are
 * @param firstHead the step of head 0
 * @param out the view of an array with room for POINT_BYTES_MAX a point
 */
export function writePoints(
  values: Float64Array,
  present: Uint8Array | undefined,
  from: number,
  to: number,
  heads: Heads,
  firstHead: number,
  out: Uint8Array,
  view: DataView,
  at: number,
): number {
  let count = 0;
  let isPlain = true;
  block.length = 0;
  for (let step = from; step < to; step++) {
    if (present !== undefined && present[step] !== 1) continue;
    const value = values[step]!;
    // JSON has no NaN, no infinity and no -0.
    if (value - value !== 0 || (value === 0 && 1 / value < 0) || hasShortExponent(value)) isPlain = false;
    block.push(value);
    blockHeads[count++] = step - firstHead;
  }
  if (count === 0) return at;
  const text = isPlain ? JSON.stringify(block) : `[${block.map(numberText).join(",")}]`;
  const { written } = encoder.encodeInto(text, digits);
  let end = at;
  for (let i = 1, point = 0; point < count; point++) {
    end = copyHead(heads, blockHeads[point]!, view, end);
    for (let byte = digits[i++]!; byte !== COMMA && i < written; byte = digits[i++]!) out[end++] = byte;
    out[end++] = QUOTE;
    out[end++] = BRACKET_END;
  }
  return end;
}

/** Copies a head in words, the last one with bytes behind it. */
function copyHead({ words, lengths }: Heads, i: number, view: DataView, at: number): number {
  const length = lengths[i]!;
  const first = i * HEAD_WORDS;
  for (let word = 0; word * 4 < length; word++) view.setUint32(at + word * 4, words[first + word]!, true);
  return at + length;
}

/** Whether JSON has an exponent of one digit, where Prometheus has two: 1e-7, 1e-07. Larger exponents begin at 21. */
function hasShortExponent(value: number): boolean {
  const size = value < 0 ? -value : value;
  return size < 1e-6 && size >= 1e-9;
}

/** The shortest digits that read back, an exponent of two digits at least: `1`, `0.1`, `1e-07`, `1e+21`, `+Inf`, `NaN`. */
export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  if (hasShortExponent(value)) return String(value).replace("e-", "e-0");
  return Object.is(value, -0) ? "-0" : String(value);
}
