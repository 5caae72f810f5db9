/** Writes that are made again when the tables changed in between: every door writes by one of these. */
import { DbError } from "../base/error.ts";
import { DECODE_ROUNDS_MAX } from "../base/limits.ts";
import { StatusCode } from "../base/status-code.ts";
import type { WriteOptions } from "./write-batch.ts";

/**
 * Runs `work`, which admits, decodes and writes a body, and runs it again when a table was made or changed in between: what the decoder
 * knew of tables no longer holds, and nothing was written. A batch whose arrays are the caller's own need not be decoded again.
 *
 * @throws DbError those of `work`
 */
export async function decodedAndWritten<T>(work: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await work();
    } catch (error) {
      const isOutdated = error instanceof DbError && error.code === StatusCode.RegionBusy;
      if (!isOutdated || round === DECODE_ROUNDS_MAX) throw error;
    }
  }
}

/**
 * Begins a write of borrowed arrays: when it returns, they are copied, or what refused them is thrown, also where tables that the write
 * needs are made later. `done` is when the rows are durable. `write` has to hand the options on.
 *
 * @throws DbError what refused the write before it was logged, where tables had to be made
 */
export async function copiedAndWritten<T>(
  options: WriteOptions,
  write: (options: WriteOptions) => Promise<T>,
): Promise<{ readonly done: Promise<T> }> {
  return decodedAndWritten(async () => {
    let isLater = false;
    const onLater = (): void => {
      isLater = true;
    };
    const done = write({ ...options, onLater });
    if (isLater) await done;
    return { done };
  });
}
