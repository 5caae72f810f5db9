/**
 * `public.numbers`: one column `number`, counting from 0. It has 100 rows, or as many as a LIMIT right above it asks for, which is how
 * clients make rows: `INSERT INTO t SELECT number, … FROM numbers LIMIT 2000`.
 */
import type { Batch } from "../../../column/batch.ts";
import { UINT32 } from "../../../column/data-type.ts";
import type { BuiltInTable } from "./computed-rows.ts";

const ROWS = 100;
const BATCH_ROWS = 8192;
/** Numbers that the column's type holds. */
const ROWS_MAX = 2 ** 32;

function* counting(rowCount: number): Iterable<Batch> {
  const end = Math.min(rowCount, ROWS_MAX);
  for (let from = 0; from < end; from += BATCH_ROWS) {
    const count = Math.min(BATCH_ROWS, end - from);
    const values = Uint32Array.from({ length: count }, (_, i) => from + i);
    yield { rowCount: count, vectors: [{ kind: "number", values, validity: undefined }] };
  }
}

/** The table. */
export const NUMBERS: BuiltInTable = { columns: [{ name: "number", type: UINT32 }], batches: () => counting(ROWS), first: counting };
