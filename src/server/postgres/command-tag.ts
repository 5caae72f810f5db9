/**
 * What CommandComplete says: the words that drivers count rows by (libpq, JDBC and kysely count those of INSERT, UPDATE and DELETE alone).
 */
import { firstWords } from "../wire/split-statements.ts";

/** Statements whose tag counts rows, by their first word. */
const COUNTING: Readonly<Record<string, string>> = {
  INSERT: "INSERT 0",
  REPLACE: "INSERT 0",
  UPDATE: "UPDATE",
  DELETE: "DELETE",
  COPY: "COPY",
  FETCH: "FETCH",
};

/** Words that a tag has two of. */
const OF_TWO: ReadonlySet<string> = new Set(["CREATE", "ALTER", "DROP", "TRUNCATE", "DECLARE", "CLOSE"]);

/** The tag of a statement that changed rows. */
export function affectedTag(text: string, rowCount: number): string {
  const [first = "", ...rest] = firstWords(text, 4);
  const counting = COUNTING[first];
  if (counting !== undefined) return `${counting} ${rowCount}`;
  if (first === "SET" || first === "") return "SET";
  if (first === "DECLARE" || first === "CLOSE") return `${first} CURSOR`;
  if (first === "TRUNCATE") return "TRUNCATE TABLE";
  if (!OF_TWO.has(first)) return `OK ${rowCount}`;
  const what = rest.find((word) => !["OR", "REPLACE", "EXTERNAL", "TEMPORARY", "TEMP"].includes(word));
  return what === undefined ? first : `${first} ${what === "SCHEMA" ? "DATABASE" : what}`;
}

/** The tag of a statement that gave rows. */
export function rowsTag(text: string, rowCount: number): string {
  const [first = ""] = firstWords(text, 1);
  if (first === "FETCH") return `FETCH ${rowCount}`;
  if (first === "SHOW" || first === "EXPLAIN") return first;
  return `SELECT ${rowCount}`;
}
