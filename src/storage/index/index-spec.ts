/** Which indexes the columns of a schema ask for: their clauses, as CREATE TABLE keeps them, read back. */
import type { TableSchema } from "../../table/schema.ts";
import { FILTER_ROWS_MAX, FILTER_ROWS_MIN } from "./limits.ts";
import { type KeyKind, keyKindOf } from "./value-keys.ts";

/** How an index of a field is kept: filters of values, filters of words, or the list of values with the rows of each. */
export type IndexKind = "values" | "words" | "list";

/** An index to be written. */
export interface IndexSpec {
  readonly columnId: number;
  /** Position of the column in the schema. */
  readonly position: number;
  readonly kind: IndexKind;
  readonly keyKind: KeyKind;
  /** Rows a filter covers. */
  readonly granularity: number;
  readonly falsePositiveRate: number;
}

const DEFAULT_GRANULARITY = 10_240;
const DEFAULT_FALSE_POSITIVE_RATE = 0.01;

/** The indexes of a schema's fields. Tags have none of their own: the series index of a file and its bloom filters serve them. */
export function indexSpecsOf(schema: Pick<TableSchema, "columns">): readonly IndexSpec[] {
  return schema.columns.flatMap((column, position): readonly IndexSpec[] => {
    const keyKind = keyKindOf(column.type);
    if (column.semantic !== "field" || keyKind === undefined) return [];
    return (column.indexes ?? []).flatMap((clause): readonly IndexSpec[] => {
      const kind = kindOf(clause);
      if (kind === undefined || (kind === "words" && column.type.kind !== "string")) return [];
      return [{ columnId: column.id, position, kind, keyKind, ...optionsOf(clause) }];
    });
  });
}

function kindOf(clause: string): IndexKind | undefined {
  if (clause.startsWith("SKIPPING INDEX")) return "values";
  if (clause.startsWith("FULLTEXT INDEX")) return "words";
  return clause.startsWith("INVERTED INDEX") ? "list" : undefined;
}

function optionsOf(clause: string): Pick<IndexSpec, "granularity" | "falsePositiveRate"> {
  const granularity = numberOf(clause, "granularity") ?? DEFAULT_GRANULARITY;
  return {
    granularity: Math.min(FILTER_ROWS_MAX, Math.max(FILTER_ROWS_MIN, Math.trunc(granularity))),
    falsePositiveRate: numberOf(clause, "false_positive_rate") ?? DEFAULT_FALSE_POSITIVE_RATE,
  };
}

/** A positive option of a clause; undefined when it is not there. */
function numberOf(clause: string, key: string): number | undefined {
  const text = new RegExp(`\\b${key} = '([^']*)'`).exec(clause)?.[1];
  const value = Number(text);
  return text === undefined || !(value > 0) ? undefined : value;
}
