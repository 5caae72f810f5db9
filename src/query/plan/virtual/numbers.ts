/** `public.numbers`: one column `number`, 0..99; with a LIMIT right above it, as many as that asks for. */
import type { Batch } from "../../../column/batch.ts";
import { UINT32 } from "../../../column/data-type.ts";
import type { BuiltInTable } from "../common/computed-rows.ts";

/** Rows without a LIMIT. */
const ROWS = 100;
/** Most rows with one. Reason: the column is UInt32. */
const ROWS_MAX = 2 ** 32;
/** Rows of a batch. */
const BATCH_ROWS = 8192;

/** The table. Its column counts as a tag. */
export const NUMBERS: BuiltInTable = {
  id: 2,
  columns: [{ name: "number", type: UINT32, nullable: false }],
  source: { kind: "numbers" },
};

/** Its rows. @param rowsWanted by a LIMIT right above it */
export function numberRows(rowsWanted: number | undefined): Iterable<Batch> {
  return below(Math.min(rowsWanted ?? ROWS, ROWS_MAX));
}

function* below(count: number): Iterable<Batch> {
  for (let from = 0; from < count; from += BATCH_ROWS) {
    const rowCount = Math.min(BATCH_ROWS, count - from);
    const values = Uint32Array.from({ length: rowCount }, (_, i) => from + i);
    yield { rowCount, vectors: [{ kind: "number", values, validity: undefined }] };
  }
}
