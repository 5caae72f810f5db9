/** The CREATE TABLE that a pipeline's rows need, for people who make the table themselves. */
import type { ColumnDefinition } from "../../table/schema.ts";
import { createTableText } from "../../query/statement/show/show-create.ts";

/** Text of the statement, names in backquotes. */
export function pipelineTableText(database: string, name: string, columns: readonly ColumnDefinition[]): string {
  const primaryKey = columns.filter(({ semantic }) => semantic === "tag").map((column) => column.name);
  const definition = { database, name, columns, primaryKey, engine: "mito", options: { append_mode: "true" } } as const;
  return createTableText(definition, { mark: "`" });
}
