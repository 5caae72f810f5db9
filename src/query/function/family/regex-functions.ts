/**
 * Functions on regular expressions, and the operators `~`, `~*`, `!~`, `!~*`; linear in the text. Positions count characters from 1.
 * Flags: i any case, m lines, s dot meets line ends, U lazy and greedy change places, x blanks and comments mean nothing, g all matches.
 */
import { DbError } from "../../../base/error.ts";
import { ByteRegex } from "../../../base/text/byte-regex/byte-regex.ts";
import { ByteCaptures } from "../../../base/text/byte-regex/captures.ts";
import { regexTree } from "../../../base/text/byte-regex/syntax.ts";
import { compileLinearRegex, compileReplacement, replacementParts, type Regex, type RegexMatch } from "../../../base/text/linear-regex.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN, INT64, STRING } from "../../../column/data-type.ts";
import { constantText, numbers, texts, textsOfOperand } from "../columns/operand.ts";
import { extractedRows, matchCounts, matchingRows, type Matcher, replacedRows } from "../columns/regex.ts";
import { listOf, resultOf } from "../nested/parts.ts";
import type { ColumnCall, ColumnFunction, Operand } from "../signature/column-function.ts";
import { type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { typed } from "../signature/signature.ts";
import { checkTextLength } from "../text/text-limit.ts";
import { unicodePattern } from "../text/unicode-pattern.ts";
import { type Present, textOf as str, type Value } from "../value/value.ts";

/** Most expressions that stay compiled. */
const CACHE_MAX = 256;
const cache = new Map<string, Regex>();

/** A regular expression of a query, compiled once. Flags: i, m, s, U, x. @throws DbError EngineExecuteQuery when it is none */
function regexOf(pattern: string, flags: string): Regex {
  const key = `${flags}/${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const wrong = /[^imsUx]/.exec(flags);
  const has = (flag: string): boolean => flags.includes(flag);
  const compiled =
    wrong === null
      ? compileLinearRegex((has("U") ? "(?U)" : "") + unicodePattern(pattern, has("x")), {
          insensitive: has("i"),
          multiline: has("m"),
          dotAll: has("s"),
        })
      : { ok: false as const, reason: `flag '${wrong[0]}' does not go with it; use i, m, s, U or x` };
  if (!compiled.ok) {
    const message = `cannot compile regular expression '${pattern.slice(0, 80)}': ${compiled.reason}`;
    throw new DbError(StatusCode.EngineExecuteQuery, message);
  }
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(key, compiled.value);
  return compiled.value;
}

const given = (value: Value, other: string): string => (value === undefined ? other : str(value));

function operator(name: string, flags: string, wanted: boolean): ScalarFunction {
  return strict(
    `${name}(text, pattern)`,
    typed(["string", "string"], BOOLEAN),
    ([text, pattern]) => regexOf(str(pattern), flags).test(str(text)) === wanted,
    { columns: ([text, pattern], call) => tested(text, matcherOf(constantText(pattern), flags), wanted, call) },
  );
}

const matchers = new Map<string, Matcher | undefined>();

/** An expression as bytes are tested by it; undefined where it is none, or none of the simple ones. */
function matcherOf(pattern: string | undefined, flags: string | undefined): Matcher | undefined {
  if (pattern === undefined || flags === undefined || !/^[is]*$/.test(flags)) return undefined;
  const key = `${flags}/${pattern}`;
  if (matchers.has(key)) return matchers.get(key);
  if (matchers.size >= CACHE_MAX) matchers.clear();
  const bytes = ByteRegex.of(pattern, { insensitive: flags.includes("i"), dotAll: flags.includes("s") });
  const matcher =
    bytes === undefined || !isValid(pattern, flags) ? undefined : { bytes, test: (text: string) => regexOf(pattern, flags).test(text) };
  matchers.set(key, matcher);
  return matcher;
}

function isValid(pattern: string, flags: string): boolean {
  try {
    regexOf(pattern, flags);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    return false; // The interpreter says why.
  }
}

const captures = new Map<string, ByteCaptures | undefined>();

/** The groups of an expression's match over bytes; undefined where it is not as simple. */
function capturesOf(pattern: string, flags: string): ByteCaptures | undefined {
  if (!/^[s]*$/.test(flags)) return undefined;
  const key = `${flags}/${pattern}`;
  if (captures.has(key)) return captures.get(key);
  if (captures.size >= CACHE_MAX) captures.clear();
  const tree = isValid(pattern, flags) ? regexTree(pattern, { insensitive: false, dotAll: flags.includes("s") }) : undefined;
  const made = tree === undefined ? undefined : ByteCaptures.of(tree);
  captures.set(key, made);
  return made;
}

/** `regexp_replace` of constants. */
const replacedColumns: ColumnFunction = ([text, pattern, to, flags], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  const [source, put, letters] = [constantText(pattern), constantText(to), flags === undefined ? "" : constantText(flags)];
  if (given === undefined || source === undefined || put === undefined || letters === undefined) return undefined;
  const plain = letters.replaceAll("g", "");
  const found = capturesOf(source, plain);
  if (found === undefined) return undefined;
  const parts = replacementParts(numberedGroups(put), regexOf(source, plain)).filter((part) => part !== "");
  const encoder = new TextEncoder();
  const bytes = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
  const made = replacedRows(given, rowCount, present, found, bytes, letters.includes("g"));
  return made === undefined ? undefined : texts(made);
};

/** `regexp_extract` of a constant. */
const extractedColumns: ColumnFunction = ([text, pattern], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  const source = constantText(pattern);
  const found = source === undefined ? undefined : capturesOf(source, "");
  const made = given === undefined || found === undefined ? undefined : extractedRows(given, rowCount, present, found);
  return made === undefined ? undefined : texts(made);
};

/** `regexp_count` of a constant, without a start and flags. */
const countedColumns: ColumnFunction = ([text, pattern, start], { rowCount }) => {
  const given = textsOfOperand(text, rowCount);
  const source = constantText(pattern);
  const found = source === undefined || start !== undefined ? undefined : capturesOf(source, "");
  const counts = given === undefined || found === undefined ? undefined : matchCounts(given, rowCount, found);
  return counts === undefined ? undefined : numbers(counts, undefined);
};

/** Whether an expression fits into the text of each row. */
function tested(text: Operand | undefined, matcher: Matcher | undefined, wanted: boolean, call: ColumnCall): Operand | undefined {
  const { rowCount, present } = call;
  const given = textsOfOperand(text, rowCount);
  const matches = given === undefined || matcher === undefined ? undefined : matchingRows(given, rowCount, present, matcher);
  if (matches === undefined) return undefined;
  if (!wanted) for (let row = 0; row < rowCount; row++) matches[row] = 1 - (matches[row] as number);
  return numbers(matches, present);
}

/** What follows the first `start - 1` characters. @throws DbError EngineExecuteQuery for a start below 1 */
function textFrom(text: Value, start: Value, name: string): string {
  const from = start === undefined ? 1 : Number(start);
  if (from < 1) throw new DbError(StatusCode.EngineExecuteQuery, `${name}() counts characters from 1: its start was ${from}`);
  return from === 1 ? str(text) : [...str(text)].slice(from - 1).join("");
}

/** The same, for which flags that are NULL are none; of `regexp_replace` they make NULL. @param place of the flags among the arguments */
function withFlags(of: ScalarFunction, place: number): ScalarFunction {
  const evaluate: ScalarFunction["evaluate"] = (args, call) =>
    args.some((argument, i) => argument === undefined && i !== place) ? undefined : of.evaluate(args, call);
  return { ...of, nulls: "own", evaluate };
}

/** Of no text, and of a text without a pattern, 0. */
function count(args: readonly Value[]): Value {
  const [text, pattern, start, flags] = args;
  if (args.length > 2 && start === undefined) return undefined;
  if (text === undefined || pattern === undefined || str(text) === "") return 0;
  let matches = 0;
  const rest = textFrom(text, start, "regexp_count");
  if (str(pattern) === "") return 0;
  regexOf(str(pattern), given(flags, "")).each(rest, () => {
    matches++;
    return true;
  });
  return matches;
}

/** Position of match `n`, or of one of its groups; 0 when there is none. */
function instr([text, pattern, start, n, flags, group]: readonly Present[]): number {
  const [wanted, part] = [n === undefined ? 1 : Number(n), group === undefined ? 0 : Number(group)];
  if (wanted < 1) throw new DbError(StatusCode.EngineExecuteQuery, `regexp_instr() counts matches from 1: N was ${wanted}`);
  const rest = textFrom(text, start, "regexp_instr");
  if (str(text) === "" || str(pattern) === "") return 0;
  let [seen, found]: [number, RegexMatch | undefined] = [0, undefined];
  regexOf(str(pattern), given(flags, "")).each(rest, (match) => {
    seen++;
    if (seen === wanted) found = match;
    return seen < wanted;
  });
  const match = found as RegexMatch | undefined; // assigned in the callback
  const piece = match?.groups[part];
  if (match === undefined || piece === undefined) return 0;
  const at = part === 0 ? match.start : match.start + (match.groups[0] ?? "").indexOf(piece);
  return Array.from(rest.slice(0, at)).length + (start === undefined ? 1 : Number(start));
}

const numberedGroups = (to: string): string => to.replaceAll(/\\+(\d+)/g, "${$1}");

/** Replaces the first match, or with flag g all. `\1`, `\\1` (as other dialects escape it) and `$1` stand for groups. */
function replaced([text, pattern, to, flags]: readonly Present[]): string {
  const letters = given(flags, "");
  const regex = regexOf(str(pattern), letters.replaceAll("g", ""));
  const replacement = compileReplacement(numberedGroups(str(to)), regex);
  let length = str(text).length;
  const bounded = (groups: readonly (string | undefined)[]): string => {
    const put = replacement(groups);
    length += put.length - (groups[0]?.length ?? 0);
    checkTextLength(length);
    return put;
  };
  return regex.replaceAll(str(text), bounded, letters.includes("g") ? Number.POSITIVE_INFINITY : 1);
}

/** The groups of the first match, or where the expression has none, the whole of it; NULL without a match. */
function matched([text, pattern, flags]: readonly Present[], call: FunctionCall): Value {
  const letters = given(flags, "");
  if (letters.includes("g")) {
    const why = 'regexp_match() does not support the "global" option; regexp_count and regexp_instr look at every match';
    throw new DbError(StatusCode.EngineExecuteQuery, why);
  }
  const groups = regexOf(str(pattern), letters).first(str(text));
  return groups === undefined ? undefined : resultOf(call, groups.length > 1 ? groups.slice(1) : [groups[0]]);
}

/** The functions of this file. */
export const REGEX_FUNCTIONS: readonly ScalarFunction[] = [
  operator("regex_match_op", "", true),
  operator("regex_imatch_op", "i", true),
  operator("regex_not_match_op", "", false),
  operator("regex_not_imatch_op", "i", false),
  withFlags(
    strict(
      "regexp_like(text, pattern[, flags])",
      typed(["string", "string", "string"], BOOLEAN, 2),
      ([text, pattern, flags]) => regexOf(str(pattern), given(flags, "")).test(str(text)),
      {
        columns: ([text, pattern, flags], call) =>
          tested(text, matcherOf(constantText(pattern), flags === undefined ? "" : constantText(flags)), true, call),
      },
    ),
    2,
  ),
  lenient("regexp_count(text, pattern[, start[, flags]])", typed(["string", "string", "integer", "string"], INT64, 2), count, {
    columns: countedColumns,
  }),
  withFlags(
    strict(
      "regexp_instr(text, pattern[, start[, n[, flags[, group]]]])",
      typed(["string", "string", "integer", "integer", "string", "integer"], INT64, 2),
      instr,
    ),
    4,
  ),
  strict(
    "regexp_extract(text, pattern)",
    typed(["string", "string"], STRING),
    ([text, pattern]) => regexOf(str(pattern), "").first(str(text))?.[0],
    { columns: extractedColumns },
  ),
  withFlags(strict("regexp_match(text, pattern[, flags])", typed(["string", "string", "string"], listOf(STRING), 2), matched), 2),
  strict("regexp_replace(text, pattern, to[, flags])", typed(["string", "string", "string", "string"], STRING, 3), replaced, {
    columns: replacedColumns,
  }),
];
