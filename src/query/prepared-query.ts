/** A prepared statement and the values that it waits for (`prepare-query.ts`). */
import type { ColumnHeader } from "../column/batch.ts";
import type { DataType } from "../column/data-type.ts";
import type { Value } from "./function/value/value.ts";
import type { Statement } from "./sql/syntax/statement-ast.ts";

/** A statement that waits for its values. */
export interface PreparedQuery {
  readonly statement: Statement;
  /** As it was given. */
  readonly text: string;
  /** One a placeholder; undefined where its place tells no type. */
  readonly parameters: readonly (DataType | undefined)[];
  /** Of the rows that it gives, with type "null" where that hangs on a value; undefined when it gives none or that is known only later. */
  readonly columns: readonly ColumnHeader[] | undefined;
}

/** A value that a client gives for a placeholder. */
export interface ParameterValue {
  readonly type: DataType;
  readonly value: Value;
}

/**
 * A prepared statement that may run with several rows of values at once. Its placeholders are those of the first row, then those of the
 * second, and so on.
 *
 * @param times how many rows, 1 at least
 */
export type RepeatedQuery = (times: number) => PreparedQuery;

/** Kinds of statements that give rows; their columns are told by what they give where planning does not tell. */
const GIVES_ROWS = /^(?:select|set-operation|values-query|with|tql|explain|fetch|describe|admin|show-.*)$/;

/** Whether a statement answers with rows, were they none. */
export const givesRows = ({ kind }: Statement): boolean => GIVES_ROWS.test(kind);
