/**
 * Kinds of configuration values: how each is read from TOML, how from text (environment, command line), and how it is printed.
 */
import { parseHumanDuration, printHumanDuration } from "../base/text/human-duration.ts";
import { parseHumanSize, printHumanSize } from "../base/text/human-size.ts";
import { type Parsed, parsed, refused } from "../base/text/parsed.ts";
import { type ByteLength, type DurationMillis, durationMillis } from "../base/units.ts";

/** How values of one kind are read and printed. */
export interface Kind<T> {
  /** What a right value looks like, for messages: `a duration such as "30s"`. */
  readonly want: string;
  fromToml(value: unknown): Parsed<T>;
  fromText(text: string): Parsed<T>;
  /** The value as a TOML literal; undefined: the key is left out. */
  toToml(value: T): string | undefined;
}

/** A TOML basic string. */
export function tomlString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll("\u007f", "\\u007f");
}

/** What a TOML value is called in a message. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (value instanceof Date) return "a date";
  if (typeof value === "string") return "a string";
  if (typeof value === "boolean") return "a boolean";
  return typeof value === "object" ? "a table" : "a number";
}

/** `true` or `false`. */
export const bool: Kind<boolean> = {
  want: "true or false",
  fromToml: (value) => (typeof value === "boolean" ? parsed(value) : refused(`it is ${typeOf(value)}`)),
  fromText(text) {
    const lower = text.trim().toLowerCase();
    return lower === "true" || lower === "false" ? parsed(lower === "true") : refused("it is neither");
  },
  toToml: String,
};

/** A whole number in `[min, max]`. */
export function int(min: number, max: number): Kind<number> {
  const check = (value: number): Parsed<number> => {
    if (!Number.isInteger(value)) return refused("it is not whole");
    return value < min || value > max ? refused("it is out of range") : parsed(value);
  };
  return {
    want: `a whole number from ${min} to ${max}`,
    fromToml(value) {
      if (typeof value === "bigint") return refused("it is out of range");
      return typeof value === "number" ? check(value) : refused(`it is ${typeOf(value)}`);
    },
    fromText: (text) => (/^\s*[+-]?\d+\s*$/.test(text) ? check(Number(text)) : refused("it is not a whole number")),
    toToml: String,
  };
}

/** A number in `[0, 1]`. */
export const ratio: Kind<number> = {
  want: "a number from 0 to 1",
  fromToml: (value) =>
    typeof value === "number" || typeof value === "bigint" ? ratioOf(Number(value)) : refused(`it is ${typeOf(value)}`),
  fromText: (text) => (text.trim() === "" ? refused("it is empty") : ratioOf(Number(text))),
  toToml: (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value)),
};

function ratioOf(value: number): Parsed<number> {
  if (Number.isNaN(value)) return refused("it is not a number");
  return value < 0 || value > 1 ? refused("it is out of range") : parsed(value);
}

/** A kind whose TOML form is a string. */
function textual<T>(want: string, read: (text: string) => Parsed<T>, print: (value: T) => string): Kind<T> {
  return {
    want,
    fromToml: (value) => (typeof value === "string" ? read(value) : refused(`it is ${typeOf(value)}`)),
    fromText: read,
    toToml: (value) => tomlString(print(value)),
  };
}

/** Any text that `refusal` has nothing against. `refusal` answers why not, or undefined. */
export function text(want: string, refusal: (value: string) => string | undefined): Kind<string> {
  const read = (value: string): Parsed<string> => {
    const reason = refusal(value);
    return reason === undefined ? parsed(value) : refused(reason);
  };
  return textual(want, read, (value) => value);
}

/** A file's path, or none. */
export const filePath: Kind<string> = text("a path, or nothing", (value) =>
  value.includes("\0") ? "it holds a NUL character" : undefined,
);

/** One of a few words. */
export function choice<T extends string>(...words: readonly T[]): Kind<T> {
  const read = (value: string): Parsed<T> => {
    const word = words.find((candidate) => candidate === value);
    return word === undefined ? refused("it is none of these") : parsed(word);
  };
  return textual(words.map((word) => `"${word}"`).join(" or "), read, (value) => value);
}

/** A duration in `[minMs, maxMs]`, whole milliseconds. */
export function duration(minMs: number, maxMs: number): Kind<DurationMillis> {
  const print = (ms: number): string => printHumanDuration(BigInt(ms) * 1_000_000n);
  const read = (value: string): Parsed<DurationMillis> => {
    const nanos = parseHumanDuration(value);
    if (!nanos.ok) return nanos;
    if (nanos.value % 1_000_000n !== 0n) return refused("it is finer than a millisecond");
    const ms = Number(nanos.value / 1_000_000n);
    return ms < minMs || ms > maxMs ? refused("it is out of range") : parsed(durationMillis(ms));
  };
  return textual(`a duration such as "30s" or "1h 30m", from ${print(minMs)} to ${print(maxMs)}`, read, print);
}

/** A size in `[min, max]` bytes; a bare TOML number counts bytes. */
export function size(min: number, max: number): Kind<ByteLength> {
  const read = (value: string): Parsed<ByteLength> => {
    const bytes = parseHumanSize(value);
    if (!bytes.ok) return bytes;
    return bytes.value < min || bytes.value > max ? refused("it is out of range") : bytes;
  };
  const strings = textual(`a size such as "64MiB", from ${printHumanSize(min)} to ${printHumanSize(max)}`, read, printHumanSize);
  return { ...strings, fromToml: (value) => (typeof value === "number" ? read(String(value)) : strings.fromToml(value)) };
}

/** A list of texts; as text it is separated by commas, blanks around them dropped. `normalize` answers the list or refuses it. */
export function list(want: string, normalize: (items: readonly string[]) => Parsed<readonly string[]>): Kind<readonly string[]> {
  return {
    want,
    fromToml(value) {
      if (!Array.isArray(value)) return refused(`it is ${typeOf(value)}`);
      const items: string[] = [];
      for (const item of value as readonly unknown[]) {
        if (typeof item !== "string") return refused(`an item is ${typeOf(item)}`);
        items.push(item);
      }
      return normalize(items);
    },
    fromText: (value) => normalize(value.split(",").map((item) => item.trim())),
    toToml: (value) => `[${value.map(tomlString).join(", ")}]`,
  };
}

/** A kind that may be absent; an absent value is left out of the printed configuration. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return { ...kind, toToml: (value) => (value === undefined ? undefined : kind.toToml(value)) };
}
