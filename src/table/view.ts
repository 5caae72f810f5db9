/** Views: queries with a name. Implemented by the engine; planned by the query layer like a sub-query of FROM. */
import type { TableId } from "../base/units.ts";

/** A view as CREATE VIEW describes it. */
export interface ViewDefinition {
  readonly database: string;
  readonly name: string;
  readonly query: string;
  /** Where the query's names without a database are: the current database when the view was made. */
  readonly queryDatabase: string;
  /** Columns of the query when the view was made, in order: columns that its tables get later are not the view's. */
  readonly sources: readonly string[];
  /** What the view calls them. `columns.length === sources.length`. */
  readonly columns: readonly string[];
  /** The statement that made it, as SHOW CREATE VIEW shows it. */
  readonly definition: string;
}

/** An existing view. */
export interface ViewInfo extends ViewDefinition {
  /** Of the same numbers as those of tables. */
  readonly id: TableId;
}
