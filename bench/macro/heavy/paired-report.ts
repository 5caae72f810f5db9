/** Tables of queries in Varve and in DuckDB. */
import { median, spread } from "../statistics.ts";
import { type PairedResult, ratioOf, RIGHT, type Taken } from "./paired.ts";

const MIB = 1024 * 1024;
/** Multiples of DuckDB's time that are counted at the end. */
const MARKS: readonly number[] = [1.2, 2.5];
const STATUS_CHARACTERS_MAX = 160;

/** The head of `pairedLine`'s table. */
export const PAIRED_HEAD = `| query | ms | ± | DuckDB ms | ± | x DuckDB | CPU s | its CPU s | x CPU | peak MiB | spilled MiB | answer |
|---|---|---|---|---|---|---|---|---|---|---|---|`;

/** One query's row. */
export function pairedLine(result: PairedResult): string {
  const { query, varve, duckdb, peakBytes, spilledBytes } = result;
  const cells = [
    query.name,
    ...timesOf(varve),
    ...timesOf(duckdb),
    numberText(ratioOf(result), 2),
    numberText(varve.cpuSeconds, 2),
    numberText(duckdb.cpuSeconds, 2),
    numberText(varve.cpuSeconds / duckdb.cpuSeconds, 1),
    mib(peakBytes),
    mib(spilledBytes),
    statusOf(result),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** How many queries stay below each mark, the geometric mean, and what was not right. */
export function pairedSummary(results: readonly PairedResult[]): string {
  const ratios = results.flatMap((result) => ratioOf(result) ?? []);
  const counts = MARKS.map((mark) => `${ratios.filter((ratio) => ratio <= mark).length} at most ${mark} x`);
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  const total = (sides: readonly Taken[]): string => numberText(sides.reduce((sum, { ms }) => sum + (median(ms) || 0), 0) / 1000, 1);
  const wrong = failuresOf(results);
  return [
    `Of ${results.length} queries ${counts.join(", ")} DuckDB's time; geometric mean ${numberText(mean, 2)} x.`,
    `All together ${total(results.map(({ varve }) => varve))} s, DuckDB ${total(results.map(({ duckdb }) => duckdb))} s.`,
    wrong.length === 0 ? "All answers are right." : `${wrong.length} without a right answer: ${wrong.join("; ")}.`,
    "",
  ].join("\n");
}

/** Queries without a right answer. */
export function failuresOf(results: readonly PairedResult[]): readonly string[] {
  return results.filter(({ status }) => status !== RIGHT).map((result) => `${result.query.name}: ${statusOf(result)}`);
}

/** The head of `limitedLine`'s table. */
export const LIMITED_HEAD = `| query | ms | ± | x without a limit | CPU s | spilled MiB | peak MiB | of the limit | answer |
|---|---|---|---|---|---|---|---|---|`;

/** One query's row under a limit of memory; `free` is the same query without one. */
export function limitedLine(result: PairedResult, free: PairedResult | undefined, limitBytes: number): string {
  const { query, varve, peakBytes, spilledBytes } = result;
  const ratio = free === undefined || free.varve.ms.length === 0 ? undefined : median(varve.ms) / median(free.varve.ms);
  const cells = [
    query.name,
    ...timesOf(varve),
    numberText(ratio, 2),
    numberText(varve.cpuSeconds, 2),
    mib(spilledBytes),
    mib(peakBytes),
    numberText(peakBytes / limitBytes, 2),
    statusOf(result),
  ];
  return `| ${cells.join(" | ")} |`;
}

function timesOf({ ms }: Taken): readonly string[] {
  return ms.length === 0 ? ["-", "-"] : [median(ms).toFixed(0), `${(spread(ms) * 100).toFixed(0)} %`];
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}

function numberText(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? "-" : value.toFixed(digits);
}

function statusOf({ status }: PairedResult): string {
  return status.replaceAll(/[|\s]+/g, " ").slice(0, STATUS_CHARACTERS_MAX);
}
