/** Functions of VRL that take values. A new one is a line in a table here. */
import { errorText } from "../../../base/error.ts";
import { jsonText, plainText } from "../json/json-text.ts";
import { jsonValue } from "../../common/json-value.ts";
import { fitsInt64 } from "../../../value/integer-range.ts";
import { integerOfText, numberOfText } from "../../../value/number-text.ts";
import { unitOf } from "../processor/epoch.ts";
import { compileTimeFormat } from "../strftime.ts";
import { timeZoneOf } from "../time-zone.ts";
import {
  floatValue,
  intValue,
  isObject,
  kindOf,
  PipelineTime,
  type PipelineObject,
  type PipelineValue,
  setField,
  timeIn,
} from "../../common/value.ts";
import { type Context, executeError, Kind, kindName } from "./node.ts";
import { boundedText, floatOf, isEqual } from "./operators.ts";

/** See the file header. */
export interface VrlFunction {
  readonly params: readonly string[];
  /** How many of the parameters must be given. */
  readonly required: number;
  /** Bits of `Kind` of what it gives. */
  readonly kinds: number;
  /** Arguments that were not given are undefined. @throws DbError InvalidArguments */
  readonly run: (args: readonly PipelineValue[], context: Context) => PipelineValue;
}

type Entry = readonly [name: string, definition: VrlFunction];

function entry(name: string, kinds: number, params: string, run: VrlFunction["run"]): Entry {
  const all = params.split(" ").filter((param) => param !== "");
  return [
    name,
    { params: all.map((param) => param.replace("?", "")), required: all.filter((param) => !param.endsWith("?")).length, kinds, run },
  ];
}

function text(value: PipelineValue): string {
  if (typeof value !== "string") throw executeError(`expected string, got ${kindName(value)}`);
  return value;
}

function integer(value: PipelineValue): number {
  if (typeof value !== "number" || kindOf(value) !== "int") throw executeError(`expected integer, got ${kindName(value)}`);
  return value;
}

function object(value: PipelineValue): PipelineObject {
  if (!isObject(value)) throw executeError(`expected object, got ${kindName(value)}`);
  return value;
}

function list(value: PipelineValue): readonly PipelineValue[] {
  if (!Array.isArray(value)) throw executeError(`expected array, got ${kindName(value)}`);
  return value;
}

function time(value: PipelineValue): PipelineTime {
  if (!(value instanceof PipelineTime)) throw executeError(`expected timestamp, got ${kindName(value)}`);
  return value;
}

function number(value: PipelineValue): number {
  const float = floatOf(value);
  if (float === undefined) throw executeError(`expected integer or float, got ${kindName(value)}`);
  return float;
}

/** `string(x)` and its like: the value itself, or an error; `is_string(x)` asks. */
function kindFunctions(): readonly Entry[] {
  const kinds: readonly (readonly [string, number])[] = [
    ["string", Kind.string],
    ["int", Kind.int],
    ["float", Kind.float],
    ["bool", Kind.boolean],
    ["array", Kind.array],
    ["object", Kind.object],
    ["timestamp", Kind.time],
  ];
  const asserting = kinds.map(([name, kind]) =>
    entry(name, kind, "value", ([value]) => {
      if ((Kind[bitName(value)] & kind) === 0) throw executeError(`expected ${name}, got ${kindName(value)}`);
      return value;
    }),
  );
  const asking = [...kinds, ["null", Kind.null] as const].map(([name, kind]) =>
    entry(`is_${name === "bool" ? "boolean" : name === "int" ? "integer" : name}`, Kind.boolean, "value", ([value]) => {
      return (Kind[bitName(value)] & kind) !== 0;
    }),
  );
  return [...asserting, ...asking];
}

function bitName(value: PipelineValue): keyof typeof Kind {
  return kindOf(value);
}

function toInt(value: PipelineValue): PipelineValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === null) return 0;
  if (value instanceof PipelineTime) return intValue(timeIn(value, "second"));
  if (kindOf(value) === "int") return value;
  const whole = typeof value === "string" ? integerOfText(value) : undefined;
  if (whole !== undefined && fitsInt64(whole)) return whole;
  const float = floatOf(value);
  if (float === undefined || !Number.isFinite(float)) throw executeError(`cannot turn ${kindName(value)} into an integer`);
  return intValue(BigInt.asIntN(64, BigInt(Math.trunc(float))));
}

function toFloat(value: PipelineValue): PipelineValue {
  if (typeof value === "boolean") return floatValue(value ? 1 : 0);
  if (value === null) return floatValue(0);
  if (value instanceof PipelineTime) return floatValue(Number(timeIn(value, "nanosecond")) / 1e9);
  const number = typeof value === "string" ? numberOfText(value) : undefined;
  if (number !== undefined) return floatValue(number);
  const float = floatOf(value);
  if (float === undefined) throw executeError(`cannot turn ${kindName(value)} into a float`);
  return floatValue(float);
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "t", "yes", "y", "1"].map((word) => [word, true] as const),
  ...["false", "f", "no", "n", "0"].map((word) => [word, false] as const),
]);

function toBool(value: PipelineValue): boolean {
  if (typeof value === "boolean") return value;
  if (value === null) return false;
  const known =
    typeof value === "string" ? BOOLEANS.get(value.toLowerCase()) : floatOf(value) === undefined ? undefined : floatOf(value) !== 0;
  if (known === undefined) throw executeError(`cannot turn ${kindName(value)} into a boolean`);
  return known;
}

const CONVERSIONS: readonly Entry[] = [
  entry("to_string", Kind.string, "value", ([value]) => (value === null ? "" : plainText(value))),
  entry("to_int", Kind.int, "value", ([value]) => toInt(value)),
  entry("to_float", Kind.float, "value", ([value]) => toFloat(value)),
  entry("to_bool", Kind.boolean, "value", ([value]) => toBool(value)),
  entry("parse_int", Kind.int, "value base?", ([value, base]) => {
    const radix = base === undefined ? 10 : integer(base);
    const source = text(value);
    const parsed = Number.parseInt(source, radix);
    const canonical = parsed.toString(radix);
    if (
      !Number.isSafeInteger(parsed) ||
      canonical !==
        source
          .toLowerCase()
          .replace(/^\+/, "")
          .replace(/^(-?)0+(?=.)/, "$1")
    ) {
      throw executeError(`could not parse integer '${source.slice(0, 120)}'`);
    }
    return parsed;
  }),
  entry("parse_float", Kind.float, "value", ([value]) => toFloat(text(value))),
  entry("parse_json", Kind.any, "value", ([value]) => {
    try {
      return jsonValue(text(value));
    } catch (error) {
      throw executeError(`unable to parse json: ${errorText(error)}`);
    }
  }),
  entry("encode_json", Kind.string, "value", ([value]) => jsonText(value)),
];

const TEXTS: readonly Entry[] = [
  entry("upcase", Kind.string, "value", ([value]) => text(value).toUpperCase()),
  entry("downcase", Kind.string, "value", ([value]) => text(value).toLowerCase()),
  entry("strip_whitespace", Kind.string, "value", ([value]) => text(value).trim()),
  entry("contains", Kind.boolean, "value substring case_sensitive?", ([value, part, exact]) => {
    return exact === false ? text(value).toLowerCase().includes(text(part).toLowerCase()) : text(value).includes(text(part));
  }),
  entry("starts_with", Kind.boolean, "value substring case_sensitive?", ([value, part, exact]) => {
    return exact === false ? text(value).toLowerCase().startsWith(text(part).toLowerCase()) : text(value).startsWith(text(part));
  }),
  entry("ends_with", Kind.boolean, "value substring case_sensitive?", ([value, part, exact]) => {
    return exact === false ? text(value).toLowerCase().endsWith(text(part).toLowerCase()) : text(value).endsWith(text(part));
  }),
  entry("replace", Kind.string, "value pattern with", ([value, from, to]) =>
    boundedText(text(value).replaceAll(text(from), () => text(to))),
  ),
  entry("split", Kind.array, "value pattern limit?", ([value, separator, limit]) => {
    const parts = text(value).split(text(separator));
    const most = limit === undefined ? parts.length : Math.max(1, integer(limit));
    return parts.length <= most ? parts : [...parts.slice(0, most - 1), parts.slice(most - 1).join(text(separator))];
  }),
  entry("join", Kind.string, "value separator?", ([value, separator]) => {
    return boundedText(
      list(value)
        .map(text)
        .join(separator === undefined ? "" : text(separator)),
    );
  }),
  entry("truncate", Kind.string, "value limit suffix?", ([value, limit, suffix]) => {
    const characters = [...text(value)];
    const most = Math.max(0, integer(limit));
    return characters.length <= most ? text(value) : characters.slice(0, most).join("") + (suffix === undefined ? "" : text(suffix));
  }),
  entry("slice", Kind.string | Kind.array, "value start end?", ([value, start, end]) => {
    const to = end === undefined ? undefined : integer(end);
    return typeof value === "string" ? [...value].slice(integer(start), to).join("") : list(value).slice(integer(start), to);
  }),
  entry("strlen", Kind.int, "value", ([value]) => [...text(value)].length),
  entry("parse_key_value", Kind.object, "value key_value_delimiter? field_delimiter?", ([value, equals, comma]) => {
    const pairs = text(value)
      .split(comma === undefined ? " " : text(comma))
      .filter((pair) => pair.trim() !== "");
    const result: PipelineObject = {};
    for (const pair of pairs) {
      const mark = equals === undefined ? "=" : text(equals);
      const at = pair.indexOf(mark);
      const bare = (part: string): string => part.trim().replace(/^"(.*)"$/, "$1");
      setField(result, bare(at < 0 ? pair : pair.slice(0, at)), at < 0 ? true : bare(pair.slice(at + mark.length)));
    }
    return result;
  }),
];

function flattened(value: PipelineObject, separator: string, prefix: string, to: PipelineObject): PipelineObject {
  for (const [key, item] of Object.entries(value)) {
    if (isObject(item)) flattened(item, separator, `${prefix}${key}${separator}`, to);
    else setField(to, prefix + key, item);
  }
  return to;
}

function merged(left: PipelineObject, right: PipelineObject, isDeep: boolean): PipelineObject {
  const result = { ...left };
  for (const [key, item] of Object.entries(right)) {
    const before = result[key];
    setField(result, key, isDeep && isObject(before) && isObject(item) ? merged(before, item, true) : item);
  }
  return result;
}

function isNullish(value: PipelineValue): boolean {
  return value === null || value === undefined || (typeof value === "string" && (value.trim() === "" || value === "-"));
}

/** Most items that a function may make an array of. */
const ITEMS_MAX = 100_000;

function boundedList(items: readonly PipelineValue[]): readonly PipelineValue[] {
  if (items.length > ITEMS_MAX) throw executeError(`an array gets longer than ${ITEMS_MAX} items`);
  return items;
}

const CONTAINERS: readonly Entry[] = [
  entry("length", Kind.int, "value", ([value]) => {
    if (typeof value === "string") return new TextEncoder().encode(value).length;
    return Array.isArray(value) ? value.length : Object.keys(object(value)).length;
  }),
  entry("keys", Kind.array, "value", ([value]) => Object.keys(object(value)).sort()),
  entry("values", Kind.array, "value", ([value]) => {
    const from = object(value);
    return Object.keys(from)
      .sort()
      .map((key) => from[key]);
  }),
  entry("merge", Kind.object, "to from deep?", ([to, from, deep]) => merged(object(to), object(from), deep === true)),
  entry("flatten", Kind.object | Kind.array, "value separator?", ([value, separator]) => {
    if (Array.isArray(value)) return boundedList(value.flat(64) as PipelineValue[]); // items are values
    return flattened(object(value), separator === undefined ? "." : text(separator), "", {});
  }),
  entry("compact", Kind.object | Kind.array, "value", ([value]) => {
    if (Array.isArray(value)) return value.filter((item) => !isNullish(item));
    return Object.fromEntries(Object.entries(object(value)).filter(([, item]) => !isNullish(item)));
  }),
  entry("push", Kind.array, "value item", ([value, item]) => boundedList([...list(value), item])),
  entry("append", Kind.array, "value items", ([value, items]) => boundedList([...list(value), ...list(items)])),
  entry("includes", Kind.boolean, "value item", ([value, item]) => list(value).some((candidate) => isEqual(candidate, item))),
  entry("is_nullish", Kind.boolean, "value", ([value]) => isNullish(value)),
  entry("is_empty", Kind.boolean, "value", ([value]) => {
    if (typeof value === "string") return value === "";
    return Array.isArray(value) ? value.length === 0 : Object.keys(object(value)).length === 0;
  }),
];

const NUMBERS: readonly Entry[] = [
  entry("abs", Kind.int | Kind.float, "value", ([value]) => {
    return kindOf(value) === "int"
      ? intValue(BigInt(value as number) < 0n ? -BigInt(value as number) : BigInt(value as number))
      : floatValue(Math.abs(number(value)));
  }),
  ...(["floor", "ceil", "round"] as const).map((name) =>
    entry(name, Kind.int | Kind.float, "value precision?", ([value, precision]) => {
      if (kindOf(value) === "int") return value;
      const scale = 10 ** (precision === undefined ? 0 : integer(precision));
      return floatValue(Math[name](number(value) * scale) / scale);
    }),
  ),
  entry("mod", Kind.int | Kind.float, "value modulus", ([value, modulus]) => {
    if (number(modulus) === 0) throw executeError("cannot divide by zero");
    if (kindOf(value) === "int" && kindOf(modulus) === "int") return intValue(BigInt(value as number) % BigInt(modulus as number));
    return floatValue(number(value) % number(modulus));
  }),
];

const TIMES: readonly Entry[] = [
  entry("now", Kind.time, "", (_, { nowNanos }) => new PipelineTime(nowNanos, "nanosecond")),
  entry("parse_timestamp", Kind.time, "value format timezone?", ([value, format, zone]) => {
    const compiled = compileTimeFormat(text(format));
    const parsed = compiled?.parse(text(value), timeZoneOf(zone === undefined ? "UTC" : text(zone)));
    if (parsed === undefined) throw executeError(`unable to parse timestamp '${text(value).slice(0, 120)}' as '${text(format)}'`);
    return parsed;
  }),
  entry("to_unix_timestamp", Kind.int, "value unit?", ([value, unit]) => intValue(timeIn(time(value), unitNamed(unit)))),
  entry("from_unix_timestamp", Kind.time, "value unit?", ([value, unit]) => new PipelineTime(BigInt(integer(value)), unitNamed(unit))),
];

function unitNamed(value: PipelineValue): PipelineTime["unit"] {
  const name = value === undefined ? "s" : text(value);
  const unit = unitOf(name.replace(/(.)seconds$/, "$1second").replace(/^seconds$/, "s"));
  if (unit === undefined) throw executeError(`unknown unit '${name}'`);
  return unit;
}

/** Functions by name. */
export const FUNCTIONS: ReadonlyMap<string, VrlFunction> = new Map([
  ...kindFunctions(),
  ...CONVERSIONS,
  ...TEXTS,
  ...CONTAINERS,
  ...NUMBERS,
  ...TIMES,
]);
