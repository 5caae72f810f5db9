/**
 * The Arrow IPC stream format. A statement that returns no rows has an empty body.
 */
import { encodeArrowBatch, encodeArrowEnd, encodeArrowSchema } from "../../../format/arrow/encode-stream.ts";
import type { ResultFormat } from "./format.ts";
import { singleResult } from "./single-result.ts";

/** `arrow`. */
export const arrow: ResultFormat = {
  label: "arrow",
  contentType: "application/arrow",
  encode: (results, options) =>
    singleResult(results, "arrow", async function* (result) {
      if (result.kind === "affected") return;
      yield encodeArrowSchema(result.headers);
      for await (const batch of result.batches) {
        if (batch.rowCount > 0) yield encodeArrowBatch(result.headers, batch, options.compression);
      }
      yield encodeArrowEnd();
    }),
};
