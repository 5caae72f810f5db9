/** `information_schema`: what the server and its catalogue hold (contract query.md 3). Columns without a truthful value are NULL. */
import type { Planner } from "../common/planner.ts";
import { catalogTables } from "./catalog-tables.ts";
import { type BuiltInTable, batchOf } from "../common/computed-rows.ts";
import { EMPTY_TABLES } from "./empty-tables.ts";
import { type InformationTable } from "./information-table.ts";
import { INFORMATION_SCHEMA } from "../../../table/reserved-names.ts";
import { KEY_TABLES } from "./key-tables.ts";
import { REGION_TABLES } from "./region-tables.ts";
import { SEMANTICS_TABLE } from "./semantics-table.ts";
import { SERVER_TABLES } from "./server-tables.ts";

export { INFORMATION_SCHEMA };

/** What the tables are computed from. */
export type InformationPlanner = Pick<Planner, "catalog" | "system" | "environment">;

const OTHERS: readonly InformationTable[] = [...EMPTY_TABLES, ...KEY_TABLES, ...REGION_TABLES, ...SERVER_TABLES, SEMANTICS_TABLE];

const TABLES: ReadonlyMap<string, InformationTable> = new Map(
  [...catalogTables(OTHERS), ...OTHERS].map((table) => [table.name, table] as const),
);

/** Names of the tables, sorted. */
export function informationTableNames(): readonly string[] {
  return [...TABLES.keys()].sort();
}

/** What a table of `information_schema` has for columns, or undefined. */
export function informationTableNamed(name: string): InformationTable | undefined {
  return TABLES.get(name);
}

/** A table of `information_schema`, or undefined. Its rows are computed when they are read. */
export function informationTable(name: string, { catalog, system, environment }: InformationPlanner): BuiltInTable | undefined {
  const table = TABLES.get(name);
  if (table === undefined) return undefined;
  const { id, columns, rows } = table;
  const batches = function* (): Iterable<ReturnType<typeof batchOf>> {
    yield batchOf(
      columns,
      [...rows({ catalog, system, now: environment.now })].map((row) => columns.map((column) => row[column.name])),
    );
  };
  return { id, columns, batches };
}
