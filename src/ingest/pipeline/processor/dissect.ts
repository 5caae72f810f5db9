/**
 * `dissect`: cuts a text along a pattern of literals and names, without backtracking: a name ends at the first occurrence of the first
 * character of the literal behind it.
 */
import type { Options } from "../definition.ts";
import { failure } from "../failure.ts";
import { type PipelineObject, setField } from "../../common/value.ts";
import { eachField, type Processor, wrongType } from "./processor.ts";

/** A name of a pattern and the literal behind it. */
interface Cut {
  readonly name: string;
  readonly kind: "take" | "skip" | "append";
  readonly order: number;
  /** Swallow repeats of the first character of `literal`. */
  readonly isPadded: boolean;
  /** "" at the end of the pattern. */
  readonly literal: string;
}

/** A compiled pattern. */
interface Pattern {
  readonly prefix: string;
  readonly cuts: readonly Cut[];
  /** Appended names with the places of their parts in `cuts`, in the order in which they are joined. */
  readonly appended: readonly Appended[];
}

/** A name of several parts. */
interface Appended {
  readonly name: string;
  readonly parts: readonly number[];
  /** Whether what stands between the parts in the text is what joins them, so that the value is one piece of the text. */
  readonly isOnePiece: boolean;
}

const NAME = /^(?:([?+*&])?([A-Za-z0-9_]*)(?:\/(\d{1,9}))?(->)?)$/;

/** Compiles a `dissect` processor. @throws DbError InvalidArguments */
export function dissectProcessor(options: Options): Processor {
  const texts = [...options.texts("pattern"), ...options.texts("patterns")];
  if (texts.length === 0) throw options.refused("pattern", "is required");
  const separator = options.text("append_separator") ?? " ";
  const patterns = texts.map((text) => compilePattern(text, options, separator));
  const places = new Int32Array(2 * Math.max(...patterns.map(({ cuts }) => cuts.length)));
  return eachField(options, (row, value) => {
    if (typeof value !== "string") throw wrongType("dissect", "string", value);
    for (const pattern of patterns) {
      if (!matches(pattern, value, places)) continue;
      store(pattern, value, places, separator, row);
      return;
    }
    throw failure("No matching pattern found");
  });
}

/** Finds where each name starts and ends. */
function matches({ prefix, cuts }: Pattern, text: string, places: Int32Array): boolean {
  if (!text.startsWith(prefix)) return false;
  let at = prefix.length;
  for (let i = 0; i < cuts.length; i++) {
    const { literal, isPadded } = cuts[i] as Cut; // i < length
    places[2 * i] = at;
    if (literal === "") {
      places[2 * i + 1] = text.length;
      return true;
    }
    const end = text.indexOf(literal.charAt(0), at);
    if (end < 0) return false;
    places[2 * i + 1] = end;
    at = end;
    if (isPadded) while (text.charCodeAt(at + 1) === literal.charCodeAt(0)) at++;
    if (!text.startsWith(literal, at)) return false;
    at += literal.length;
  }
  return true;
}

function store({ cuts, appended }: Pattern, text: string, places: Int32Array, separator: string, row: PipelineObject): void {
  for (let i = 0; i < cuts.length; i++) {
    const cut = cuts[i] as Cut; // i < length
    if (cut.kind === "take") setField(row, cut.name, text.slice(places[2 * i], places[2 * i + 1]));
  }
  for (const { name, parts, isOnePiece } of appended) {
    const first = parts[0] as number; // a name has a part
    const last = parts[parts.length - 1] as number;
    let joined = text.slice(places[2 * first], places[2 * (isOnePiece ? last : first) + 1]);
    for (let i = 1; i < parts.length && !isOnePiece; i++) {
      const part = parts[i] as number; // i < length
      joined += separator + text.slice(places[2 * part], places[2 * part + 1]);
    }
    setField(row, name, joined);
  }
}

function compilePattern(text: string, options: Options, separator: string): Pattern {
  const refused = (why: string): Error => options.refused("pattern", `'${text}' ${why}`);
  const cuts: Cut[] = [];
  const keys = { "*": new Set<string>(), "&": new Set<string>() };
  let at = text.indexOf("%{");
  if (at < 0) throw refused("has no %{name}");
  const prefix = text.slice(0, at);
  while (at < text.length) {
    const close = text.indexOf("}", at);
    if (close < 0) throw refused(`has a %{ without } at ${at + 1}`);
    const found = NAME.exec(text.slice(at + 2, close).trim());
    if (found === null) throw refused(`has an invalid name: ${text.slice(at, close + 1)}`);
    const [, modifier, name = "", order, padding] = found;
    if (name === "" && (modifier === "+" || modifier === "*" || modifier === "&")) throw refused(`has %{${modifier}} without a name`);
    if (order !== undefined && modifier !== "+") throw refused(`has an order that is not of %{+name}: ${text.slice(at, close + 1)}`);
    if (modifier === "*" || modifier === "&") keys[modifier].add(name);
    const next = text.indexOf("%{", close);
    const end = next < 0 ? text.length : next;
    const literal = text.slice(close + 1, end);
    if (literal === "" && next >= 0) throw refused(`has two names without a literal between them at ${next + 1}`);
    const kind = modifier === "+" ? "append" : modifier !== undefined || name === "" ? "skip" : "take";
    cuts.push({ name, kind, order: Number(order ?? 0), isPadded: padding !== undefined, literal });
    at = end;
  }
  for (const name of [...keys["*"], ...keys["&"]]) {
    if (!keys["*"].has(name) || !keys["&"].has(name)) throw refused(`needs both %{*${name}} and %{&${name}}`);
  }
  return { prefix, cuts, appended: appendedOf(cuts, separator) };
}

function appendedOf(cuts: readonly Cut[], separator: string): readonly Appended[] {
  const parts = Map.groupBy(
    cuts.flatMap((cut, place) => (cut.kind === "append" ? [{ cut, place }] : [])),
    ({ cut }) => cut.name,
  );
  return [...parts].map(([name, list]) => {
    const places = list.sort((a, b) => a.cut.order - b.cut.order).map(({ place }) => place);
    const follows = (place: number, i: number): boolean => {
      const before = cuts[place - 1];
      return i === 0 || (place - 1 === places[i - 1] && before?.literal === separator && !before.isPadded);
    };
    return { name, parts: places, isOnePiece: places.every(follows) };
  });
}
