/** How many tests a run had, as its summary tells. */
export interface TestCount {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Reads the summary that `bun test` ends with: ` 12 pass`, ` 1 fail`, ` 1 error` (thrown outside a test), one a line.
 * A run without a summary, or one that ended badly without naming a failure, counts as one failure: it must never look like success.
 *
 * @param output all that the run wrote
 * @param status its exit status
 */
export function parseTestCount(output: string, status: number): TestCount {
  const passed = lastNumber(output, "pass");
  // An error outside a test is among the failures already; it counts by itself only where none is named.
  const failed = Math.max(lastNumber(output, "fail") ?? 0, lastNumber(output, "errors?") ?? 0);
  if (passed === undefined || (failed === 0 && status !== 0)) return { passed: passed ?? 0, failed: Math.max(1, failed) };
  return { passed, failed };
}

/** The count of several runs together. */
export function sumOfCounts(counts: readonly TestCount[]): TestCount {
  const sum = (one: (count: TestCount) => number): number => counts.reduce((total, count) => total + one(count), 0);
  return { passed: sum(({ passed }) => passed), failed: sum(({ failed }) => failed) };
}

/** The number before `word` in the last line that is nothing else. */
function lastNumber(output: string, word: string): number | undefined {
  const last = [...output.matchAll(new RegExp(`^\\s*(\\d+) ${word}\\s*$`, "gm"))].at(-1)?.[1];
  return last === undefined ? undefined : Number(last);
}
