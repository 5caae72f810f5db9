/**
 * Two tables with many rows and a column of every kind of key: integers beyond 2^53, decimals of both widths, texts that repeat, that never
 * do and that are long, times, floats with NaN and a negative zero. All of a table comes from one seed, also how often values repeat.
 */
import { Choices } from "./choices.ts";
import type { Column, Rows, Tables } from "./tables.ts";

/** Rows of the larger table, the largest sizes rarely. */
const SIZES: readonly number[] = [300, 40, 1, 0, 1000, 120, 2500, 5000];
/** Rows of tables whose columns of many keys may have few: a join of more by one key is millions of rows. */
const FEW_KEYS_ROWS_MAX = 300;
/** Times of all rows lie in this many ticks, so that tables meet. */
const TICKS = 4000;
const START_MILLIS = 1_709_164_740_000;
const MILLIS = { type: "TIMESTAMP(3)", perSecond: 1000n };
const DRAWS = 150;
const CHOICE_MAX = 5040;

/** Whole numbers below `bound` from a seed, the same in every run. */
export function randomBelow(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * bound);
  };
}

/** Decisions from random numbers. */
export function randomChoices(below: (bound: number) => number): Choices {
  return new Choices(Array.from({ length: DRAWS }, () => below(CHOICE_MAX)));
}

/** A column and the value of its n-th distinct key, as SQL. */
interface Keyed {
  readonly name: string;
  readonly kind: Column["kind"];
  readonly type: string;
  readonly valueOf: (n: number) => string;
  /** Keys there can be. */
  readonly keysMax: number;
}

const EDGES = ["0", "9223372036854775807", "-9223372036854775808", "-1", "9007199254740992", "-9007199254740993"];
const FLOATS = ["0.0", "-0.0", "'NaN'", "'inf'", "'-inf'", "5e-324", "1e300", "0.1", "-0.1"];
const SHARED = "the same beginning of every long text ";

const KEYED: readonly Keyed[] = [
  { name: "n", kind: "int", type: "BIGINT", keysMax: 1e6, valueOf: (n) => String(n - 3) },
  { name: "i", kind: "int", type: "INT", keysMax: 40, valueOf: (n) => String(n === 0 ? -2_147_483_648 : n) },
  {
    name: "big",
    kind: undefined,
    type: "BIGINT",
    keysMax: 1e6,
    // Neighbours that are one double.
    valueOf: (n) => EDGES[n] ?? String(n % 2 === 0 ? 9_007_199_254_740_992n + BigInt(n) : -9_223_372_036_854_775_000n + BigInt(n)),
  },
  { name: "ubig", kind: undefined, type: "BIGINT UNSIGNED", keysMax: 1e6, valueOf: (n) => String(18_446_744_073_709_551_615n - BigInt(n)) },
  { name: "d", kind: "decimal", type: "DECIMAL(12, 2)", keysMax: 1e6, valueOf: (n) => `${n - 50}.${String(n % 100).padStart(2, "0")}` },
  {
    name: "dw",
    kind: undefined,
    type: "DECIMAL(30, 2)",
    keysMax: 1e6,
    // The low 64 bits of some are the same.
    valueOf: (n) => `${n % 3 === 0 ? "" : n % 3 === 1 ? "-" : ""}${BigInt(n >> 1) * (n % 5 === 0 ? 184_467_440_737_095_516n : 1n)}.16`,
  },
  { name: "s", kind: "text", type: "STRING", keysMax: 1e6, valueOf: (n) => ["''", "'A'", "'a'", "'ä'", "'😀'", "'a%'"][n] ?? `'key ${n}'` },
  { name: "long", kind: "text", type: "STRING", keysMax: 1e6, valueOf: (n) => `'${SHARED.repeat(1 + (n % 4))}${n >> 1}'` },
  {
    name: "dt",
    kind: "date",
    type: "DATE",
    keysMax: 20_000,
    valueOf: (n) => `'${new Date((n - 10_000) * 86_400_000).toISOString().slice(0, 10)}'`,
  },
  { name: "t2", kind: "time", type: "TIMESTAMP(9)", keysMax: 1e6, valueOf: (n) => String(1_709_164_740_000_000_000n + BigInt(n) - 5n) },
  { name: "x", kind: undefined, type: "DOUBLE", keysMax: 1e6, valueOf: (n) => FLOATS[n] ?? String(n / 8 - 20) },
  { name: "ok", kind: "bool", type: "BOOLEAN", keysMax: 2, valueOf: (n) => String(n === 0) },
];

function columns(): readonly Column[] {
  const plain = KEYED.map(({ name, kind, type }): Column => ({ name, kind, type, values: [] }));
  return [
    { name: "h", kind: "text", type: "STRING", isTag: true, values: [] },
    ...plain,
    { name: "k", kind: "int", type: "BIGINT", values: [] },
    { name: "ts", kind: "time", type: MILLIS.type, values: [] },
  ];
}

/** Rows of one table; no two have one tag and time unless it appends, and later ones overwrite some. */
function rowsOf(name: "t" | "u", size: number, keys: number, isAppend: boolean, below: (bound: number) => number): Rows {
  const rows: string[][] = [];
  const nulls = [0, 8, 3][below(3)] as number;
  const counts = KEYED.map(({ keysMax }) => {
    const drawn = [keys, keys, 6, 1][below(4)] as number;
    return Math.min(keysMax, size > FEW_KEYS_ROWS_MAX ? keys : drawn);
  });
  for (let r = 0; r < size; r++) {
    const cells = KEYED.map(({ valueOf }, c) => (nulls > 0 && below(nulls) === 0 ? "NULL" : valueOf(below(counts[c] as number))));
    const tag = below(9) === 0 ? "NULL" : `'h${below(3)}'`;
    rows.push([tag, ...cells, String(r + 1), String(START_MILLIS + below(TICKS))]);
  }
  const made = { name, columns: columns(), rows };
  return isAppend ? made : { ...made, rows: withoutTwins(rows) };
}

/** The last row of each tag and time: DuckDB overwrites nothing. */
function withoutTwins(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const last = new Map(rows.map((row) => [`${row[0]} ${row.at(-1)}`, row]));
  return [...last.values()];
}

/** Tables of a seed. */
export function keyedTables(seed: number, sizeMax: number = Number.POSITIVE_INFINITY): Tables {
  const below = randomBelow(seed);
  const size = Math.min(SIZES[below(SIZES.length)] as number, sizeMax);
  const keys = Math.max(1, [size, size >> 1, size >> 3][below(3)] as number);
  const isAppend = below(2) === 0;
  const t = rowsOf("t", size, keys, isAppend, below);
  const u = rowsOf("u", Math.ceil(size / [1, 3, 20][below(3)]!), keys, isAppend, below);
  const place = (["memory", "files", "both"] as const)[below(3)] as "memory" | "files" | "both";
  const deleted =
    isAppend || below(2) === 0
      ? []
      : [
          { name: "t", condition: `k % ${2 + below(5)} = 1` },
          { name: "u", condition: "h = 'h1'" },
        ];
  return { unit: MILLIS, all: [t, u], isAppend, place, deleted };
}
