/** The result tables of the three scale benchmarks, as Markdown: medians over runs, `±` half the span between them. */
import type { ColumnsResult } from "./columns-bench.ts";
import { table } from "./report.ts";
import type { SeriesResult } from "./series-bench.ts";
import type { SqlTimings } from "./sql-timing.ts";
import { median, percentile, spread } from "./statistics.ts";
import type { TablesResult } from "./tables-bench.ts";

const MIB = 2 ** 20;

/** The table of `bun bench series`. */
export function seriesText(results: readonly SeriesResult[]): string {
  const of = figuresOf(results);
  const lines = [
    ["rows/s of 4,000 series, as many rows", of((r) => r.baselineRate, whole)],
    ["rows/s while all series are new", of((r) => r.firstRate, whole)],
    ["rows/s once they are known", of((r) => r.laterRate, whole)],
    [
      "× baseline: new, known, all",
      [
        of((r) => r.firstRate / r.baselineRate, two),
        of((r) => r.laterRate / r.baselineRate, two),
        of((r) => r.allRate / r.baselineRate, two),
      ].join(", "),
    ],
    [
      "RSS MiB: loaded, peak, at rest",
      [of((r) => r.rssBytesLoaded / MIB, whole), of((r) => r.rssBytesPeak / MIB, whole), of((r) => r.rssBytesRest / MIB, whole)].join(", "),
    ],
    ...results.slice(0, 1).flatMap(() => [
      ["one series, all tags given, rows in memory: first, warm, p95 ms", timings(results.map((r) => r.inMemory.allTags))],
      ["one series, max a minute, rows in memory", timings(results.map((r) => r.inMemory.oneTag))],
      ["one series, all tags given, rows in files", timings(results.map((r) => r.inFiles.allTags))],
      ["one series, max a minute, rows in files", timings(results.map((r) => r.inFiles.oneTag))],
    ]),
    ["flush of the rest, s; merge, s", `${of((r) => r.flushSeconds, two)}; ${of((r) => r.mergeSeconds, two)}`],
    ["files; B a row", `${of((r) => r.files, whole)}; ${of((r) => r.diskBytes / r.rows, two)}`],
    ["log of one pass MiB; B a row", `${of((r) => r.logBytes / MIB, whole)}; ${of((r) => r.logBytes / r.series, two)}`],
    ["ready after SIGKILL, s; peak RSS MiB", `${of((r) => r.replaySeconds, two)}; ${of((r) => r.replayRssBytes / MIB, whole)}`],
    ["ready after a clean stop, s; first query ms", `${of((r) => r.readySeconds, two)}; ${of((r) => r.firstQueryMs, whole)}`],
  ];
  const [first] = results;
  const head = `## ${thousands(first?.series ?? 0)} series\n\n${thousands(first?.rows ?? 0)} rows, ${runs(results)}.\n\n`;
  return head + table(["what", "figure"], lines);
}

/** The table of `bun bench tables`. */
export function tablesText(results: readonly TablesResult[]): string {
  const of = figuresOf(results);
  const lines = [
    ["first request, makes all tables, s", of((r) => r.createSeconds, two)],
    ["rows/s after it; of one table", `${of((r) => r.rate, whole)}; ${of((r) => r.baselineRate, whole)}`],
    [
      "RSS MiB: loaded, replayed, flushed, clean start",
      [
        of((r) => r.rssBytesLoaded / MIB, whole),
        of((r) => r.rssBytesReplayed / MIB, whole),
        of((r) => r.rssBytesFlushed / MIB, whole),
        of((r) => r.rssBytesReady / MIB, whole),
      ].join(", "),
    ],
    ["log MiB", of((r) => r.logBytes / MIB, two)],
    ["ready after SIGKILL, s", of((r) => r.replaySeconds, two)],
    ["one table, rows in memory: first, warm, p95 ms", timings(results.map((r) => r.inMemory))],
    ["flush of all tables, s", of((r) => r.flushSeconds, two)],
    [
      "files; MiB on disk; MiB written by the flush",
      `${of((r) => r.files, whole)}; ${of((r) => r.diskBytes / MIB, two)}; ${of((r) => r.flushBytesWritten / MIB, whole)}`,
    ],
    ["one table, rows in files: first, warm, p95 ms", timings(results.map((r) => r.inFiles))],
    ["clean stop, s", of((r) => r.stopSeconds, two)],
    ["ready after a clean stop, s", of((r) => r.readySeconds, two)],
    ["/metrics: median, worst ms", `${of((r) => r.scrapes.msP50, two)}; ${of((r) => r.scrapes.msMax, two)}`],
    [
      "/metrics: median, worst ms of the main thread; longest wait of other requests",
      `${of((r) => r.scrapes.cpuMsP50, two)}; ${of((r) => r.scrapes.cpuMsMax, two)}; ${of((r) => r.scrapes.otherMsMax, two)}`,
    ],
  ];
  const [first] = results;
  const head = `## ${thousands(first?.tables ?? 0)} tables\n\n${thousands(first?.rows ?? 0)} rows, ${runs(results)}.\n\n`;
  return head + table(["what", "figure"], lines);
}

/** The table of `bun bench columns`. */
export function columnsText(results: readonly ColumnsResult[]): string {
  const counts = [...new Set(results.map((result) => result.columns))];
  const column = (columns: number): readonly string[] => {
    const group = results.filter((result) => result.columns === columns);
    const of = figuresOf(group);
    return [
      of((r) => r.rows, whole),
      of((r) => r.valueRate, whole),
      of((r) => r.rssBytesLoaded / MIB, whole),
      of((r) => r.rssBytesPeak / MIB, whole),
      of((r) => r.logBytes / r.rows / r.columns, two),
      of((r) => r.replaySeconds, two),
      of((r) => r.flushSeconds, two),
      of((r) => r.diskBytes / r.rows / r.columns, two),
      timings(group.map((r) => r.oneInMemory)),
      timings(group.map((r) => r.allInMemory)),
      timings(group.map((r) => r.oneInFile)),
      timings(group.map((r) => r.allInFile)),
    ];
  };
  const cells = counts.map(column);
  const names = [
    "rows",
    "values/s",
    "RSS MiB loaded",
    "peak after replay",
    "log, B a value",
    "ready after SIGKILL, s",
    "flush, s",
    "files, B a value",
    "3 columns of 1 series in memory: first, warm, p95 ms",
    "3 columns of all in memory",
    "3 columns of 1 series in files",
    "3 columns of all in files",
  ];
  const lines = names.map((name, i) => [name, ...cells.map((list) => list[i] ?? "")]);
  const titles = ["what", ...counts.map((n) => `${thousands(n)} columns`)];
  return `## Columns\n\n${runs(results.filter(({ columns }) => columns === counts[0]))}.\n\n${table(titles, lines)}`;
}

function figuresOf<T>(results: readonly T[]): (value: (result: T) => number, text: (value: number) => string) => string {
  return (value, text) => {
    const values = results.map(value);
    return values.length < 2 ? text(median(values)) : `${text(median(values))} ±${(spread(values) * 100).toFixed(0)} %`;
  };
}

function timings(all: readonly SqlTimings[]): string {
  const first = all.flatMap(({ firstMs }) => firstMs);
  const warm = all.flatMap(({ warmMs }) => warmMs);
  return [percentile(first, 0.5), percentile(warm, 0.5), percentile(warm, 0.95)].map(ms).join(", ");
}

function runs(results: readonly unknown[]): string {
  return `${results.length} run${results.length === 1 ? "" : "s"}`;
}

function whole(value: number): string {
  return thousands(value);
}

function two(value: number): string {
  return value.toFixed(2);
}

function ms(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
