/**
 * One value as PostgreSQL writes it in binary, appended to cells. Numbers are big-endian; days and microseconds count from 2000-01-01.
 *
 *   numeric   i16 groups · i16 weight · u16 sign · i16 scale · groups of four digits, each i16
 *   interval  i64 microseconds · i32 days · i32 months
 *   array     i32 dimensions (0 or 1) · i32 has NULLs · u32 element type · i32 length · i32 first index · { i32 length, value }*
 */
import { type DataType, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { decodeNested } from "../../../column/nested.ts";
import type { Value } from "../../../value/any-value.ts";
import { floorDivide } from "../../../value/civil.ts";
import type { Cells } from "../../wire/cells/cells.ts";
import { Oid, oidOf } from "../types.ts";
import { intervalOf, microsOfClock, type TextStyle, valueText } from "./value-text.ts";

/** Days and seconds from 1970-01-01 to 2000-01-01. */
export const EPOCH_DAYS = 10_957;
export const EPOCH_SECONDS = 946_684_800;

const GROUP = 10_000n;
const GROUP_DIGITS = 4;
const NEGATIVE = 0x4000;
const encoder = new TextEncoder();

type Present = Exclude<Value, undefined>;

/** Appends a value's bytes. @param style of the texts that some types are in binary too */
export function appendBinary(cells: Cells, value: Present, type: DataType, style: TextStyle): void {
  cells.reserve(64);
  const { view } = cells;
  switch (type.kind) {
    case "boolean":
      view.setUint8(cells.used++, value === true ? 1 : 0);
      return;
    case "int":
      appendInteger(cells, value as number | bigint, oidOf(type));
      return;
    case "float":
      if (type.bits === 32) view.setFloat32(cells.used, Number(value));
      else view.setFloat64(cells.used, Number(value));
      cells.used += type.bits / 8;
      return;
    case "date":
      view.setInt32(cells.used, Number(value) - EPOCH_DAYS);
      cells.used += 4;
      return;
    case "timestamp":
      view.setBigInt64(cells.used, microsOfStamp(BigInt(value as bigint), UNITS_PER_SECOND[type.unit]));
      cells.used += 8;
      return;
    case "time":
      view.setBigInt64(cells.used, BigInt(microsOfClock(Number(value), UNITS_PER_SECOND[type.unit])));
      cells.used += 8;
      return;
    case "duration":
    case "interval": {
      const { months, days, nanos } = intervalOf(value, type);
      view.setBigInt64(cells.used, nanos / 1000n);
      view.setInt32(cells.used + 8, days);
      view.setInt32(cells.used + 12, months);
      cells.used += 16;
      return;
    }
    case "decimal":
      appendNumeric(cells, BigInt(value as number | bigint), type.scale);
      return;
    case "list":
      appendArray(cells, value as Uint8Array, type, style);
      return;
    case "binary":
    case "vector":
      appendBytes(cells, value as Uint8Array);
      return;
    default:
      appendBytes(cells, encoder.encode(valueText(value, type, style)));
  }
}

/** Microseconds since 2000-01-01, what is finer cut off. */
function microsOfStamp(value: bigint, perSecond: number): bigint {
  const micros = perSecond > 1_000_000 ? floorDivide(value, BigInt(perSecond / 1_000_000)) : value * BigInt(1_000_000 / perSecond);
  return micros - BigInt(EPOCH_SECONDS) * 1_000_000n;
}

function appendInteger(cells: Cells, value: number | bigint, oid: number): void {
  switch (oid) {
    case Oid.Int2:
      cells.view.setInt16(cells.used, Number(value));
      cells.used += 2;
      return;
    case Oid.Int4:
      cells.view.setInt32(cells.used, Number(value));
      cells.used += 4;
      return;
    case Oid.Int8:
      cells.view.setBigInt64(cells.used, BigInt(value));
      cells.used += 8;
      return;
    default:
      appendNumeric(cells, BigInt(value), 0);
  }
}

/** A decimal by its unscaled value. */
function appendNumeric(cells: Cells, unscaled: bigint, scale: number): void {
  const isNegative = unscaled < 0n;
  const padding = (GROUP_DIGITS - (scale % GROUP_DIGITS)) % GROUP_DIGITS;
  let rest = (isNegative ? -unscaled : unscaled) * 10n ** BigInt(padding);
  const fractionGroups = (scale + padding) / GROUP_DIGITS;
  const groups: number[] = []; // The lowest first.
  for (; rest > 0n; rest /= GROUP) groups.push(Number(rest % GROUP));
  const weight = groups.length - fractionGroups - 1;
  let least = 0;
  while (least < groups.length && groups[least] === 0) least++;
  const count = groups.length - least;
  cells.reserve(8 + 2 * count);
  const { view } = cells;
  view.setInt16(cells.used, count);
  view.setInt16(cells.used + 2, count === 0 ? 0 : weight);
  view.setUint16(cells.used + 4, isNegative ? NEGATIVE : 0);
  view.setInt16(cells.used + 6, scale);
  cells.used += 8;
  for (let i = groups.length - 1; i >= least; i--) {
    view.setInt16(cells.used, groups[i] ?? 0);
    cells.used += 2;
  }
}

function appendArray(cells: Cells, bytes: Uint8Array, type: Extract<DataType, { kind: "list" }>, style: TextStyle): void {
  const parts = decodeNested(type, bytes);
  const i32 = (value: number): void => {
    cells.reserve(4);
    cells.view.setInt32(cells.used, value);
    cells.used += 4;
  };
  i32(parts.length === 0 ? 0 : 1);
  i32(parts.includes(undefined) ? 1 : 0);
  i32(type.element.kind === "null" ? Oid.Text : oidOf(type.element));
  if (parts.length === 0) return;
  i32(parts.length);
  i32(1);
  for (const part of parts) {
    i32(-1);
    if (part === undefined) continue;
    const start = cells.used;
    appendBinary(cells, part, type.element, style);
    cells.view.setInt32(start - 4, cells.used - start);
  }
}

function appendBytes(cells: Cells, bytes: Uint8Array): void {
  cells.reserve(bytes.length);
  cells.own.set(bytes, cells.used);
  cells.used += bytes.length;
}
