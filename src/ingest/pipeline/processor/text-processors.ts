/** Processors that look at one text or list: `decolorize`, `gsub`, `join`, `letter`, `digest`, `regex`. */
import type { Options } from "../definition.ts";
import { failure } from "../failure.ts";
import { plainText } from "../json/json-text.ts";
import { compileReplacement } from "../../../base/text/linear-regex.ts";
import { compileRegex } from "../regex.ts";
import { setField } from "../../common/value.ts";
import { eachField, type Processor, textProcessor, valueProcessor, wrongType } from "./processor.ts";

/** Each of these reads a text once: a match begins at a character that ends any other, or is of one class. */
const ESCAPE = String.fromCharCode(0x1b);
const ESCAPE_SEQUENCE = new RegExp(`${ESCAPE}\\[[\\d;]*m`, "g");
const OPEN = "(\\[{<「『【〔［（《〈｛〖";
const CLOSE = ")\\]}>」』】〕］）》〉｝〗";
const DIGESTS: Readonly<Record<string, RegExp>> = {
  numbers: /\d+/g,
  quoted: /["'“”‘’][^"'“”‘’]*["'“”‘’]/g,
  bracketed: new RegExp(`[${OPEN}][^${OPEN}${CLOSE}]*[${CLOSE}]`, "g"),
  uuid: /[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}/g,
  ip: /(?:\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[[0-9a-fA-F:]+\])(?::\d{1,5})?/g,
};

/** Compiles a `decolorize` processor. @throws DbError InvalidArguments */
export function decolorizeProcessor(options: Options): Processor {
  return textProcessor(options, (text) => (text.includes(ESCAPE) ? text.replaceAll(ESCAPE_SEQUENCE, "") : text));
}

/** Compiles a `gsub` processor. @throws DbError InvalidArguments */
export function gsubProcessor(options: Options): Processor {
  const pattern = options.text("pattern");
  const replacement = options.text("replacement");
  if (pattern === undefined) throw failure("Pattern is required");
  if (replacement === undefined) throw failure("Replacement is required");
  const regex = compileRegex(pattern, "Processor gsub");
  const replaced = compileReplacement(replacement, regex);
  return textProcessor(options, (text) => regex.replaceAll(text, replaced));
}

/** Compiles a `join` processor. @throws DbError InvalidArguments */
export function joinProcessor(options: Options): Processor {
  const separator = options.text("separator");
  if (separator === undefined) throw options.refused("separator", "is required");
  return valueProcessor(options, (value) => {
    if (!Array.isArray(value)) throw wrongType("join", "array", value);
    return value.map(plainText).join(separator);
  });
}

/** Compiles a `letter` processor. @throws DbError InvalidArguments */
export function letterProcessor(options: Options): Processor {
  const method = options.choice("method", ["upper", "lower", "capital"], "lower");
  const upper = (text: string): string => text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
  const lower = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  if (method === "capital") return textProcessor(options, (text) => upper(text.slice(0, 1)) + text.slice(1));
  return textProcessor(options, method === "upper" ? upper : lower);
}

/** Compiles a `digest` processor. @throws DbError InvalidArguments */
export function digestProcessor(options: Options): Processor {
  const removals: ((text: string) => string)[] = [];
  for (const name of options.texts("presets")) {
    const preset = Object.hasOwn(DIGESTS, name) ? DIGESTS[name] : undefined;
    if (preset === undefined) throw failure(`Wrong digest pattern: ${name}`);
    removals.push((text) => text.replaceAll(preset, ""));
  }
  for (const pattern of options.texts("regex")) {
    const regex = compileRegex(pattern, "Processor digest");
    removals.push((text) => regex.replaceAll(text, () => ""));
  }
  if (removals.length === 0) throw options.refused("presets", "or regex is required");
  return eachField(options, (row, value, { input }) => {
    if (typeof value !== "string") throw wrongType("digest", "string", value);
    setField(
      row,
      `${input}_digest`,
      removals.reduce((text, remove) => remove(text), value),
    );
  });
}

/** Compiles a `regex` processor. @throws DbError InvalidArguments */
export function regexProcessor(options: Options): Processor {
  const patterns = [...options.texts("pattern"), ...options.texts("patterns")];
  if (patterns.length === 0) throw options.refused("pattern", "is required");
  const regexes = patterns.map((pattern) => {
    const regex = compileRegex(pattern, "Processor regex");
    if (regex.names.length === 0) throw options.refused("pattern", `'${pattern}' has no named group`);
    return regex;
  });
  return eachField(options, (row, value, { output }) => {
    if (typeof value !== "string") throw wrongType("regex", "string", value);
    for (const regex of regexes) {
      const groups = regex.first(value);
      if (groups === undefined) continue;
      for (const [name, group] of regex.names) {
        const text = groups[group];
        if (text !== undefined) setField(row, `${output}_${name}`, text);
      }
    }
  });
}
