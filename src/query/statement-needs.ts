/**
 * What a statement needs of the account that sends it (contract http.md 5.7, README 24): to read what is stored, to write, or both.
 * The table of statements and modes is in `db/auth/PERMISSIONS.md`.
 *
 * The kind of a statement says what it does (`execute.ts`); whatever it is, a query anywhere inside it reads, so a new place for a query
 * needs no change.
 */
import type { Query, Tql } from "./sql/syntax/ast.ts";

/** What a statement does to what is stored. */
export interface StatementNeeds {
  /** It gives rows, names or values of what is stored, to its client or into a file. */
  readonly reads: boolean;
  /** It changes what is stored, or the session (as the contract counts SET and USE). */
  readonly writes: boolean;
  /** It looks at rows or files though it gives none of them away: its errors may quote their values. */
  readonly looks: boolean;
}

/** Neither. */
export const NOTHING: StatementNeeds = { reads: false, writes: false, looks: false };
/** It gives what is stored. */
export const READS: StatementNeeds = { reads: true, writes: false, looks: true };
/** It changes what is stored. */
export const WRITES: StatementNeeds = { reads: false, writes: true, looks: false };
/** It changes what is stored, and may quote it. */
export const LOOKS_AND_WRITES: StatementNeeds = { reads: false, writes: true, looks: true };
/** It gives what is stored, and changes it. */
export const BOTH: StatementNeeds = { reads: true, writes: true, looks: true };

/** Nodes that are a query, wherever they stand. */
const QUERIES: ReadonlySet<unknown> = new Set<(Query | Tql)["kind"]>(["select", "set-operation", "values-query", "with", "tql"]);

/** What two need together. */
export function joined(a: StatementNeeds, b: StatementNeeds): StatementNeeds {
  return { reads: a.reads || b.reads, writes: a.writes || b.writes, looks: a.looks || b.looks };
}

/** Reads when a query stands anywhere in a tree. Looks at each node once, without recursion: chains of operators may be long. */
export function queriesOf(tree: object): StatementNeeds {
  const open: object[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ("kind" in node && QUERIES.has(node.kind)) return READS;
    if (ArrayBuffer.isView(node)) continue;
    for (const part of Object.values(node)) if (typeof part === "object" && part !== null) open.push(part);
  }
  return NOTHING;
}
