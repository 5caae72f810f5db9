import { expect, test } from "bun:test";
import { codedOf, TEXTS } from "../../../../test/support/coded-text.ts";
import { STRING } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { batchesOfBytes, bytesOfBatches } from "./batch-bytes.ts";

test("text by code comes back with the entries that its rows have", () => {
  const [batch] = batchesOfBytes(
    Uint8Array.from(bytesOfBatches([{ rowCount: 5, vectors: [codedOf(TEXTS)], runs: undefined, summary: undefined }])),
  );
  const vector = batch?.vectors[0];
  if (vector?.kind !== "coded") throw new Error("text by code stays so");
  expect(TEXTS.slice(0, 5).map((_, row) => scalarAt(vector, STRING, row))).toEqual(TEXTS.slice(0, 5));
  expect(vector.entries.size).toBe(5);
});
