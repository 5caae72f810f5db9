/** Index clauses of columns, as a schema keeps them: `SKIPPING INDEX WITH(granularity = '10240', …)`. */
import { DbError, invalidArguments } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import { columnOptionError } from "./column-option-error.ts";
import type { ColumnDefinition } from "./schema.ts";

/** What an index of a column may be. */
export type IndexKind = "skipping" | "fulltext" | "inverted";

/** Values that an option may have. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  analyzer: ["English", "Chinese"],
  case_sensitive: ["true", "false"],
  backend: ["bloom", "tantivy"],
  type: ["BLOOM"],
};

function checkOption(kind: IndexKind, key: string, value: string): void {
  const refused = (why: string): DbError => {
    const what = kind === "fulltext" ? "fulltext option" : "skipping index option";
    return new DbError(StatusCode.Unexpected, `Invalid ${what}: ${why}`);
  };
  const choices = CHOICES[key];
  if (choices !== undefined && !choices.some((choice) => choice.toLowerCase() === value.toLowerCase())) {
    throw refused(`${value}, expected: ${choices.map((choice) => `'${choice}'`).join(" | ")}`);
  }
  // A signed number is no value of an option at all, whatever the option.
  if (/^[+-]/.test(value)) throw invalidArguments(`Invalid expr as option value, error: ${value} not accepted`);
  if (key === "granularity" && !(/^\d{1,9}$/.test(value) && Number(value) > 0)) {
    throw refused(`Invalid granularity: ${value}, expected: positive integer`);
  }
  if (key === "false_positive_rate" && !(Number(value) > 0 && Number(value) <= 1)) {
    throw refused(`Invalid false positive rate: ${value}, expected: 0.0 < rate <= 1.0`);
  }
}

const INDEX_DEFAULTS: Readonly<Record<"skipping" | "fulltext", Readonly<Record<string, string>>>> = {
  skipping: { granularity: "10240", false_positive_rate: "0.01", type: "BLOOM" },
  fulltext: { analyzer: "English", case_sensitive: "false", backend: "bloom", granularity: "10240", false_positive_rate: "0.01" },
};

/** The clause of an index, all options spelled out. @throws DbError InvalidArguments, Unexpected */
export function indexText(
  { name, type }: Pick<ColumnDefinition, "name" | "type">,
  kind: IndexKind,
  given: Readonly<Record<string, string>>,
): string {
  if (kind === "fulltext" && type.kind !== "string") throw columnOptionError(name, "FULLTEXT index only supports string type");
  if (kind === "inverted") {
    if (Object.keys(given).length > 0) throw columnOptionError(name, "INVERTED INDEX takes no options");
    return "INVERTED INDEX";
  }
  const defaults = INDEX_DEFAULTS[kind];
  for (const key of Object.keys(given)) {
    if (!(key in defaults)) throw columnOptionError(name, `invalid ${kind.toUpperCase()} INDEX option: ${key}`);
  }
  const options: Readonly<Record<string, string>> = { ...defaults, ...given };
  for (const [key, value] of Object.entries(options)) checkOption(kind, key, value);
  const isWhole = options["backend"] === "tantivy"; // an index of whole texts, for which only bloom filters have these two
  const printed = Object.keys(options)
    .filter((key) => !isWhole || (key !== "granularity" && key !== "false_positive_rate"))
    .sort()
    .map((key) => `${key} = '${options[key]}'`);
  return `${kind.toUpperCase()} INDEX WITH(${printed.join(", ")})`;
}
