/** Times statements that need no comparison with another database. */
import { parseAnswer, sqlBody } from "./sql-client.ts";

/** Milliseconds of each statement's first run, and of all later ones. */
export interface SqlTimings {
  readonly firstMs: readonly number[];
  readonly warmMs: readonly number[];
}

/**
 * Runs each statement once, then all of them `repeats` times.
 *
 * @param rows rows that each answer must have; undefined: at least one
 * @throws Error when an answer has another number of rows
 */
export async function timeSql(
  baseUrl: string,
  statements: readonly string[],
  repeats: number,
  rows: number | undefined,
): Promise<SqlTimings> {
  const firstMs: number[] = [];
  const warmMs: number[] = [];
  for (let round = 0; round <= repeats; round++) {
    for (const sql of statements) {
      const started = performance.now();
      const body = await sqlBody(baseUrl, sql);
      (round === 0 ? firstMs : warmMs).push(performance.now() - started);
      if (round > 0) continue;
      const got = parseAnswer(body).rows.length;
      if (got === 0 || (rows !== undefined && got !== rows)) throw new Error(`${got} rows, want ${rows ?? "some"}: ${sql}`);
    }
  }
  return { firstMs, warmMs };
}
