/**
 * Only how many rows there were and how long it took; for benchmarks of clients.
 */
import { type ResultFormat, utf8 } from "./format.ts";
import { singleResult } from "./single-result.ts";

/** `null`. */
export const nullFormat: ResultFormat = {
  label: "null",
  contentType: "text/plain; charset=utf-8",
  encode: (results, options) =>
    singleResult(results, "null", async function* (result) {
      let rowCount = 0;
      if (result.kind === "affected") rowCount = result.rowCount;
      else for await (const batch of result.batches) rowCount += batch.rowCount;
      const what = result.kind === "affected" ? "rows affected." : "rows in set.";
      yield utf8(`${rowCount} ${what}\nElapsed: ${(options.elapsedMillis() / 1000).toFixed(3)} sec.\n`);
    }),
};
