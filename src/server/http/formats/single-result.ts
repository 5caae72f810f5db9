/**
 * For formats that can hold the result of one statement only: all statements run, and a second result is then refused.
 */
import { invalidArguments } from "../../../base/error.ts";
import type { StatementResult } from "../../../query/statement-result.ts";

/**
 * Yields what `print` makes of the first result, then runs the remaining statements.
 *
 * @param format name of the format, for the error
 * @throws DbError InvalidArguments when there is more than one result
 */
export async function* singleResult(
  results: AsyncIterable<StatementResult>,
  format: string,
  print: (result: StatementResult) => AsyncIterable<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let count = 0;
  for await (const result of results) {
    if (++count === 1) yield* print(result);
    else if (result.kind === "rows") await drain(result.batches);
  }
  if (count > 1) {
    throw invalidArguments(`cannot output multi-statements result in ${format} format`);
  }
}

async function drain(batches: AsyncIterable<unknown>): Promise<void> {
  const iterator = batches[Symbol.asyncIterator]();
  while ((await iterator.next()).done !== true) {
    // The rows are dropped: only the effects and errors of the statement count.
  }
}
