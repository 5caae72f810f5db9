/** Functions on text. Positions count characters (code points) from 1. */
import { BOOLEAN, type DataType, INT32, STRING } from "../../../column/data-type.ts";
import { codePointCount } from "../../../column/code-points.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { leftParts, rightParts, splitParts, substrings, trims } from "../columns/cut.ts";
import { chained, concatenated as concatenatedColumns, replacements, separated } from "../columns/join.ts";
import { byteCounts, changeCase, characterCounts, firstCodes, reversed } from "../columns/letters.ts";
import { contains, endsWith, positions, startsWith } from "../columns/search.ts";
import { similarTest } from "../text/similar.ts";
import { alias, type FunctionOptions, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { type ArgumentKind, constant, isString, texts, typed } from "../signature/signature.ts";
import { fullTextQueryOf, meetsFullTextQuery } from "../text/full-text-query.ts";
import { matchesTerm } from "../text/term.ts";
import { checkTextLength } from "../text/text-limit.ts";
import { textOf, type Value } from "../value/value.ts";

const str = textOf;
const chars = (value: Value): string[] => [...str(value)];
const bytesOf = (value: Value): Uint8Array => (value instanceof Uint8Array ? value : new TextEncoder().encode(str(value)));

function text1(
  signature: string,
  run: (text: string) => Value,
  result = STRING,
  kind: ArgumentKind = "string",
  options: FunctionOptions = {},
): ScalarFunction {
  return strict(signature, typed([kind], result), ([text]) => run(str(text)), options);
}

/** Text, or binary as it lies, to a count of 32 bits. */
const textOrBytes: ScalarFunction["resolve"] = (args) => {
  const [type] = args;
  if (args.length !== 1 || type === undefined || !(isString(type) || type.kind === "binary")) return undefined;
  const given: DataType = type.kind === "binary" ? type : STRING;
  return { args: [given], result: INT32 };
};

function substring(text: Value, start: number, length: number | undefined): string {
  if (length !== undefined && length < 0) {
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot take a substring: negative length ${length}; use a length of 0 or more`);
  }
  const end = length === undefined ? undefined : Math.max(start - 1 + length, 0);
  return chars(text)
    .slice(Math.max(start - 1, 0), end)
    .join("");
}

/** The first `count` characters; a negative count leaves off that many at the end. */
const leftOf = (text: Value, count: number): string => chars(text).slice(0, count).join("");
const rightOf = (text: Value, count: number): string =>
  count === 0 ? "" : count > 0 ? chars(text).slice(-count).join("") : chars(text).slice(-count).join("");

/** What a reader takes for one character: a letter with its accents, a flag. */
const graphemes = (value: Value): string[] =>
  PLAIN.test(str(value)) ? [...str(value)] : Array.from(SEGMENTER.segment(str(value)), ({ segment }) => segment);
const PLAIN = /^[\x20-\x7e]*$/;
const SEGMENTER: Intl.Segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

function pad(text: Value, length: number, filler: string, atStart: boolean): string {
  const own = graphemes(text);
  if (length <= own.length) return own.slice(0, Math.max(length, 0)).join("");
  checkTextLength(length);
  const fill = [...filler];
  if (fill.length === 0) return own.join("");
  const missing = length - own.length;
  const added = Array.from({ length: missing }, (_, i) => fill[i % fill.length]).join("");
  return atStart ? added + own.join("") : own.join("") + added;
}

function repeat(text: Value, count: number): string {
  const times = Math.max(count, 0);
  checkTextLength(str(text).length * times);
  return str(text).repeat(times);
}

function trim(text: string, set: string, start: boolean, end: boolean): string {
  const own = [...text];
  const drop = new Set(set);
  let from = 0;
  let to = own.length;
  while (start && from < to && drop.has(own[from] ?? "")) from++;
  while (end && to > from && drop.has(own[to - 1] ?? "")) to--;
  return own.slice(from, to).join("");
}

function trimmer(name: string, start: boolean, end: boolean): ScalarFunction {
  return strict(
    `${name}(text[, characters])`,
    typed(["string", "string"], STRING, 1),
    ([text, set]) => trim(str(text), set === undefined ? " " : str(set), start, end),
    { columns: trims(start, end) },
  );
}

function position(text: Value, sub: Value): number {
  const at = str(text).indexOf(str(sub));
  return at < 0 ? 0 : Array.from(str(text).slice(0, at)).length + 1;
}

function splitPart(text: Value, separator: Value, index: number): string {
  if (index === 0) throw new DbError(StatusCode.EngineExecuteQuery, "cannot split: field position must not be zero; the first part is 1");
  const parts = str(separator) === "" ? [str(text)] : str(text).split(str(separator));
  return (index > 0 ? parts[index - 1] : parts[parts.length + index]) ?? "";
}

function replaced(text: string, from: string, to: string): string {
  if (to.length > from.length) checkTextLength(((text.length + 1) / Math.max(from.length, 1)) * to.length);
  if (from === "") return to + Array.from(text, (character) => character + to).join("");
  return text.replaceAll(from, () => to);
}

function character(code: number): string {
  if (code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)) return String.fromCodePoint(code);
  throw new DbError(StatusCode.EngineExecuteQuery, `cannot make a character: there is none with the code ${code}`);
}

function capitalise(text: string): string {
  return text.toLowerCase().replace(/[\p{L}\p{N}]+/gu, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}

/** Characters here are graphemes. */
function translate(text: Value, from: Value, to: Value): string {
  const target = graphemes(to);
  const map = new Map<string, string>();
  for (const [i, character] of graphemes(from).entries()) if (!map.has(character)) map.set(character, target[i] ?? "");
  return graphemes(text)
    .map((character) => map.get(character) ?? character)
    .join("");
}

function concatenated(parts: readonly string[], separator = ""): string {
  checkTextLength(parts.reduce((sum, part) => sum + part.length, separator.length * (parts.length - 1)));
  return parts.join(separator);
}

function concatWs(args: readonly Value[]): Value {
  const [separator, ...rest] = args;
  const parts = rest.filter((part) => part !== undefined).map(str);
  return separator === undefined ? undefined : concatenated(parts, str(separator));
}

const length = text1("length(text)", codePointCount, INT32, "text", { columns: characterCounts });
// Of numbers too: JDBC drivers of MySQL ask for columns so.
const lower = text1("lower(text)", (text) => text.toLowerCase(), STRING, "text", { columns: changeCase("lower") });
const upper = text1("upper(text)", (text) => text.toUpperCase(), STRING, "text", { columns: changeCase("upper") });
const substr = strict(
  "substr(text, start[, length])",
  typed(["string", "integer", "integer"], STRING, 2),
  ([text, start, count], { environment }) =>
    // Of MySQL a length below 0 gives nothing, which its JDBC drivers rely on.
    substring(
      text,
      Number(start),
      count === undefined ? undefined : environment.isMysql === true ? Math.max(0, Number(count)) : Number(count),
    ),
  { columns: substrings },
);
const strpos = strict("strpos(text, part)", typed(["string", "string"], INT32), ([text, sub]) => position(text, sub), {
  columns: positions,
});
const btrim = trimmer("btrim", true, true);
const test2 = (signature: string, run: (a: string, b: string) => boolean, options: FunctionOptions = {}): ScalarFunction =>
  strict(signature, typed(["string", "string"], BOOLEAN), ([a, b]) => run(str(a), str(b)), options);

/** The functions of this file. */
export const STRING_FUNCTIONS: readonly ScalarFunction[] = [
  text1("ascii(text)", (text) => text.codePointAt(0) ?? 0, INT32, "string", { columns: firstCodes }),
  strict("bit_length(text)", textOrBytes, ([value]) => bytesOf(value).length * 8, { columns: byteCounts(8) }),
  strict("octet_length(text)", textOrBytes, ([value]) => bytesOf(value).length, { columns: byteCounts(1) }),
  ...["char_length", "character_length", "len"].map((name) => alias(name, length)),
  length,
  lower,
  alias("lcase", lower),
  upper,
  alias("ucase", upper),
  text1("initcap(text)", capitalise),
  text1("reverse(text)", (text) => Array.from(text).reverse().join(""), STRING, "text", { columns: reversed }),
  btrim,
  alias("trim", btrim),
  trimmer("ltrim", true, false),
  trimmer("rtrim", false, true),
  strict("chr(code)", typed(["integer"], STRING), ([code]) => character(Number(code))),
  lenient("concat(text, …)", texts(1, STRING), (args) => concatenated(args.map(str)), { columns: concatenatedColumns }),
  lenient("concat_ws(separator, text, …)", texts(2, STRING), concatWs, { columns: separated }),
  strict("concat_op(text, text)", texts(2, STRING), (args) => concatenated(args.map(str)), { columns: chained }),
  test2("contains(text, part)", (a, b) => a.includes(b), { columns: contains }),
  test2("starts_with(text, part)", (a, b) => a.startsWith(b), { columns: startsWith }),
  test2("ends_with(text, part)", (a, b) => a.endsWith(b), { columns: endsWith }),
  test2("matches(text, query)", (text, query) => meetsFullTextQuery(fullTextQueryOf(query), text)),
  test2("matches_term(text, term)", matchesTerm),
  strict("left(text, count)", typed(["text", "integer"], STRING), ([text, count]) => leftOf(text, Number(count)), { columns: leftParts }),
  strict("right(text, count)", typed(["text", "integer"], STRING), ([text, count]) => rightOf(text, Number(count)), {
    columns: rightParts,
  }),
  strict("lpad(text, length[, filler])", typed(["text", "integer", "text"], STRING, 2), ([text, size, fill]) =>
    pad(text, Number(size), fill === undefined ? " " : str(fill), true),
  ),
  strict("rpad(text, length[, filler])", typed(["text", "integer", "text"], STRING, 2), ([text, size, fill]) =>
    pad(text, Number(size), fill === undefined ? " " : str(fill), false),
  ),
  strict("repeat(text, count)", typed(["string", "integer"], STRING), ([text, count]) => repeat(text, Number(count))),
  strict(
    "replace(text, from, to)",
    typed(["string", "string", "string"], STRING),
    ([text, from, to]) => replaced(str(text), str(from), str(to)),
    { columns: replacements },
  ),
  strict(
    "split_part(text, separator, index)",
    typed(["string", "string", "integer"], STRING),
    ([text, separator, index]) => splitPart(text, separator, Number(index)),
    { columns: splitParts },
  ),
  strpos,
  alias("instr", strpos),
  alias("position", strpos),
  substr,
  alias("substring", substr),
  alias("mid", substr),
  strict("translate(text, from, to)", typed(["text", "text", "text"], STRING), ([text, from, to]) => translate(text, from, to)),
  test2("similar_op(text, pattern)", (text, pattern) => similarTest(pattern)(text)),
  test2("not_similar_op(text, pattern)", (text, pattern) => !similarTest(pattern)(text)),
  lenient("uuid()", constant(STRING), () => crypto.randomUUID(), { volatility: "volatile" }),
];
