/**
 * One text a result row, and one hash a result, that do not depend on who computed it: how two databases are compared.
 *
 * Integers are written as they are, timestamps as nanoseconds since 1970, floats with nine significant digits (sums in another order
 * differ in the last bits). Rows form a multiset: the hash is the sum of the row hashes modulo 2^64, so that their order does not count,
 * unless the query ordered them: then each row's text begins with its number.
 */

/** How the cells of a column are to be read. */
export type CellKind = "text" | "integer" | "float";

/** A cell once timestamps are nanoseconds; integers may be text. */
export type CanonicalCell = string | number | bigint | boolean | null;

/** What two servers must agree on. */
export interface ResultDigest {
  readonly rows: number;
  /** Hexadecimal. */
  readonly hash: string;
}

const FLOAT_DIGITS = 9;

/** Digests rows; `order` gives the columns to take, by position, and in which order. */
export function digestRows(
  rows: Iterable<readonly CanonicalCell[]>,
  kinds: readonly CellKind[],
  order: readonly number[],
  isOrdered: boolean,
): ResultDigest {
  let count = 0;
  let sum = 0n;
  for (const row of rows) {
    const cells = order.map((column) => cellText(row[column] ?? null, kinds[column]!));
    const text = JSON.stringify(isOrdered ? [count, ...cells] : cells);
    sum += Bun.hash.xxHash64(text);
    count++;
  }
  return { rows: count, hash: BigInt.asUintN(64, sum).toString(16) };
}

/** The order in which columns are compared: by position, but by name for `SELECT *`, whose order is the server's own affair. */
export function columnOrder(sql: string, names: readonly string[]): readonly number[] {
  const positions = names.map((_, position) => position);
  if (!/^\s*select\s+\*/i.test(sql)) return positions;
  return positions.sort((a, b) => (names[a]! < names[b]! ? -1 : 1));
}

function cellText(cell: CanonicalCell, kind: CellKind): string | null {
  if (cell === null) return null;
  switch (kind) {
    case "text":
      return String(cell);
    case "integer":
      return BigInt(cell).toString();
    case "float":
      return String(Number(Number(cell).toPrecision(FLOAT_DIGITS)));
  }
}
