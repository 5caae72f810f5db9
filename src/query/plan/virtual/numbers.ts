/** `public.numbers`: one column `number`, 0..99. */
import { UINT32 } from "../../../column/data-type.ts";
import type { BuiltInTable } from "./computed-rows.ts";

/** The table. Its column counts as a tag. */
export const NUMBERS: BuiltInTable = {
  id: 2,
  columns: [{ name: "number", type: UINT32, nullable: false }],
  batches: () => [
    { rowCount: 100, vectors: [{ kind: "number", values: Uint32Array.from({ length: 100 }, (_, i) => i), validity: undefined }] },
  ],
};
