import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { DECODE_ROUNDS_MAX } from "./limits.ts";

/**
 * Runs `work`, which admits, decodes and writes a body, and runs it again when another thread changed a table in between: what the decoder
 * knew of types no longer held, and nothing was written.
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
