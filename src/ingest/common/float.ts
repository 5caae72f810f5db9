/**
 * Decimal text to the nearest double, bit for bit what `Number(text)` gives, without making a string for the usual numbers.
 *
 *   98.59872611464968     high = 985987, low = 2611464968, ten = 10    value = M / 10^14
 *   └──high─┘└──low──┘    M = high * 10^ten + low
 *
 *   M <= 2^53, |e| <= 22  both are exact doubles, so one multiplication or division rounds once (W. D. Clinger, 1990)
 *   larger M, -22 <= e <= 0
 *                         M = s + t exactly (two doubles); q = s / 10^-e; the remainder of that division is exact by Dekker's product
 *                         (T. J. Dekker, 1971); the remainder over 10^-e corrects q. When both ends of the correction's error interval
 *                         round to the same double, that is it; else:
 *   anything else         `Number(text)`
 *
 * high < 10^9 and ten <= 15 with high * 5^ten < 2^53, so `high * 10^ten` is exact. Four digits are read at a time.
 * The second case is what monitoring agents print. Input: 100,000 numbers of 17 digits. `Number(text)` takes 100 ns each, digits one by
 * one 59 ns, this 35 ns (float.test.ts checks it against `Number`; decode.bench.ts measures it in "agent floats").
 */

/** 10^0 .. 10^22, each an exact double. */
const POWERS: Float64Array<ArrayBuffer> = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));

/** Dekker's constant 2^27 + 1: splits a double into two halves of 26 bits. */
const SPLITTER = 134_217_729;

/** The upper and lower half of each power. */
const POWERS_HIGH: Float64Array<ArrayBuffer> = POWERS.map((power) => SPLITTER * power - (SPLITTER * power - power));
const POWERS_LOW: Float64Array<ArrayBuffer> = POWERS.map((power, i) => power - (POWERS_HIGH[i] ?? 0));

/** Bound of the relative error of the correction below, generously: it is a few units of 2^-53. */
const CORRECTION_ERROR: number = 2 ** -40;

/** While `high` is below this, four more digits fit. */
const HIGH_ROOM = 100_000;
/** `high` ends here; a longer whole part goes to `Number`. */
const HIGH_MAX = 1_000_000_000;
/** Most digits of `low` behind a `high` of any size, and behind one below 10^6. */
const LOW_DIGITS = 9;
const LOW_DIGITS_BEHIND_SMALL = 12;
const SMALL_HIGH = 1_000_000;

const latin1 = new TextDecoder("latin1");

/** Reads a float and remembers where it ended. */
export class FloatReader {
  /** The value that `read` found. */
  value = 0;

  /**
   * Reads `-?(digits[.digits*] | .digits)([eE][+-]?digits)?` at `start`. Returns the position behind it, or -1 when it is not one or is
   * too large for a double. Something else than a digit lies at `end - 1`.
   */
  read(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const negative = bytes[start] === 0x2d;
    const first = negative ? start + 1 : start;
    let at = first;
    let high = 0;
    let digit = bytes[at]! - 0x30;
    while (digit >= 0 && digit <= 9 && high < HIGH_MAX / 10) {
      high = high * 10 + digit;
      digit = bytes[++at]! - 0x30;
    }
    let low = 0;
    let ten = 0;
    let scale = 0;
    if (digit === -2) {
      const point = at++;
      if (high === 0) while (bytes[at] === 0x30) at++;
      while (high < HIGH_ROOM && at + 4 <= end) {
        const four = fourDigits(view.getInt32(at, true));
        if (four < 0) break;
        high = high * 10_000 + four;
        at += 4;
      }
      const lowStart = at;
      const lowEnd = at + (high < SMALL_HIGH ? LOW_DIGITS_BEHIND_SMALL : LOW_DIGITS);
      while (at + 4 <= lowEnd && at + 4 <= end) {
        const four = fourDigits(view.getInt32(at, true));
        if (four < 0) break;
        low = low * 10_000 + four;
        at += 4;
      }
      digit = bytes[at]! - 0x30;
      while (digit >= 0 && digit <= 9 && at < lowEnd) {
        low = low * 10 + digit;
        digit = bytes[++at]! - 0x30;
      }
      ten = at - lowStart;
      scale = point + 1 - at;
      if (at === first + 1) return -1;
    } else if (at === first) return -1;
    // More digits than fit, or an exponent.
    if ((digit >= 0 && digit <= 9) || (digit | 0x20) === 0x35) return this.readLong(bytes, start, at, high, low, ten, scale);
    return this.settle(bytes, start, at, convert(high, low, ten, scale), negative);
  }

  /** Goes on behind the digits that fit: with further digits, and an exponent. */
  private readLong(bytes: Uint8Array, start: number, from: number, high: number, low: number, ten: number, scale: number): number {
    let at = from;
    let seenPoint = ten > 0 || scale < 0 || bytes[at - 1] === 0x2e;
    while (isDigit(bytes[at]!) || (bytes[at] === 0x2e && !seenPoint)) {
      seenPoint ||= bytes[at] === 0x2e;
      at++;
    }
    const fits = at === from;
    let exponent = 0;
    if ((bytes[at]! | 0x20) === 0x65) {
      at++;
      const minus = bytes[at] === 0x2d;
      if (minus || bytes[at] === 0x2b) at++;
      if (!isDigit(bytes[at]!)) return -1;
      for (; isDigit(bytes[at]!); at++) if (exponent < 100_000) exponent = exponent * 10 + bytes[at]! - 0x30;
      if (minus) exponent = 0 - exponent;
    }
    const value = fits ? convert(high, low, ten, scale + exponent) : -1;
    return this.settle(bytes, start, at, value, bytes[start] === 0x2d);
  }

  /** Takes a value, or has `Number` find it when it is negative. */
  private settle(bytes: Uint8Array, start: number, end: number, value: number, negative: boolean): number {
    if (value >= 0) {
      this.value = negative ? -value : value;
      return end;
    }
    this.value = Number(latin1.decode(bytes.subarray(start, end)));
    return Number.isFinite(this.value) ? end : -1;
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** The number that four ASCII digits, the first in the lowest byte, stand for; -1 when one is not a digit. */
function fourDigits(word: number): number {
  if ((word & (word + 0x06060606) & 0xf0f0f0f0) !== 0x30303030) return -1;
  const digits = word - 0x30303030;
  const pairs = Math.imul(digits, 10) + (digits >>> 8);
  return (pairs & 0xff) * 100 + ((pairs >>> 16) & 0xff);
}

/** `(high * 10^ten + low) * 10^exponent` rounded once, or -1 when that cannot be told here. */
function convert(high: number, low: number, ten: number, exponent: number): number {
  if (exponent < -22) return -1;
  const upper = high * POWERS[ten]!;
  const sum = upper + low;
  if (sum <= 2 ** 53) {
    if (exponent > 22) return -1;
    return exponent < 0 ? sum / POWERS[0 - exponent]! : sum * POWERS[exponent]!;
  }
  if (exponent > 0) return -1;
  const lost = low - (sum - upper);
  const power = POWERS[0 - exponent]!;
  const quotient = sum / power;
  const scaled = SPLITTER * quotient;
  const quotientHigh = scaled - (scaled - quotient);
  const quotientLow = quotient - quotientHigh;
  const powerHigh = POWERS_HIGH[0 - exponent]!;
  const powerLow = POWERS_LOW[0 - exponent]!;
  const product = quotient * power;
  const productLost = quotientLow * powerLow - (product - quotientHigh * powerHigh - quotientLow * powerHigh - quotientHigh * powerLow);
  const correction = (sum - product - productLost + lost) / power;
  const error = Math.abs(correction) * CORRECTION_ERROR;
  const least = quotient + (correction - error);
  const most = quotient + (correction + error);
  return least === most ? least : -1;
}
