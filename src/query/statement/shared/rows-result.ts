/** Answers made of rows at hand. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { STRING } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import { batchOf } from "../../plan/common/computed-rows.ts";
import type { StatementResult } from "../../statement-result.ts";

/** An answer of rows. */
export function rowsResult(headers: readonly ColumnHeader[], rows: readonly (readonly Scalar[])[]): StatementResult {
  const batches = (async function* (): AsyncIterable<ReturnType<typeof batchOf>> {
    if (rows.length > 0) yield batchOf(headers, rows);
  })();
  return { kind: "rows", headers, batches };
}

/** Headers of text columns. */
export function textHeaders(...names: readonly string[]): readonly ColumnHeader[] {
  return names.map((name) => ({ name, type: STRING }));
}
