/** Index clauses of columns that a transform declares, as a schema keeps them. */
import { failure } from "./failure.ts";
import { isMapping, type Mapping, scalarText } from "./definition.ts";

/** What `index` of a transform says. */
export interface IndexSpec {
  readonly kind: "none" | "time" | "tag" | "index";
  readonly clauses: readonly string[];
}

type Kind = "fulltext" | "skipping" | "inverted";

/** Options in the order in which they are shown, with their defaults. */
const DEFAULTS: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  fulltext: { analyzer: "English", backend: "bloom", case_sensitive: "false", false_positive_rate: "0.01", granularity: "10240" },
  skipping: { false_positive_rate: "0.01", granularity: "10240", type: "BLOOM" },
  inverted: {},
};
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  analyzer: ["English", "Chinese"],
  backend: ["bloom", "tantivy"],
  case_sensitive: ["true", "false"],
  type: ["BLOOM"],
};

/** Reads `index`. @throws DbError InvalidArguments */
export function indexOf(value: unknown, isText: boolean): IndexSpec {
  if (value === undefined || value === null) return { kind: "none", clauses: [] };
  const name = isMapping(value) ? value["type"] : value;
  const options = isMapping(value) ? value["options"] : undefined;
  if (typeof name !== "string") throw failure("Transform index must be a string or a mapping with type and options");
  if (options !== undefined && options !== null && !isMapping(options)) throw failure("Transform index options must be a mapping");
  const kind = name.toLowerCase();
  if (kind === "fulltext" || kind === "skipping" || kind === "inverted") {
    if (kind === "fulltext" && !isText) throw failure("Transform index fulltext is for string columns only");
    return { kind: "index", clauses: [clauseOf(kind, options ?? {})] };
  }
  if (options !== undefined && options !== null) throw failure(`Transform index ${kind} takes no options`);
  if (kind === "timestamp" || kind === "time") return { kind: "time", clauses: [] };
  if (kind === "tag") return { kind: "tag", clauses: [] };
  throw failure(`Unsupported index type: ${name}; use timestamp, tag, fulltext, skipping or inverted`);
}

function clauseOf(kind: Kind, options: Mapping): string {
  const values = { ...DEFAULTS[kind] };
  for (const [key, value] of Object.entries(options)) {
    if (!Object.hasOwn(values, key)) throw failure(`Transform index ${kind} has no option ${key}`);
    const text = scalarText(value);
    if (text === undefined) throw failure(`Transform index option ${key} must be a scalar`);
    values[key] = checked(key, text);
  }
  const list = Object.entries(values).map(([key, value]) => `${key} = '${value}'`);
  return `${kind.toUpperCase()} INDEX${list.length === 0 ? "" : ` WITH(${list.join(", ")})`}`;
}

function checked(key: string, value: string): string {
  const choices = CHOICES[key];
  if (choices !== undefined) {
    const choice = choices.find((candidate) => candidate.toLowerCase() === value.toLowerCase());
    if (choice === undefined) throw failure(`Transform index option ${key} must be one of ${choices.join(", ")}, but is ${value}`);
    return choice;
  }
  if (key === "granularity" && !/^[1-9]\d{0,8}$/.test(value)) {
    throw failure(`Transform index option granularity must be a positive whole number, but is ${value}`);
  }
  if (key === "false_positive_rate" && !(Number(value) > 0 && Number(value) <= 1)) {
    throw failure(`Transform index option false_positive_rate must lie in (0, 1], but is ${value}`);
  }
  return value;
}
