/**
 * Compares an answer with the result that the TSBS kit expects: integers, strings and timestamps exactly, floats within 1e-9 relative,
 * rows as a multiset unless the query ordered them, columns by position, but by name for `SELECT *`. Long results are compared by the
 * kit's hash over their canonical form.
 */
import type { Cell, Rows } from "../support/http-client.ts";
import type { CellType, ExpectedCell, TsbsQuery } from "./tsbs-kit.ts";

type Row = readonly ExpectedCell[];

const FLOAT_TOLERANCE = 1e-9;
const SHOWN_MAX = 3;

/** What is different, one line each; empty when the answer is right. */
export function differences(query: TsbsQuery, got: Rows): readonly string[] {
  const order = columnOrder(query, got.columns);
  if (typeof order === "string") return [order];
  const typeErrors = order.flatMap((at, index) => wrongType(got.columns[at] ?? "", got.types[at] ?? "", query.types[index] ?? "string"));
  if (typeErrors.length > 0) return typeErrors;
  const rows = got.rows.map((row) => order.map((at, index) => plainCell(row[at] ?? null, got.types[at] ?? "", query.types[index])));
  if (query.rows !== undefined) {
    const want = query.rows;
    if (rows.length !== want.length) return [`${rows.length} rows, want ${want.length}`];
    return query.ordered ? orderedDifferences(rows, want, query.types) : multisetDifferences(rows, want, query.types);
  }
  if (rows.length !== query.row_count) return [`${rows.length} rows, want ${query.row_count}`];
  const texts = rows.map(canonicalText).sort(byCodePoint);
  const hash = new Bun.CryptoHasher("sha256").update(`[${texts.join(",")}]`).digest("hex");
  if (hash === query.sha256) return [];
  return [`hash ${hash}, want ${query.sha256}; first row ${texts[0]}, want ${canonicalText(query.sample?.[0] ?? [])}`];
}

/** Positions of the expected columns in the answer, or what is wrong. */
function columnOrder(query: TsbsQuery, names: readonly string[]): readonly number[] | string {
  const shown = `columns ${names.join(", ")}; want ${query.columns.join(", ")}`;
  if (names.length !== query.columns.length) return shown;
  if (!/^select \*/i.test(query.sql)) return names.map((_, index) => index);
  const order = query.columns.map((name) => names.indexOf(name));
  return order.includes(-1) ? shown : order;
}

function wrongType(column: string, type: string, want: CellType): readonly string[] {
  const isRight = { string: "String", int: "Int64", float: "Float64", timestamp_ms: "Timestamp" }[want];
  return type.startsWith(isRight) ? [] : [`column ${column} is ${type}, want ${want}`];
}

const UNITS_PER_MILLI: Readonly<Record<string, bigint>> = {
  TimestampMillisecond: 1n,
  TimestampMicrosecond: 1000n,
  TimestampNanosecond: 1_000_000n,
};

/** The cell as the kit writes it. A time between two milliseconds becomes a text, which equals nothing expected. */
function plainCell(cell: Cell, type: string, want: CellType | undefined): ExpectedCell {
  if (cell === null || typeof cell === "string") return cell;
  if (typeof cell === "boolean") return String(cell);
  if (want !== "timestamp_ms") return Number(cell);
  if (type === "TimestampSecond") return Number(cell) * 1000;
  const units = UNITS_PER_MILLI[type] ?? 1n;
  return BigInt(cell) % units === 0n ? Number(BigInt(cell) / units) : `${cell} ${type}`;
}

function orderedDifferences(got: readonly Row[], want: readonly Row[], types: readonly CellType[]): readonly string[] {
  const bad = want.flatMap((row, index) => (isSame(got[index] ?? [], row, types) ? [] : [index]));
  return bad.slice(0, SHOWN_MAX).map((index) => `row ${index} is ${JSON.stringify(got[index])}, want ${JSON.stringify(want[index])}`);
}

/** Rows that are equal but for their floats form small groups; in a group each row takes the first that is near enough. */
function multisetDifferences(got: readonly Row[], want: readonly Row[], types: readonly CellType[]): readonly string[] {
  const waiting = new Map<string, Row[]>();
  for (const row of want) {
    const group = waiting.get(exactPart(row, types));
    if (group === undefined) waiting.set(exactPart(row, types), [row]);
    else group.push(row);
  }
  const extra: Row[] = [];
  for (const row of got) {
    const group = waiting.get(exactPart(row, types)) ?? [];
    const at = group.findIndex((candidate) => isSame(row, candidate, types));
    if (at < 0) extra.push(row);
    else group.splice(at, 1);
  }
  const missing = [...waiting.values()].flat();
  return [
    ...extra.slice(0, SHOWN_MAX).map((row) => `unexpected row ${JSON.stringify(row)}`),
    ...missing.slice(0, SHOWN_MAX).map((row) => `missing row ${JSON.stringify(row)}`),
  ];
}

function exactPart(row: Row, types: readonly CellType[]): string {
  return JSON.stringify(row.filter((_, index) => types[index] !== "float"));
}

function isSame(got: Row, want: Row, types: readonly CellType[]): boolean {
  return want.every((cell, index) => {
    const other = got[index];
    if (types[index] !== "float" || typeof cell !== "number" || typeof other !== "number") return other === cell;
    return Math.abs(other - cell) <= FLOAT_TOLERANCE * Math.abs(cell);
  });
}

/** No hashed result has floats, so every number is an integer and its JSON is canonical. */
function canonicalText(row: Row): string {
  return JSON.stringify(row);
}

/** UTF-16 order is code-point order here: the kit's texts are ASCII. */
function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : 1;
}
