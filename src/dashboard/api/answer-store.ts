/**
 * An answer in the thread that holds it: rows, their order, windows of them as text, lines of charts. The page asks for the few rows it
 * shows, so that a million rows never stand in its thread.
 */
import type { AnswerColumn, ChartAsk, ChartData } from "./answer-messages.ts";

/** A cell as JSON gives it; integers beyond 2^53 are bigint. */
export type Cell = string | number | bigint | boolean | null | undefined | object;

/** Lines in one chart. */
const LINES_MAX = 50;
/** Rows whose texts tell a column's width. */
const WIDTH_ROWS = 200;
const TEXT_LETTERS_MAX = 4000;

export class AnswerStore {
  readonly columns: readonly AnswerColumn[];
  private readonly rows: readonly (readonly Cell[])[];
  /** Undefined: as they came. */
  private order: Uint32Array | undefined;

  constructor(columns: readonly AnswerColumn[], rows: readonly (readonly Cell[])[]) {
    this.columns = columns;
    this.rows = rows;
  }

  get rowCount(): number {
    return this.rows.length;
  }

  /** Rows `from` to before `to` in their order, as text; null is null. */
  window(from: number, to: number): readonly (readonly (string | null)[])[] {
    const found: (readonly (string | null)[])[] = [];
    for (let i = from; i < Math.min(to, this.rows.length); i++) {
      const row = this.rows[this.order?.[i] ?? i] ?? [];
      found.push(this.columns.map(({ type }, column) => cellText(row[column], type)));
    }
    return found;
  }

  /** All rows as objects of their columns' names: of small answers. What is nested is JSON. */
  objects(): readonly Readonly<Record<string, Exclude<Cell, object>>>[] {
    return this.rows.map((row) =>
      Object.fromEntries(
        this.columns.map(({ name }, column) => {
          const cell = row[column];
          return [name, typeof cell === "object" && cell !== null ? JSON.stringify(cell) : cell];
        }),
      ),
    );
  }

  /** Letters of the longest text of each column in the first rows, and of its name. */
  widths(): readonly number[] {
    const first = this.window(0, WIDTH_ROWS);
    return this.columns.map(({ name }, column) => first.reduce((most, row) => Math.max(most, (row[column] ?? "").length), name.length));
  }

  /** Orders rows by a column; NULLs stand last. Equal rows stay as they came. */
  sort(column: number, descending: boolean): void {
    const order = Uint32Array.from({ length: this.rows.length }, (_, i) => i);
    const sign = descending ? -1 : 1;
    order.sort((a, b) => sign * compare(this.rows[a]?.[column], this.rows[b]?.[column], sign) || a - b);
    this.order = order;
  }

  /** The answer as CSV (RFC 4180), in its order, in pieces. */
  *csv(): Generator<string> {
    yield `${this.columns.map(({ name }) => csvText(name)).join(",")}\r\n`;
    for (let from = 0; from < this.rows.length; from += 10_000) {
      let piece = "";
      for (const row of this.window(from, from + 10_000))
        piece += `${row.map((text) => (text === null ? "" : csvText(text))).join(",")}\r\n`;
      yield piece;
    }
  }

  /** Lines for a chart. */
  chart({ x, ys, groups, pointsMax }: ChartAsk): ChartData {
    const type = this.columns[x]?.type ?? "";
    const found = new Map<string, Map<number, number>>();
    let leftOut = 0;
    for (const row of this.rows) {
      const at = secondsOf(row[x], type);
      if (at === undefined) continue;
      const group = groups.map((column) => cellText(row[column], "") ?? "NULL").join(" ");
      for (const y of ys) {
        const name = this.columns[y]?.name ?? "";
        const label = group === "" ? name : ys.length === 1 ? group : `${group} ${name}`;
        let line = found.get(label);
        if (line === undefined) {
          if (found.size >= LINES_MAX) {
            leftOut++;
            continue;
          }
          line = new Map();
          found.set(label, line);
        }
        const value = row[y];
        line.set(at, value === null || value === undefined || value === "" ? Number.NaN : Number(value));
      }
    }
    return { ...aligned(found, pointsMax), leftOut };
  }
}

/** All lines over one axis, thinned out. */
function aligned(lines: ReadonlyMap<string, ReadonlyMap<number, number>>, pointsMax: number): Omit<ChartData, "leftOut"> {
  const times = new Set<number>();
  for (const line of lines.values()) for (const at of line.keys()) times.add(at);
  const all = Float64Array.from(times).sort();
  const kept = all.length <= pointsMax ? all : thinned(all, lines, pointsMax);
  return {
    x: kept,
    lines: [...lines].map(([label, line]) => ({ label, y: kept.map((at) => line.get(at) ?? Number.NaN) })),
  };
}

/** Of each stretch of the axis the moments of the least and the greatest value of each line. */
function thinned(all: Float64Array, lines: ReadonlyMap<string, ReadonlyMap<number, number>>, pointsMax: number): Float64Array {
  const stretches = Math.max(1, Math.floor(pointsMax / (2 * Math.max(1, lines.size))));
  const width = Math.ceil(all.length / stretches);
  const kept = new Set<number>();
  for (let from = 0; from < all.length; from += width) {
    for (const line of lines.values()) {
      let least = Number.POSITIVE_INFINITY;
      let greatest = Number.NEGATIVE_INFINITY;
      let leastAt: number | undefined;
      let greatestAt: number | undefined;
      for (let i = from; i < Math.min(from + width, all.length); i++) {
        const at = all[i] as number;
        const value = line.get(at);
        if (value === undefined || Number.isNaN(value)) continue;
        if (value < least) [least, leastAt] = [value, at];
        if (value > greatest) [greatest, greatestAt] = [value, at];
      }
      if (leastAt !== undefined) kept.add(leastAt);
      if (greatestAt !== undefined) kept.add(greatestAt);
    }
  }
  return Float64Array.from(kept).sort();
}

/** Parts of a second of the units of a type's name. */
const PER_SECOND: readonly (readonly [suffix: string, perSecond: number])[] = [
  ["Nanosecond", 1e9],
  ["Microsecond", 1e6],
  ["Millisecond", 1e3],
  ["Second", 1],
];

/** Parts of a second that a type counts; undefined: it is no time. */
export function unitsPerSecond(type: string): number | undefined {
  if (!type.startsWith("Timestamp")) return undefined;
  return PER_SECOND.find(([suffix]) => type.endsWith(suffix))?.[1];
}

function secondsOf(cell: Cell, type: string): number | undefined {
  if (cell === null || cell === undefined) return undefined;
  const units = unitsPerSecond(type);
  const value = typeof cell === "bigint" && units !== undefined ? Number(cell / 1000n) / (units / 1000) : Number(cell) / (units ?? 1);
  return Number.isFinite(value) ? value : undefined;
}

/** A cell as text; `type` says of which a number is the time of. */
export function cellText(cell: Cell, type: string): string | null {
  if (cell === null || cell === undefined) return null;
  const units = typeof cell === "number" || typeof cell === "bigint" ? unitsPerSecond(type) : undefined;
  if (units !== undefined) return stampText(BigInt(cell as number | bigint), units);
  const text = typeof cell === "object" ? JSON.stringify(cell) : String(cell);
  return text.length > TEXT_LETTERS_MAX ? `${text.slice(0, TEXT_LETTERS_MAX)}…` : text;
}

/** A moment in ISO 8601, by UTC, with the digits of its unit. */
function stampText(value: bigint, units: number): string {
  const per = BigInt(units);
  const part = ((value % per) + per) % per;
  const seconds = (value - part) / per;
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return String(value);
  const digits = Math.round(Math.log10(units));
  const fraction = digits === 0 ? "" : `.${String(part).padStart(digits, "0")}`;
  return `${date.toISOString().slice(0, -5)}${fraction}Z`;
}

function compare(a: Cell, b: Cell, sign: number): number {
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : sign;
  if (b === null || b === undefined) return -sign;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  return a < b ? -1 : a > b ? 1 : 0;
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
