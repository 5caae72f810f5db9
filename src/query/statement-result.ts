import type { Batch, ColumnHeader } from "../column/batch.ts";

/** What one statement answers. */
export type StatementResult =
  | { readonly kind: "affected"; readonly rowCount: number }
  /** Batches are valid until the next one is asked for. Errors may surface while iterating. */
  | { readonly kind: "rows"; readonly headers: readonly ColumnHeader[]; readonly batches: AsyncIterable<Batch> };

/** The answer of a statement that changes no rows. */
export const NO_ROWS_CHANGED: StatementResult = { kind: "affected", rowCount: 0 };
