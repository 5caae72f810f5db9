/** What a trial did, for people: figures, and a table of the times until queries were whole again. */
import { median, percentile } from "../../bench/macro/statistics.ts";
import { BATCH_KEYS, BATCH_ROWS } from "./model.ts";
import { kindOf, type Round, seconds, type TrialReport } from "./trial.ts";

/** Most broken promises that are told. */
const VIOLATIONS_MAX = 20;

/** The text of a report, with its last line end. */
export function reportText({ rounds, figures, violations }: TrialReport): string {
  const again = figures.acknowledged - figures.clear;
  const lines = [
    "",
    "queries whole again after, s     rounds  median  longest",
    ...[...groups(rounds)].map(([name, times]) => {
      const figure = (value: number): string => seconds(value).padStart(8);
      return `${name.padEnd(32)}${String(times.length).padStart(7)}${figure(median(times))}${figure(percentile(times, 1)).padStart(9)}`;
    }),
    "",
    `${figures.acknowledged} requests of ${BATCH_ROWS} + ${BATCH_KEYS} rows acknowledged, ${again} of them after tries without an answer ` +
      `(their rows may stand there more than once), ${figures.retries} not at the first try`,
    `${rounds.reduce((sum, { failedStarts }) => sum + failedStarts, 0)} starts failed, and were made again`,
    `longest wait of a write ${seconds(figures.longestWriteMs)} s, of a query ${seconds(figures.longestQueryMs)} s (a try ends after 10 s)`,
    `${figures.queries} answers held against ${figures.batchesCompared} batches and ${figures.keysCompared} keys`,
    ...violations.slice(0, VIOLATIONS_MAX).map((violation) => `BROKEN: ${violation}`),
    ...(violations.length > VIOLATIONS_MAX ? [`and ${violations.length - VIOLATIONS_MAX} more`] : []),
    violations.length === 0 ? "every promise was kept" : `${violations.length} broken promises`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Times by fault and kind of process, "kill of datanode". */
function groups(rounds: readonly Round[]): ReadonlyMap<string, readonly number[]> {
  const all = new Map<string, number[]>();
  for (const { fault, target, beside, wholeMs } of rounds) {
    const name = beside === undefined ? `${fault} of ${kindOf(target)}` : "two at once";
    all.getOrInsertComputed(name, () => []).push(wholeMs);
  }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}
