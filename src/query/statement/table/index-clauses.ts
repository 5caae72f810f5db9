/** The index clauses of a column, one of each kind, in their order. */
import { columnOptionError } from "../../../table/column-option-error.ts";
import type { IndexKind } from "../../../table/index-clause.ts";

/** The order in which SHOW CREATE prints index clauses. */
const ORDER: readonly IndexKind[] = ["fulltext", "skipping", "inverted"];

/** Clauses in the order in which they are printed. */
export function inOrder(clauses: readonly string[]): string[] {
  return ORDER.flatMap((kind) => clauses.filter((clause) => isOf(clause, kind)));
}

/** A column's clauses without those of one kind. */
export function withoutIndex(clauses: readonly string[], kind: IndexKind): string[] {
  return clauses.filter((clause) => !isOf(clause, kind));
}

/** A column's clauses with another one, which takes the place of one of its kind. @throws DbError InvalidArguments */
export function withIndex(clauses: readonly string[], added: string, column: string): string[] {
  const kind = ORDER.find((candidate) => isOf(added, candidate));
  const before = clauses.find((clause) => kind !== undefined && isOf(clause, kind));
  if (kind === "fulltext" && before !== undefined) checkFulltext(before, added, column);
  return inOrder([...clauses.filter((clause) => clause !== before), added]);
}

function isOf(clause: string, kind: IndexKind): boolean {
  return clause.startsWith(kind.toUpperCase());
}

/** Text that is already in files was split by the analyzer of its time. */
function checkFulltext(before: string, added: string, column: string): void {
  const [analyzer, caseSensitive] = [optionOf(before, "analyzer"), optionOf(before, "case_sensitive")];
  if (optionOf(added, "analyzer") === analyzer && optionOf(added, "case_sensitive") === caseSensitive) return;
  throw columnOptionError(
    column,
    "Cannot change analyzer or case_sensitive if FULLTEXT index is set before. " +
      `Previous analyzer: ${analyzer}, previous case_sensitive: ${caseSensitive}`,
  );
}

function optionOf(clause: string, key: string): string {
  return new RegExp(`\\b${key} = '([^']*)'`).exec(clause)?.[1] ?? "";
}
