/** Values of parameters as COM_STMT_EXECUTE has them in binary (contract query.md 4.1). */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { utcSecondsOf } from "../../base/text/time-zone.ts";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  FLOAT32,
  FLOAT64,
  INT64,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_MICROSECOND,
  UINT64,
} from "../../column/data-type.ts";
import { exactInteger } from "../../column/exact-integer.ts";
import type { ParameterValue } from "../../query/prepared-query.ts";
import { castValue } from "../../value/cast.ts";
import { daysFromCivil, daysInMonth } from "../../value/civil.ts";
import { two } from "../../value/clock-time.ts";
import { MalformedPacket, PacketReader, utf8 } from "./codec.ts";
import { ColumnType } from "./packets.ts";

/** The type that a client gives with its values. */
export interface GivenType {
  readonly type: number;
  readonly isUnsigned: boolean;
}

const DAY_SECONDS = 86_400;
const DECIMAL_DIGITS_MAX = 38;

/**
 * Reads the next value.
 *
 * @param place the type that the placeholder's place asks for
 * @throws MalformedPacket; DbError InvalidArguments for a value that is none
 */
export function readValue(reader: PacketReader, given: GivenType, place: DataType | undefined, timeZone: string): ParameterValue {
  const whole = (value: number | bigint): ParameterValue => ({ type: given.isUnsigned ? UINT64 : INT64, value });
  switch (given.type) {
    case ColumnType.Null:
      return { type: place ?? { kind: "null" }, value: undefined };
    case ColumnType.Tiny: {
      const value = given.isUnsigned ? reader.u8() : reader.i8();
      return place?.kind === "boolean" ? { type: BOOLEAN, value: value !== 0 } : whole(value);
    }
    case ColumnType.Short:
    case ColumnType.Year:
      return whole(given.isUnsigned ? reader.u16() : reader.i16());
    case ColumnType.Long:
    case ColumnType.Int24:
      return whole(given.isUnsigned ? reader.u32() : reader.i32());
    case ColumnType.LongLong:
      return whole(exactInteger(given.isUnsigned ? reader.u64() : reader.i64()));
    case ColumnType.Float:
      return { type: FLOAT32, value: reader.f32() };
    case ColumnType.Double:
      return { type: FLOAT64, value: reader.f64() };
    case ColumnType.Date:
    case ColumnType.DateTime:
    case ColumnType.Timestamp:
      return dateTime(new PacketReader(reader.raw(reader.u8())), given.type === ColumnType.Date, timeZone);
    case ColumnType.Time:
      return timeOfDay(new PacketReader(reader.raw(reader.u8())));
    case ColumnType.Decimal:
    case ColumnType.NewDecimal:
      return decimal(utf8(reader.lenencBytes()));
    default:
      if (!TEXTS.has(given.type)) throw new MalformedPacket(`a parameter has the type ${given.type}, which is none`);
      return bytesValue(reader.lenencBytes(), BLOBS.has(given.type), place);
  }
}

const BLOBS: ReadonlySet<number> = new Set([
  ColumnType.TinyBlob,
  ColumnType.MediumBlob,
  ColumnType.LongBlob,
  ColumnType.Blob,
  ColumnType.Bit,
  ColumnType.Geometry,
]);

const TEXTS: ReadonlySet<number> = new Set([
  ...BLOBS,
  ColumnType.Varchar,
  ColumnType.VarString,
  ColumnType.String,
  ColumnType.Enum,
  ColumnType.Set,
  ColumnType.Json,
]);

/** A text, or bytes where they are wanted, or are no text: drivers send both under one type. @param isBlob where the client says so */
export function bytesValue(bytes: Uint8Array, isBlob: boolean, place: DataType | undefined): ParameterValue {
  const isWanted = place?.kind === "binary" || (isBlob && place === undefined);
  if (isWanted || (isBlob && place?.kind !== "string" && place?.kind !== "json")) return { type: BINARY, value: bytes.slice() };
  try {
    return { type: STRING, value: utf8(bytes) };
  } catch (thrown) {
    if (!(thrown instanceof MalformedPacket)) throw thrown;
    return { type: BINARY, value: bytes.slice() };
  }
}

/** A number as exact as it is written: `0.5`, `1E-10`. */
function decimal(text: string): ParameterValue {
  const [, fraction = "", exponent = "0"] = /^[^.eE]*(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?/.exec(text) ?? [];
  const scale = Math.min(Math.max(0, fraction.length - Number(exponent)), DECIMAL_DIGITS_MAX);
  const type: DataType = { kind: "decimal", precision: DECIMAL_DIGITS_MAX, scale };
  try {
    return { type, value: castValue(text, STRING, type, { timeZone: "UTC" }) };
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    throw invalid(`'${text.slice(0, 80)}' is no decimal of ${DECIMAL_DIGITS_MAX} digits`, thrown);
  }
}

/** `year(2) month day [hour minute second [micros(4)]]` on the clock of the session. */
function dateTime(reader: PacketReader, isDate: boolean, timeZone: string): ParameterValue {
  if (reader.remaining === 0) throw invalid("the date 0000-00-00 is none");
  const [year, month, day] = [reader.u16(), reader.u8(), reader.u8()];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) throw invalid(`the date ${year}-${month}-${day} is none`);
  const days = daysFromCivil(year, month, day);
  const seconds = reader.remaining === 0 ? 0 : clockSeconds(reader.u8(), reader.u8(), reader.u8());
  const micros = reader.remaining === 0 ? 0 : checkedMicros(reader.u32());
  if (isDate) return { type: DATE, value: days };
  const utc = utcSecondsOf(timeZone, days * DAY_SECONDS + seconds);
  return { type: TIMESTAMP_MICROSECOND, value: BigInt(utc) * 1_000_000n + BigInt(micros) };
}

/** `negative(1) days(4) hour minute second [micros(4)]`; one that is no time of day is a text. */
function timeOfDay(reader: PacketReader): ParameterValue {
  if (reader.remaining === 0) return { type: TIME_NANOSECOND, value: 0 };
  const isNegative = reader.u8() !== 0;
  const days = reader.u32();
  const seconds = clockSeconds(reader.u8(), reader.u8(), reader.u8());
  const micros = reader.remaining === 0 ? 0 : checkedMicros(reader.u32());
  if (!isNegative && days === 0) return { type: TIME_NANOSECOND, value: seconds * 1e9 + micros * 1000 };
  const hours = days * 24 + Math.floor(seconds / 3600);
  const clock = `${isNegative ? "-" : ""}${two(hours)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return { type: STRING, value: micros === 0 ? clock : `${clock}.${String(micros).padStart(6, "0")}` };
}

function clockSeconds(hour: number, minute: number, second: number): number {
  if (hour > 23 || minute > 59 || second > 59) throw invalid(`the time ${hour}:${minute}:${second} is none`);
  return hour * 3600 + minute * 60 + second;
}

function checkedMicros(micros: number): number {
  if (micros > 999_999) throw invalid(`${micros} microseconds are more than a second`);
  return micros;
}

function invalid(why: string, cause?: DbError): DbError {
  const message = `Invalid request parameter: ${why}`;
  return new DbError(StatusCode.InvalidArguments, message, cause === undefined ? undefined : { cause });
}
