/**
 * Byte counts as people write them: `64MiB`, `1.5GB`, `4096`. Every unit is binary (`KB` = `KiB` = 1024 bytes).
 * Source: contract http.md 1.5.
 */
import { type Parsed, parsed, refused } from "./parsed.ts";
import { type ByteLength, byteLength } from "../units.ts";

const KIB = 1024;

/** Letter of each unit; the index is the power of 1024. */
const LETTERS = "_KMGTP";

/** Reads a size in bytes, 0..2^53-1. A bare number counts bytes; fractions are cut to whole bytes; case of units is free. */
export function parseHumanSize(text: string): Parsed<ByteLength> {
  const match = /^\s*(\d{1,20}(?:\.\d{1,20})?)\s*([a-zA-Z]*)\s*$/.exec(text);
  const [, digits, unit] = match ?? [];
  if (digits === undefined || unit === undefined) return refused("want a number and a unit");
  const letter = /^([KMGTP])(?:i?B)?$/i.exec(unit)?.[1]?.toUpperCase();
  if (letter === undefined && unit !== "" && unit.toUpperCase() !== "B") {
    return refused(`unknown unit "${unit}"; units are B, KiB, MiB, GiB, TiB, PiB`);
  }
  const power = letter === undefined ? 0 : LETTERS.indexOf(letter);
  const bytes = Math.floor(Number(digits) * KIB ** power);
  if (bytes > Number.MAX_SAFE_INTEGER) return refused("too large");
  return parsed(byteLength(bytes));
}

/** Prints bytes in the largest unit that divides them: `64MiB`, `1025` (bytes), `0KiB`. `parseHumanSize` reads it back exactly. */
export function printHumanSize(bytes: number): string {
  if (bytes === 0) return "0KiB";
  let count = bytes;
  let power = 0;
  while (power < LETTERS.length - 1 && count % KIB === 0) {
    count /= KIB;
    power++;
  }
  return power === 0 ? String(count) : `${count}${LETTERS[power]}iB`;
}

/** Prints bytes in the largest unit that they fill, with one digit behind the point: `1.0KiB`, `1.5GiB`; below a KiB, `1023B`. */
export function printReadableSize(bytes: number): string {
  let power = 0;
  while (power < LETTERS.length - 1 && bytes >= KIB ** (power + 1)) power++;
  return power === 0 ? `${bytes}B` : `${(bytes / KIB ** power).toFixed(1)}${LETTERS[power]}iB`;
}
