/** `time` of an event: seconds since 1970 with a fraction, or milliseconds where the number is too large for seconds. */
import { type PipelineValue, WholeFloat } from "../common/value.ts";

const DECIMAL = /^(-?)(\d{1,19})(?:\.(\d{1,30}))?$/;
/** From here on a number counts milliseconds: as seconds it is the year 33658. */
const MILLIS_FROM = 1_000_000_000_000n;
const NANOS_MAX = 2n ** 63n - 1n;

/** Nanoseconds since 1970, exact to the digit; undefined when the value is no time or does not fit 64 bits. */
export function eventNanos(value: PipelineValue): bigint | undefined {
  const text = decimalText(value);
  const match = text === undefined ? null : DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = ""] = match;
  const units = BigInt(whole);
  const digits = units >= MILLIS_FROM ? 6 : 9;
  const nanos = units * 10n ** BigInt(digits) + BigInt(fraction.slice(0, digits).padEnd(digits, "0"));
  if (nanos > NANOS_MAX) return undefined;
  return sign === "-" ? -nanos : nanos;
}

function decimalText(value: PipelineValue): string | undefined {
  if (typeof value === "string") return value.trim();
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return value instanceof WholeFloat ? String(value.value) : undefined;
}
