/** ColumnOptions: the indexes that a column asks for, as clauses of CREATE TABLE. */

import type { IndexKind } from "../../table/index-clause.ts";

/** An index and its options by their names in SQL. */
export interface IndexRequest {
  readonly kind: IndexKind;
  readonly options: Readonly<Record<string, string>>;
}

/** The order in which a schema keeps them. */
const ORDER: readonly IndexKind[] = ["fulltext", "skipping", "inverted"];

/** Options of SQL by their names in the JSON of the message, in the order in which clauses print them. */
const FULLTEXT: Readonly<Record<string, string>> = {
  analyzer: "analyzer",
  backend: "backend",
  "case-sensitive": "case_sensitive",
  granularity: "granularity",
};
const SKIPPING: Readonly<Record<string, string>> = { granularity: "granularity", "index-type": "type" };
/** In ten thousandths. */
const RATE = "false-positive-rate-in-10000";
/** Spellings of the message where SQL has others. */
const SPELT: Readonly<Record<string, string>> = { BloomFilter: "BLOOM", Bloom: "bloom", Tantivy: "tantivy" };

/** The indexes of a column, or what is wrong with its options. */
export function indexRequestsOf(options: ReadonlyMap<string, string>): readonly IndexRequest[] | string {
  const requests: IndexRequest[] = [];
  for (const [key, value] of options) {
    const request = requestOf(key, value);
    if (typeof request === "string") return request;
    if (request !== undefined) requests.push(request);
  }
  return requests.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

function requestOf(key: string, value: string): IndexRequest | string | undefined {
  switch (key) {
    case "inverted_index":
      if (value !== "true" && value !== "false") return `its option inverted_index is '${value.slice(0, 40)}'; it must be true or false`;
      return value === "true" ? { kind: "inverted", options: {} } : undefined;
    case "fulltext":
      return fromJson("fulltext", key, value, FULLTEXT);
    case "skipping_index":
      return fromJson("skipping", key, value, SKIPPING);
    default:
      return `its option '${key.slice(0, 40)}' is not known; use fulltext, inverted_index or skipping_index`;
  }
}

function fromJson(
  kind: "fulltext" | "skipping",
  key: string,
  text: string,
  names: Readonly<Record<string, string>>,
): IndexRequest | string | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return `its option ${key} is no JSON; write for example {"enable":true}`;
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) return `its option ${key} is no JSON object`;
  const entries = new Map(Object.entries(given));
  if (kind === "fulltext" && entries.get("enable") !== true) return undefined;
  const options: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (name === "enable" || value === null) continue;
    if (name === RATE) options["false_positive_rate"] = String(Number(value) / 10_000);
    else if (Object.hasOwn(names, name)) options[names[name] as string] = SPELT[String(value)] ?? String(value);
    else return `its option ${key} has '${name.slice(0, 40)}', which is not known; use ${Object.keys(names).join(", ")} or ${RATE}`;
  }
  return { kind, options };
}
