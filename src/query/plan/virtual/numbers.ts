/** `public.numbers`: one column `number`, 0..99. */
import { UINT32 } from "../../../column/data-type.ts";
import type { BuiltInTable } from "./computed-rows.ts";

/** The table. */
export const NUMBERS: BuiltInTable = {
  columns: [{ name: "number", type: UINT32 }],
  batches: () => [
    { rowCount: 100, vectors: [{ kind: "number", values: Uint32Array.from({ length: 100 }, (_, i) => i), validity: undefined }] },
  ],
};
