/** Functions on text with the meaning that MySQL gives them (contract query.md 2.5, 2.8). Positions count characters from 1. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, FLOAT64, INT32, INT64, STRING } from "../../../column/data-type.ts";
import { alias, type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { typed } from "../signature/signature.ts";
import { toText } from "../../../value/value-text.ts";
import { located } from "../columns/search.ts";
import { formatPattern } from "../text/format-pattern.ts";
import { checkTextLength } from "../text/text-limit.ts";
import { type Present, textOf as str, type Value } from "../value/value.ts";

const chars = (value: Value): string[] => [...str(value)];

/** `elt(n, a, b, …)`: text number n, NULL outside. */
const eltType: ScalarFunction["resolve"] = ([n, ...rest]) => {
  if (n === undefined || rest.length === 0 || !rest.every(isText) || (n.kind !== "int" && n.kind !== "null")) return undefined;
  return { args: [INT64, ...rest.map(() => STRING)], result: STRING };
};
const isText = (type: DataType): boolean => !["json", "vector", "binary", "list", "struct", "map"].includes(type.kind);

/** The number of the text among the others, from 1; 0 when it is none of them or NULL. */
function field([wanted, ...rest]: readonly Value[]): number {
  return wanted === undefined ? 0 : rest.indexOf(wanted) + 1;
}

const fieldType: ScalarFunction["resolve"] = (args) =>
  args.length >= 2 && args.every(isText) ? { args: args.map(() => STRING), result: INT64 } : undefined;

/** Most digits after the point that `format` prints. */
const FORMAT_DIGITS_MAX = 30;

/** `1,234,567.89`: exact for integers, rounded half away from zero as it is written in decimal. */
function format(value: Present, digits: number, type: DataType): string {
  const places = Math.min(Math.max(digits, 0), FORMAT_DIGITS_MAX);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  const text = type.kind === "int" ? str(value) : fixed(Number(value), places);
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  const tail = places === 0 ? "" : `.${fraction.padEnd(places, "0").slice(0, places)}`;
  return `${text.startsWith("-") && /[1-9]/.test(whole + tail) ? "-" : ""}${grouped}${tail}`;
}

/** Digits rounded by the shortest decimal text of a double, without an exponent. */
function fixed(value: number, places: number): string {
  const [mantissa = "", exponent = "0"] = Math.abs(value).toExponential().split("e");
  const [lead = "", rest = ""] = mantissa.split(".");
  // The value is unscaled * 10 ^ -scale.
  const scale = rest.length - Number(exponent);
  let unscaled = BigInt(lead + rest);
  if (scale > places) {
    const cut = 10n ** BigInt(scale - places);
    unscaled = (unscaled + cut / 2n) / cut;
  } else unscaled *= 10n ** BigInt(places - scale);
  const digits = String(unscaled).padStart(places + 1, "0");
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return value < 0 ? `-${text}` : text;
}

/** A number and digits, as MySQL has it, or a pattern and what stands in its places, as PostgreSQL has it. */
const formatType: ScalarFunction["resolve"] = (args) => {
  const [value, digits, ...rest] = args;
  if (value?.kind === "string") return { args, result: STRING };
  if (value === undefined || digits === undefined || rest.length > 0 || (digits.kind !== "int" && digits.kind !== "null")) return undefined;
  if (value.kind === "int") return { args: [value, INT64], result: STRING };
  if (!["float", "decimal", "null"].includes(value.kind)) return undefined;
  return { args: [FLOAT64, INT64], result: STRING };
};

const NUMBER_TEXT = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/** Both kinds of `format`: a text that is a number, with digits behind it, is one. */
function formatted(args: readonly Value[], { type }: FunctionCall): Value {
  const [value, digits] = args;
  const [first = INT64, second] = type.args;
  if (value === undefined) return undefined;
  if (first.kind !== "string") return digits === undefined ? undefined : format(value, Number(digits), first);
  const isNumber = args.length === 2 && second?.kind === "int" && NUMBER_TEXT.test(str(value));
  if (isNumber) return digits === undefined ? undefined : format(Number(value), Number(digits), FLOAT64);
  const values = args.slice(1).map((each, i) => (each === undefined ? undefined : toText(each, type.args[i + 1] ?? STRING)));
  return formatPattern(str(value), values);
}

/** Replaces `length` characters from `position` on; a position outside leaves the text as it is. */
function insert(text: Value, position: number, length: number, added: Value): string {
  const own = chars(text);
  if (position < 1 || position > own.length) return str(text);
  const end = length < 0 || position - 1 + length > own.length ? own.length : position - 1 + length;
  return own.slice(0, position - 1).join("") + str(added) + own.slice(end).join("");
}

/** Position of `part` at or behind `from`; 0 when it is not there. */
function locate(part: Value, text: Value, from: number): number {
  const own = chars(text);
  if (from < 1 || from > own.length + 1) return 0;
  const rest = own.slice(from - 1).join("");
  const at = rest.indexOf(str(part));
  return at < 0 ? 0 : from + Array.from(rest.slice(0, at)).length;
}

/** What comes before separator number `count`; a negative count counts from the end and gives what comes behind. */
function substringIndex(text: Value, separator: Value, count: number): string {
  if (str(separator) === "" || count === 0) return "";
  const parts = str(text).split(str(separator));
  return (count > 0 ? parts.slice(0, count) : parts.slice(count)).join(str(separator));
}

/** Where an item stands in a list separated by commas. */
const findInSet = (item: Value, list: Value): number => str(list).split(",").indexOf(str(item)) + 1;

/** Most cells of the table of `levenshtein`: characters of one text times those of the other. Error: EngineExecuteQuery. */
const DISTANCE_CELLS_MAX = 16 * 1024 * 1024;

/** Insertions, deletions and replacements that lead from one text to the other. */
function levenshtein(a: readonly string[], b: readonly string[]): number {
  if (a.length * b.length > DISTANCE_CELLS_MAX) {
    const why = `texts of ${a.length} and ${b.length} characters are too long to compare`;
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot compute levenshtein(): ${why}`);
  }
  let row = Uint32Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, character] of a.entries()) {
    const next = new Uint32Array(b.length + 1);
    next[0] = i + 1;
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (character === b[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1);
    }
    row = next;
  }
  return row[b.length] as number;
}

/** Replaces the characters from `start` on, as many as `added` has unless `length` says. */
function overlay([text, added, start, length]: readonly Present[]): string {
  const [own, from] = [chars(text), Number(start)];
  const count = length === undefined ? chars(added).length : Number(length);
  return own.slice(0, Math.max(from - 1, 0)).join("") + str(added) + own.slice(Math.max(from - 1 + count, 0)).join("");
}

function space(count: number): string {
  checkTextLength(count);
  return " ".repeat(Math.max(count, 0));
}

const substringOfIndex = strict(
  "substring_index(text, separator, count)",
  typed(["text", "text", "integer"], STRING),
  ([text, separator, count]) => substringIndex(text, separator, Number(count)),
);

/** The functions of this file. */
export const MYSQL_FUNCTIONS: readonly ScalarFunction[] = [
  lenient("elt(n, text, …)", eltType, ([n, ...rest]) => (n === undefined ? undefined : rest[Number(n) - 1])),
  lenient("field(text, text, …)", fieldType, field),
  lenient("format(number, digits | pattern, value, …)", formatType, formatted),
  strict("insert(text, position, length, added)", typed(["text", "integer", "integer", "text"], STRING), ([text, position, size, added]) =>
    insert(text, Number(position), Number(size), added),
  ),
  strict(
    "locate(part, text[, position])",
    typed(["text", "text", "integer"], INT64, 2),
    ([part, text, from]) => locate(part, text, from === undefined ? 1 : Number(from)),
    { columns: located },
  ),
  strict("space(count)", typed(["integer"], STRING), ([count]) => space(Number(count))),
  strict("find_in_set(text, list)", typed(["text", "text"], INT32), ([item, list]) => findInSet(item, list)),
  substringOfIndex,
  alias("substr_index", substringOfIndex),
  strict("levenshtein(text, text)", typed(["string", "string"], INT32), ([a, b]) => levenshtein(chars(a), chars(b))),
  strict("overlay(text, added, start[, length])", typed(["text", "text", "integer", "integer"], STRING, 3), overlay),
];
