/** Checks of SQL texts: the rows of an answer, or how a text fails. */
import { expect } from "bun:test";
import type { Answer } from "./query-fixture.ts";

/** What runs the texts. */
interface Sql {
  sql(text: string): Promise<Answer>;
  /** By the plan's loops and by the interpreter, which agree. */
  both(text: string): Promise<Answer>;
}

/** The rows of a query. */
export async function checkRows(data: Pick<Sql, "both">, query: string, want: readonly (readonly unknown[])[]): Promise<void> {
  const { rows } = await data.both(query);
  expect([query, rows as unknown]).toEqual([query, want]);
}

/** The rows of a query, each as text, NULL as "-". */
export async function rowTexts(data: Pick<Sql, "both">, query: string): Promise<readonly string[]> {
  const { rows } = await data.both(query);
  return rows.map((row) => row.map((value) => (value === undefined ? "-" : String(value))).join(" "));
}

/** A text fails with the code, if one is said; `want` is a part of "code DbError: message", or matches it. */
export async function checkFails(data: Pick<Sql, "sql">, text: string, want: string | RegExp, code?: number): Promise<void> {
  const thrown = await data.sql(text).then(
    () => "no error",
    (error: unknown) => `${(error as { code?: number }).code} ${String(error)}`,
  );
  expect(thrown, text).toMatch(want);
  if (code !== undefined) expect(thrown, text).toStartWith(`${code} `);
}
