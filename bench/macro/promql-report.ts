/** The tables of `bun bench promql`, as Markdown. */
import type { PromqlFigures, PromqlResult } from "./promql-bench.ts";
import { ms, table } from "./report.ts";

const MIB = 2 ** 20;

/** See the file header. The first server is compared with the best of the others. */
export function promqlText({ samples, series, figures, memory, runs }: PromqlResult): string {
  const names = [...new Set(memory.map(({ server }) => server))];
  const lines = figures.map((one) => [
    one.query.name,
    thousands(one.series),
    thousands(one.bytes / 1024),
    ...names.flatMap((name) => [one.warm, one.first, one.cpu].map((times) => ms(times.get(name) ?? Number.NaN))),
    ratio(one, names, "warm"),
    ratio(one, names, "first"),
  ]);
  const head = ["query", "series", "KiB", ...names.flatMap((name) => [`${name} ms`, "first", "CPU"]), "× best", "first × best"];
  const memoryLines = memory.map(({ store, server, idleBytes, peakBytes }) => [
    `${store}, ${server}`,
    mebibytes(idleBytes),
    mebibytes(peakBytes),
    mebibytes(peakBytes - idleBytes),
  ]);
  return `## PromQL

${thousands(samples.fleet)} samples of ${thousands(series.fleet)} series in 1,003 metrics and ${thousands(samples.users)} of one metric of \
${thousands(series.users)} series, by remote write; answers as they are, compared between the servers; medians, ${runs} restarts.
CPU: processor time of the server for a warm one, ms.

${table(head, lines)}
${table(["resident memory, MiB", "idle", "peak", "over idle"], memoryLines)}`;
}

/** The first server's time as a multiple of the others' best. */
function ratio(one: PromqlFigures, [own = "", ...others]: readonly string[], which: "warm" | "first"): string {
  if (others.length === 0) return "–";
  const best = Math.min(...others.map((name) => one[which].get(name) ?? Number.NaN));
  return ((one[which].get(own) ?? Number.NaN) / best).toFixed(2);
}

function mebibytes(bytes: number): string {
  return thousands(bytes / MIB);
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
