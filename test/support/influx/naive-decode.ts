/**
 * Line protocol decoded the plain way, with strings and regular expressions: the oracle of the fast decoder. It shares no code with it.
 * Bytes are held as a string of characters up to U+00FF.
 */
import type { DecodeOptions } from "../../../src/ingest/influx/decode.ts";
import { sqlName } from "../../../src/column/data-type.ts";
import { type Point, sorted, textOf } from "./points.ts";

/** Rows in the order of the body, and the numbers of refused lines. */
export interface NaiveResult {
  readonly points: readonly Point[];
  readonly badLines: readonly number[];
}

const BLANK = /(?:[ \t]+|\r?\n|#[^\n]*\n)+/y;
const EXTENT = /(?:[^ \n]|(?<=\\) )* *(?:="(?:\\[^]|[^"\\])*"|[^ \n]|(?<=\\) )*[^\n]*\n/y;
/** A character of a name or tag value: an escape, or neither a delimiter nor a backslash that would make one an escape. */
const IN_NAME = String.raw`(?:\\[,= ]|\\(?![,= ])|[^,= \\\x00-\x1f\x7f])+`;
const MEASUREMENT = new RegExp(String.raw`(?:\\[, ]|\\(?![, ])|[^, \\\x00-\x1f\x7f])+`, "y");
const TAG = new RegExp(`,(${IN_NAME})=(${IN_NAME})`, "y");
const FIELD = new RegExp(String.raw`(${IN_NAME})=(?:"((?:\\["\\]|[^"\\]|\\(?!["\\]))*)"|([^, \x00-\x1f]+))`, "y");
const SPACES = / +/y;
const LINE_END = / *(-?[0-9]+)? *\r?\n/y;
const LINE_END_AFTER_FIELDS = / *\r?\n/y;
const FLOAT = /^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const TRUE: readonly string[] = ["t", "T", "true", "True", "TRUE"];
const FALSE: readonly string[] = ["f", "F", "false", "False", "FALSE"];
const NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 10n ** 3n,
  ms: 10n ** 6n,
  s: 10n ** 9n,
  m: 60n * 10n ** 9n,
  h: 3600n * 10n ** 9n,
};

/** What is known of the names of a table in this request. */
type Names = Map<string, string>;

/** Decodes a body. */
export function naiveDecode(bytes: Uint8Array, options: DecodeOptions): NaiveResult {
  let body = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  if (!body.endsWith("\n")) body += "\n";
  const points: Point[] = [];
  const badLines: number[] = [];
  const tables = new Map<string, Names>();
  let at = 0;
  while (at < body.length) {
    at += match(BLANK, body, at)?.[0].length ?? 0;
    if (at >= body.length) break;
    const parsed = parseLine(body, at, options, tables);
    if (parsed !== undefined) {
      points.push(parsed.point);
      at = parsed.end;
      continue;
    }
    badLines.push(body.slice(0, at).split("\n").length);
    at += match(EXTENT, body, at)?.[0].length ?? body.length;
  }
  return { points, badLines };
}

function match(pattern: RegExp, body: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(body) ?? undefined;
}

function utf8(text: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(text, (c) => c.charCodeAt(0)));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function parseLine(
  body: string,
  start: number,
  options: DecodeOptions,
  tables: Map<string, Names>,
): { point: Point; end: number } | undefined {
  const measurement = match(MEASUREMENT, body, start);
  if (measurement === undefined) return undefined;
  const table = utf8(measurement[0].replace(/\\([, ])/g, "$1"));
  if (table === undefined || measurement[0].length > 1024) return undefined;
  let at = start + measurement[0].length;
  const tags: Record<string, string> = Object.create(null) as Record<string, string>;
  for (let tag = match(TAG, body, at); tag !== undefined; tag = match(TAG, body, at)) {
    const name = utf8((tag[1] ?? "").replace(/\\([,= ])/g, "$1"));
    const value = utf8((tag[2] ?? "").replace(/\\([,= ])/g, "$1"));
    if (name === undefined || value === undefined || name in tags) return undefined;
    tags[name] = value;
    at += tag[0].length;
  }
  if (options.acceptsTable !== undefined && !options.acceptsTable(table)) return undefined;
  const names: Names = new Map(tables.get(table));
  for (const name of Object.keys(tags)) if (!settle(names, table, name, "tag", options)) return undefined;
  const space = match(SPACES, body, at);
  if (space === undefined) return undefined;
  at += space[0].length;
  const fields: Record<string, string> = {};
  for (;;) {
    const field = match(FIELD, body, at);
    if (field === undefined) return undefined;
    const name = utf8((field[1] ?? "").replace(/\\([,= ])/g, "$1"));
    const value = field[3] === undefined ? textValue(field[2] ?? "") : plainValue(field[3]);
    if (name === undefined || value === undefined) return undefined;
    const [kind] = value;
    if (!settle(names, table, name, kind, options)) return undefined;
    fields[name] = textOf(kind === "bigint unsigned" ? "uint" : (KIND[kind] ?? kind), value[1]);
    at += field[0].length;
    if (body[at] !== ",") break;
    at++;
  }
  const end = (body[at] === " " ? match(LINE_END, body, at) : match(LINE_END_AFTER_FIELDS, body, at)) ?? undefined;
  if (end === undefined) return undefined;
  const unit = NANOS[options.precision] ?? 1n;
  const fallback = BigInt.asIntN(128, options.defaultTimeNanos - (((options.defaultTimeNanos % unit) + unit) % unit));
  const time = end[1] === undefined ? fallback : BigInt(end[1]) * unit;
  if (time !== BigInt.asIntN(64, time)) return undefined;
  tables.set(table, names);
  return { point: { table, tags: sorted(tags), fields: sorted(fields), time }, end: at + end[0].length };
}

const KIND: Readonly<Record<string, string>> = { bigint: "int", double: "float" };

function textValue(raw: string): readonly [string, string] | undefined {
  const text = utf8(raw);
  const plain = text?.replace(/\\(["\\nrt])/g, (_, c: string) => ({ n: "\n", r: "\r", t: "\t" })[c] ?? c);
  return plain === undefined ? undefined : ["string", plain];
}

function plainValue(raw: string): readonly [string, boolean | number | bigint] | undefined {
  if (/^-?[0-9]+i$/.test(raw)) {
    const value = BigInt(raw.slice(0, -1));
    return value === BigInt.asIntN(64, value) ? ["bigint", value] : undefined;
  }
  if (/^[0-9]+u$/.test(raw)) {
    const value = BigInt(raw.slice(0, -1));
    return value === BigInt.asUintN(64, value) ? ["bigint unsigned", value] : undefined;
  }
  if (FLOAT.test(raw)) return Number.isFinite(Number(raw)) ? ["double", Number(raw)] : undefined;
  return TRUE.includes(raw) || FALSE.includes(raw) ? ["boolean", TRUE.includes(raw)] : undefined;
}

/** Makes `name` of the given kind in the table, or says that it cannot be. */
function settle(names: Names, table: string, name: string, kind: string, options: DecodeOptions): boolean {
  if (names.has(name)) return names.get(name) === kind;
  if (name === options.timeColumn) return false;
  const existing = options.schemas.columnOf(options.database, table, name);
  if (existing !== undefined) {
    const want = existing.semantic === "field" ? sqlName(existing.type).toLowerCase() : existing.semantic;
    if (want !== kind) return false;
    if (kind === "tag" && sqlName(existing.type) !== "STRING") return false;
  }
  names.set(name, kind);
  return true;
}
