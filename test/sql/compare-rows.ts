/** Rows of different systems beside each other. */
import type { Scalar } from "../../src/column/vector.ts";

/** A value: floats are compared by value, everything else by text. */
export type Cell = string | number | undefined;

/** A value of Varve's as a cell; `type` is its display name. */
export function cellOf(value: Scalar, type: string): Cell {
  if (value === undefined) return undefined;
  if (type.startsWith("Float")) return Number(value);
  if (type.startsWith("Decimal")) return decimalCell(BigInt(value as number | bigint), Number(/, (\d+)\)/.exec(type)?.[1] ?? 0));
  return value instanceof Uint8Array ? value.toHex() : String(value);
}

/** A decimal without the zeros at its end: scales of results differ between systems. */
export function decimalCell(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale).replace(/0+$/, "")];
  const text = fraction === "" ? whole : `${whole}.${fraction}`;
  return unscaled < 0n ? `-${text}` : text;
}

/** The place where two answers differ, both in words; undefined when they are the same rows, in the same order if `isOrdered`. */
export function differenceOf(
  got: readonly (readonly Cell[])[],
  want: readonly (readonly Cell[])[],
  isOrdered: boolean,
): string | undefined {
  const [a, b] = isOrdered ? [got, want] : [sorted(got), sorted(want)];
  const at = Array.from({ length: Math.max(a.length, b.length) }, (_, i) => i).find((i) => !sameRow(a[i], b[i]));
  return at === undefined ? undefined : `row ${at} of ${a.length} and ${b.length}\n  got  ${shown(a[at])}\n  want ${shown(b[at])}`;
}

function sorted(rows: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  return rows
    .map((row) => ({ row, key: row.map(keyOf).join("\u0001") }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row);
}

/** Floats to 9 digits, since sums may add in another order. */
function keyOf(cell: Cell): string {
  if (typeof cell !== "number") return cell === undefined ? "\u0002" : cell;
  return (cell === 0 ? 0 : cell).toPrecision(9);
}

function sameRow(a: readonly Cell[] | undefined, b: readonly Cell[] | undefined): boolean {
  return a !== undefined && b !== undefined && a.length === b.length && a.every((cell, i) => sameCell(cell, b[i]));
}

function sameCell(a: Cell, b: Cell): boolean {
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

function shown(row: readonly Cell[] | undefined): string {
  return row === undefined
    ? "no row"
    : row.map((cell) => (cell === undefined ? "NULL" : (JSON.stringify(cell) ?? String(cell)))).join(" | ");
}
