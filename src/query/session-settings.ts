/** What SET changes in a session besides its database and time zone, and what SHOW VARIABLES tells of it (contract query.md 1.11, 4.2). */
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";

/** How dates are written by the PostgreSQL protocol. */
const DATE_STYLES = ["ISO", "SQL", "Postgres", "German"] as const;
/** In which order text dates are read and written. */
type DateOrder = "MDY" | "DMY" | "YMD";
/** How intervals are written by the PostgreSQL protocol. */
export const INTERVAL_STYLES: readonly ["iso_8601", "sql_standard", "postgres", "postgres_verbose"] = [
  "iso_8601",
  "sql_standard",
  "postgres",
  "postgres_verbose",
];

/** See the file header. Servers read it when they write results; a change counts from the next statement on. */
export interface SessionSettings {
  /** Longest run of a statement, milliseconds, up to 2^64 - 1; 0: only the server's own limit counts. */
  timeoutMillis: bigint;
  byteaOutput: "hex" | "escape";
  dateStyle: (typeof DATE_STYLES)[number];
  dateOrder: DateOrder;
  intervalStyle: (typeof INTERVAL_STYLES)[number];
  /** Whether a statement of a metric query may be run another way. There is one way here. */
  allowQueryFallback: boolean;
}

/** The settings of a new session. */
export function newSettings(): SessionSettings {
  return {
    timeoutMillis: 0n,
    byteaOutput: "hex",
    dateStyle: "ISO",
    dateOrder: "MDY",
    intervalStyle: "iso_8601",
    allowQueryFallback: false,
  };
}

const TIMEOUT_MILLIS_MAX = 2n ** 64n - 1n;
const UNIT_MILLIS: Readonly<Record<string, bigint>> = { "": 1n, ms: 1n, s: 1000n, min: 60_000n, h: 3_600_000n, d: 86_400_000n };

const unsupported = (why: string): DbError => new DbError(StatusCode.Unsupported, `Not supported: ${why}`);

/** Milliseconds of `1000`, and where units are allowed of `'5s'`. @throws DbError Unsupported */
export function timeoutOf(text: string, units: boolean): bigint {
  const [, amount = "", unit = ""] = /^\s*(\d+)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const size = UNIT_MILLIS[unit.toLowerCase()];
  if (amount === "" || size === undefined || (unit !== "" && !units))
    throw unsupported(`Unsupported timeout expr ${text.slice(0, 80)} in set variable statement`);
  const millis = BigInt(amount) * size;
  if (millis > TIMEOUT_MILLIS_MAX) throw unsupported(`Invalid timeout expr ${text.slice(0, 80)} in set variable statement`);
  return millis;
}

/** The one of `names` that a text means, whatever its case. @throws DbError Unsupported */
export function oneOf<Name extends string>(variable: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name.toLowerCase() === text.trim().toLowerCase());
  if (found !== undefined) return found;
  throw unsupported(`Unsupported ${variable} expr ${text.slice(0, 80)} in set variable statement; use ${names.join(", ")}`);
}

const ORDER_WORDS: Readonly<Record<string, SessionSettings["dateOrder"]>> = {
  mdy: "MDY",
  us: "MDY",
  noneuropean: "MDY",
  dmy: "DMY",
  euro: "DMY",
  european: "DMY",
  ymd: "YMD",
};

/** `ISO, DMY` and the like; what it does not name stays. @throws DbError Unsupported for unknown words and for two of a kind */
export function dateStyleOf(text: string, current: SessionSettings): Pick<SessionSettings, "dateStyle" | "dateOrder"> {
  let style: SessionSettings["dateStyle"] | undefined;
  let order: SessionSettings["dateOrder"] | undefined;
  for (const part of text.split(",")) {
    const word = part.trim().toLowerCase();
    const isOrder = Object.hasOwn(ORDER_WORDS, word);
    const newOrder = isOrder ? ORDER_WORDS[word] : undefined;
    const newStyle = isOrder ? undefined : oneOf("datestyle", word, DATE_STYLES);
    if (
      (newStyle !== undefined && style !== undefined && style !== newStyle) ||
      (newOrder !== undefined && order !== undefined && order !== newOrder)
    )
      throw unsupported(`Unsupported datestyle expr ${text.slice(0, 80)} in set variable statement: it names two that differ`);
    style ??= newStyle;
    order ??= newOrder;
  }
  return { dateStyle: style ?? current.dateStyle, dateOrder: order ?? current.dateOrder };
}

/** A truth value as SET takes it. @throws DbError Unsupported */
export function flagOf(variable: string, text: string): boolean {
  const word = text.trim().toLowerCase();
  if (["true", "on", "1", "yes"].includes(word)) return true;
  if (["false", "off", "0", "no"].includes(word)) return false;
  throw unsupported(`Unsupported ${variable} expr ${text.slice(0, 80)} in set variable statement; use true or false`);
}
