/** Values that a client gives for placeholders, by the number of their type and in text or binary (contract query.md 4.2). */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, isNested, STRING, TIMESTAMP_MICROSECOND } from "../../column/data-type.ts";
import { encodeNested } from "../../column/nested.ts";
import type { IntervalParts } from "../../column/interval-bytes.ts";
import type { ParameterValue } from "../../query/prepared-query.ts";
import type { Value } from "../../value/any-value.ts";
import { castValue } from "../../value/cast.ts";
import { parseTimestamp } from "../../value/parse-time.ts";
import { arrayElements } from "./array-text.ts";
import { MessageReader, MalformedMessage, utf8 } from "./codec.ts";
import { EPOCH_DAYS, EPOCH_SECONDS } from "./cells/value-binary.ts";
import { WireFailure } from "./errors.ts";
import { Format } from "./results.ts";
import { elementOid, Oid, parameterType } from "./types.ts";

/** How a value came. */
export interface GivenValue {
  readonly oid: number;
  readonly format: Format;
  /** Undefined: NULL. */
  readonly bytes: Uint8Array | undefined;
}

/** @throws WireFailure for a type that is not known; MalformedMessage; DbError InvalidArguments for a text that is no such value */
export function parameterValue({ oid, format, bytes }: GivenValue, timeZone: string): ParameterValue {
  const type = parameterType(oid);
  if (type === undefined) throw new WireFailure("0A000", `Not supported: a parameter of the type with number ${oid}`);
  if (bytes === undefined) return { type, value: undefined };
  return format === Format.Binary ? binaryValue(bytes, oid, type) : textValue(utf8(bytes), oid, type, timeZone);
}

/** Times stay texts: their column says in which unit they are wanted. */
function textValue(text: string, oid: number, type: DataType, timeZone: string): ParameterValue {
  switch (type.kind) {
    case "string":
      return { type, value: text };
    case "timestamp":
      return { type: STRING, value: text };
    case "decimal":
      return decimalOf(text);
    case "binary":
      return { type, value: byteaOfText(text) };
    case "list":
      return { type, value: arrayOfText(text, elementOid(oid) ?? 0, type, timeZone) };
    default:
      return { type, value: cast(text, type, timeZone) };
  }
}

/** A text as a value of a type. @throws DbError InvalidArguments */
function cast(text: string, type: DataType, timeZone: string): Value {
  try {
    return castValue(text, STRING, type, { timeZone });
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    const why = `Invalid request parameter: ${thrown.message}`;
    throw new DbError(StatusCode.InvalidArguments, why, { cause: thrown });
  }
}

/** A number as exact as it is written: with as many digits behind the point as it has. */
function decimalOf(text: string): ParameterValue {
  const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?\s*$/.exec(text);
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match ?? [];
  if (match === null || (whole === "" && fraction === ""))
    return { type: { kind: "float", bits: 64 }, value: Number(cast(text, { kind: "float", bits: 64 }, "UTC")) };
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction) * (shift > 0 ? 10n ** BigInt(Math.min(shift, 100)) : 1n);
  return decimalValue(sign === "-" ? -digits : digits, Math.max(0, -shift));
}

/** A decimal where it has digits for it, else a float. */
function decimalValue(unscaled: bigint, scale: number): ParameterValue {
  const size = unscaled < 0n ? -unscaled : unscaled;
  const digits = Math.max(String(size).length, scale);
  if (scale === 0 && size < 2n ** 63n) return { type: { kind: "int", bits: 64, signed: true }, value: unscaled };
  if (scale === 0 && unscaled >= 0n && size < 2n ** 64n) return { type: { kind: "int", bits: 64, signed: false }, value: unscaled };
  if (digits > 38) return { type: { kind: "float", bits: 64 }, value: Number(unscaled) / 10 ** scale };
  return { type: { kind: "decimal", precision: 38, scale }, value: unscaled };
}

/** `\x0a1b`, or characters with octal escapes. */
function byteaOfText(text: string): Uint8Array {
  if (text.startsWith("\\x")) {
    const digits = text.slice(2);
    if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) throw new WireFailure("22023", "invalid hexadecimal data for bytea");
    return Buffer.from(digits, "hex");
  }
  const encoded = Buffer.from(text);
  const bytes = new Uint8Array(encoded.length);
  let used = 0;
  for (let at = 0; at < encoded.length; used++) {
    const isEscape = encoded[at] === 0x5c;
    const digits = isEscape ? encoded.toString("latin1", at + 1, at + 4) : "";
    if (/^[0-3][0-7]{2}$/.test(digits)) {
      bytes[used] = Number.parseInt(digits, 8);
      at += 4;
    } else if (isEscape && encoded[at + 1] !== 0x5c) throw new WireFailure("22P02", "invalid input syntax for type bytea");
    else {
      bytes[used] = encoded[at] ?? 0;
      at += isEscape ? 2 : 1;
    }
  }
  return bytes.subarray(0, used);
}

function arrayOfText(text: string, oid: number, type: Extract<DataType, { kind: "list" }>, timeZone: string): Uint8Array {
  const parts = arrayElements(text).map((part) => {
    if (part === undefined) return undefined;
    if (type.element.kind === "timestamp") return microsOfText(part, timeZone);
    const { value, type: given } = textValue(part, oid, type.element, timeZone);
    return type.element.kind === "decimal" ? castValue(value, given, type.element, { timeZone }) : value;
  });
  return encodeNested(type, parts);
}

function microsOfText(text: string, timeZone: string): bigint {
  const nanos = parseTimestamp(text.trim(), timeZone);
  if (nanos === undefined) throw new WireFailure("22007", `invalid input syntax for type timestamp: "${text.slice(0, 80)}"`);
  return nanos / 1000n;
}

/** @throws MalformedMessage for bytes that are no such value */
function binaryValue(bytes: Uint8Array, oid: number, type: DataType): ParameterValue {
  const element = elementOid(oid);
  if (type.kind === "list" && element !== undefined) return { type, value: arrayOfBinary(bytes, element, type) };
  const reader = new MessageReader(bytes, 0);
  const given = scalarValue(reader, oid, type);
  reader.end();
  return given;
}

function scalarValue(reader: MessageReader, oid: number, type: DataType): ParameterValue {
  switch (oid) {
    case Oid.Bool:
      return { type, value: reader.u8() !== 0 };
    case Oid.Int2:
      return { type, value: reader.i16() };
    case Oid.Int4:
      return { type, value: reader.i32() };
    case Oid.Oid:
      return { type, value: reader.u32() };
    case Oid.Int8:
      return { type, value: reader.i64() };
    case Oid.Float4:
      return { type, value: reader.f32() };
    case Oid.Float8:
      return { type, value: reader.f64() };
    case Oid.Date:
      return { type, value: finite(reader.i32(), DATE_INFINITIES) + EPOCH_DAYS };
    case Oid.Time:
      return { type, value: Number(reader.i64()) * 1000 };
    case Oid.Timestamp:
    case Oid.Timestamptz:
      return { type: TIMESTAMP_MICROSECOND, value: microsOf(reader.i64()) };
    case Oid.Interval:
      return { type, value: intervalOf(reader) };
    case Oid.Numeric:
      return numericValue(reader);
    case Oid.Uuid:
      return { type, value: uuidText(reader.raw(16)) };
    case Oid.Jsonb:
      if (reader.u8() !== 1) throw new MalformedMessage("unsupported jsonb version number");
      return { type, value: utf8(reader.raw(reader.remaining)) };
    default: {
      const rest = reader.raw(reader.remaining);
      return { type, value: type.kind === "binary" ? rest.slice() : utf8(rest) };
    }
  }
}

/** The days and the microseconds that stand for the infinities. */
const DATE_INFINITIES: readonly number[] = [-(2 ** 31), 2 ** 31 - 1];
const TIMESTAMP_INFINITIES: readonly bigint[] = [-(2n ** 63n), 2n ** 63n - 1n];

/** A number of a date or a time that is one. @throws WireFailure for an infinity */
function finite<T extends number | bigint>(value: T, infinities: readonly T[]): T {
  if (!infinities.includes(value)) return value;
  throw new WireFailure("22008", "Not supported: a date or timestamp of infinity", "Some drivers send the last day of their calendar so.");
}

/** Microseconds since 1970 of those since 2000. @throws WireFailure for those that 64 bits do not hold */
function microsOf(since2000: bigint): bigint {
  const micros = finite(since2000, TIMESTAMP_INFINITIES) + BigInt(EPOCH_SECONDS) * 1_000_000n;
  if (BigInt.asIntN(64, micros) !== micros) throw new WireFailure("22008", "timestamp out of range");
  return micros;
}

function intervalOf(reader: MessageReader): IntervalParts {
  const nanos = reader.i64() * 1000n;
  const days = reader.i32();
  return { nanos, days, months: reader.i32() };
}

function uuidText(bytes: Uint8Array): string {
  const digits = Buffer.from(bytes).toString("hex");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");
}

const NEGATIVE = 0x4000;
const NAN = 0xc000;
const INFINITY = 0xd000;
const NEGATIVE_INFINITY = 0xf000;

function numericValue(reader: MessageReader): ParameterValue {
  const count = reader.count(2);
  const weight = reader.i16();
  const sign = reader.u16();
  const scale = reader.u16();
  const float = (value: number): ParameterValue => ({ type: { kind: "float", bits: 64 }, value });
  if (sign === NAN) return float(Number.NaN);
  if (sign === INFINITY) return float(Number.POSITIVE_INFINITY);
  if (sign === NEGATIVE_INFINITY) return float(Number.NEGATIVE_INFINITY);
  if (sign !== 0 && sign !== NEGATIVE) throw new MalformedMessage("invalid sign in external numeric value");
  if (count > 512 || Math.abs(weight) > 512) throw new WireFailure("22003", "a numeric has more digits than there are");
  let digits = 0n;
  for (let i = 0; i < count; i++) {
    const group = reader.i16();
    if (group < 0 || group > 9999) throw new MalformedMessage("invalid digit in external numeric value");
    digits = digits * 10_000n + BigInt(group);
  }
  // Digits count 10,000^(weight - count + 1); the scale says how many of those behind the point are meant.
  const exponent = 4 * (weight - count + 1) + scale;
  const unscaled = exponent >= 0 ? digits * 10n ** BigInt(exponent) : digits / 10n ** BigInt(-exponent);
  return decimalValue(sign === NEGATIVE ? -unscaled : unscaled, scale);
}

function arrayOfBinary(bytes: Uint8Array, oid: number, type: Extract<DataType, { kind: "list" }>): Uint8Array {
  const reader = new MessageReader(bytes, 0);
  const dimensions = reader.i32();
  reader.i32(); // whether there are NULLs
  if (reader.u32() !== oid) throw new MalformedMessage("wrong element type in array");
  if (dimensions === 0) return encodeNested(type, []);
  if (dimensions !== 1) throw new WireFailure("0A000", "Not supported: an array of more than one dimension");
  const length = reader.i32();
  reader.i32(); // the first index
  if (length < 0 || length * 4 > reader.remaining) throw new MalformedMessage("insufficient data left in message");
  const parts: Value[] = [];
  for (let i = 0; i < length; i++) {
    const part = reader.value();
    if (part === undefined) parts.push(undefined);
    else parts.push(elementOf(binaryValue(part, oid, type.element), type.element));
  }
  reader.end();
  if (type.element.kind !== "null" && isNested(type.element)) throw new WireFailure("0A000", "Not supported: an array of arrays");
  return encodeNested(type, parts);
}

/** Decimals of an array have one scale. */
function elementOf(given: ParameterValue, element: DataType): Value {
  return element.kind === "decimal" ? castValue(given.value, given.type, element, { timeZone: "UTC" }) : given.value;
}
