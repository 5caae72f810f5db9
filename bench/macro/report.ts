/** The result tables, as Markdown: what a person reads on the terminal and what is kept in `bench/results/`. */
import type { IngestResult } from "./ingest-bench.ts";
import type { Machine } from "./machine.ts";
import { type MemoryLook, uncountedBytes } from "./memory-parts.ts";
import type { StartResult } from "./start-bench.ts";
import type { SoakResult } from "./soak-bench.ts";
import { median, percentile, spread } from "./statistics.ts";

const MIB = 2 ** 20;
/** How names of targets end that merge files, or do not. */
/** What may be on or off in two results of a run. */
export const SWITCHES = ["compaction", "tracing"] as const;

/** The head of a result file: when, what, and on which machine. */
export function headText(machine: Machine, what: string): string {
  const memory = `${(machine.memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  return `# Varve ${machine.version}: ${what}

${machine.date} UTC, commit ${machine.commit}, Bun ${machine.bun}, ${machine.cores} cores (${machine.processor.trim()}), ${memory}, \
Linux ${machine.kernel}, fdatasync of 4 KiB ${machine.syncMs.toFixed(2)} ms.
`;
}

/**
 * The ingest table: one line a server and shape, medians over runs. Ratios are taken inside each run, against `baseline`'s figure
 * of that run in the first shape, and their median is shown.
 */
export function ingestText(results: readonly IngestResult[], baseline: string): string {
  const firstShape = shapeText(results[0]);
  const baseOf = (run: number): number | undefined => {
    const base = results.find((result) => result.name === baseline && result.run === run && shapeText(result) === firstShape);
    return base === undefined ? undefined : rowsPerSecond(base);
  };
  const keys = [...new Set(results.map((result) => `${result.name}|${shapeText(result)}`))];
  const lines = keys.map((key) => {
    const group = results.filter((result) => `${result.name}|${shapeText(result)}` === key);
    const of = (value: (result: IngestResult) => number): number => median(group.map(value));
    const rates = group.map(rowsPerSecond);
    const ratios = group.flatMap((result) => {
      const base = baseOf(result.run);
      return base === undefined ? [] : [rowsPerSecond(result) / base];
    });
    const isSink = of((result) => result.diskBytesWritten) === 0 && group[0]!.durability === "nothing kept";
    const disk = (value: (result: IngestResult) => number, digits: number): string =>
      isSink ? "–" : of((result) => value(result) / result.load.rows).toFixed(digits);
    return [
      group[0]!.name,
      group[0]!.durability,
      shapeText(group[0]),
      thousands(median(rates)),
      `${group.length} run${group.length === 1 ? "" : "s"}${group.length === 1 ? "" : `, ±${(spread(rates) * 100).toFixed(0)} %`}`,
      of((result) => result.load.bytes / result.load.seconds / 1e6).toFixed(0),
      ratios.length === 0 ? "–" : median(ratios).toFixed(2),
      of((result) => result.load.ackMsP50).toFixed(1),
      of((result) => result.load.ackMsP99).toFixed(1),
      of((result) => result.queryableSeconds - result.load.seconds).toFixed(1),
      of((result) => result.cpuSecondsAtAck).toFixed(1),
      of((result) => result.cpuSecondsAtRest).toFixed(1),
      (of((result) => result.rssBytesPeak) / MIB).toFixed(0),
      disk((result) => result.diskBytes, 2),
      disk((result) => result.logBytes, 2),
      disk((result) => result.diskBytesWritten, 1),
      of((result) => result.load.cpuSeconds).toFixed(1),
    ];
  });
  const head = [
    "server",
    "acknowledged once in",
    "batch",
    "rows/s",
    "runs",
    "MB/s",
    `× ${baseline}`,
    "ack p50 ms",
    "p99 ms",
    "queryable after s",
    "CPU s at ack",
    "at rest",
    "peak RSS MiB",
    "B/row on disk",
    "of it log",
    "B/row written",
    "client CPU s",
  ];
  const { rows, bytes } = results[0]!.load;
  return `## Ingest

${thousands(rows)} rows, ${(bytes / 1e6).toFixed(0)} MB of line protocol, ${(bytes / rows).toFixed(0)} B a row. Client on the same \
machine. "At rest": flushed and merged. Every server was asked for its number of rows at the end, and had them all.

${table(head, lines)}`;
}

/** Rates with a switch on as parts of those with it off, of each run that measured both; none where none did. */
export function switchText(results: readonly IngestResult[], name: (typeof SWITCHES)[number]): readonly string[] {
  const [on, off] = [`, ${name} on`, `, ${name} off`];
  const ratios = new Map<string, number[]>();
  for (const result of results) {
    if (!result.name.includes(on)) continue;
    const shape = shapeText(result);
    const other = results.find((one) => one.name === result.name.replace(on, off) && one.run === result.run && shapeText(one) === shape);
    if (other === undefined) continue;
    const key = `${result.name.replace(on, "")}, ${shape}`;
    ratios.set(key, [...(ratios.get(key) ?? []), rowsPerSecond(result) / rowsPerSecond(other)]);
  }
  return Array.from(ratios, ([key, values]) => `${key}: with ${name} ${median(values).toFixed(2)} of the rate without.\n`);
}

/** The table of starts and small writes. */
export function startText(result: StartResult): string {
  const gibibytes = result.logBytes / 2 ** 30;
  const replaySeconds = (result.replayReadyMs - result.emptyReadyMs) / 1000;
  const lines = [
    ["ready on an empty store", `${result.emptyReadyMs.toFixed(0)} ms`],
    ["idle RSS", `${(result.idleRssBytes / MIB).toFixed(0)} MiB`],
    ["10-row write, idle server, p50", `${result.smallWriteMsP50.toFixed(2)} ms`],
    ["10-row write, idle server, p99", `${result.smallWriteMsP99.toFixed(2)} ms`],
    ["log of the rows", `${thousands(result.rows)} rows, ${(result.logBytes / MIB).toFixed(0)} MiB`],
    ["log a row", `${(result.logBytes / result.rows).toFixed(1)} B`],
    ["ready after SIGKILL (replay)", `${result.replayReadyMs.toFixed(0)} ms`],
    ["replay a GiB of log, the empty start apart", `${(replaySeconds / gibibytes).toFixed(1)} s`],
    ["replay rate", `${thousands(result.rows / replaySeconds)} rows/s`],
    ["peak RSS of the replay", `${(result.replayRssBytesPeak / MIB).toFixed(0)} MiB`],
    ["flush of all rows", `${result.flushSeconds.toFixed(1)} s`],
    ["clean stop", `${result.stopMs.toFixed(0)} ms`],
    ["ready on a cleanly closed store", `${result.cleanReadyMs.toFixed(0)} ms`],
  ];
  return `## Start, replay, rest\n\n${table(["what", "figure"], lines)}`;
}

/** Parts into which a soak is cut, to see what grows. */
const SOAK_PARTS = 6;

/** What each part held when the most was resident. */
function memoryText(look: MemoryLook | undefined): string {
  if (look === undefined) return "";
  const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
  const parts = Array.from(look.parts, ([name, bytes]) => `${name} ${mib(bytes)}`);
  return ` Of ${mib(look.rssBytes)} MiB that were resident at the worst of all seconds: ${parts.join(", ")}, \
the rest ${mib(uncountedBytes(look))}.`;
}

/** The table of a soak: one line a sixth of its time. */
export function soakText(result: SoakResult): string {
  const { windows, samples, seconds } = result;
  const lines = Array.from({ length: SOAK_PARTS }, (_, part) => {
    const own = windows.slice(Math.floor((part * windows.length) / SOAK_PARTS), Math.floor(((part + 1) * windows.length) / SOAK_PARTS));
    const looks = samples.slice(Math.floor((part * samples.length) / SOAK_PARTS), Math.floor(((part + 1) * samples.length) / SOAK_PARTS));
    const window = own.length === 0 ? Number.NaN : median(own.map(({ rows }) => rows)) / 10;
    return [
      `${((seconds / 60 / SOAK_PARTS) * part).toFixed(1)} min`,
      thousands(window),
      median(own.map(({ ackMsP50 }) => ackMsP50)).toFixed(1),
      median(own.map(({ ackMsP99 }) => ackMsP99)).toFixed(1),
      Math.max(0, ...own.map(({ ackMsMax }) => ackMsMax)).toFixed(0),
      String(own.reduce((sum, { refused }) => sum + refused, 0)),
      (median(looks.map(({ rssBytes }) => rssBytes)) / MIB).toFixed(0),
      (Math.max(0, ...looks.map(({ rssBytes }) => rssBytes)) / MIB).toFixed(0),
      median(looks.map(({ files }) => files)).toFixed(0),
      (median(looks.map(({ diskBytes }) => diskBytes)) / MIB).toFixed(0),
      (median(looks.map(({ logBytes }) => logBytes)) / MIB).toFixed(0),
      ms(median(looks.map(({ queryMs }) => queryMs))),
      ms(
        percentile(
          looks.map(({ queryMs }) => queryMs),
          1,
        ),
      ),
    ];
  });
  const head = [
    "from",
    "rows/s",
    "ack p50 ms",
    "p99 ms",
    "max ms",
    "429",
    "RSS MiB",
    "most",
    "files",
    "disk MiB",
    "log MiB",
    "query ms",
    "most",
  ];
  const rows = windows.reduce((sum, window) => sum + window.rows, 0);
  const { deletes, windowsCounted, rssBytesPeak, diskBytesWritten } = result;
  return `## Soak

${(seconds / 60).toFixed(1)} minutes of ingest, ${thousands(rows)} rows, with a time to live of three minutes and ${deletes} deletes of \
${thousands(result.deletedRows)} rows, compaction running. ${windowsCounted} windows of ten seconds were counted while nothing had \
touched them, and held every acknowledged row; every deleted row was gone. Peak RSS ${(rssBytesPeak / MIB).toFixed(0)} MiB, \
${(diskBytesWritten / rows).toFixed(1)} B written and ${((result.cpuSeconds / rows) * 1e6).toFixed(2)} µs of processor time \
a row.${memoryText(result.memoryAtPeak)}

${table(head, lines)}`;
}

/** A Markdown table whose columns line up. Numbers stand right. */
export function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...lines.map((line) => line[column]!.length)));
  const isNumber = head.map((_, column) => column > 0 && lines.every((line) => /^[\d–±.]/.test(line[column]!)));
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (isNumber[i] === true ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))).join(" | ")} |`;
  const rule = `|${widths.map((width, i) => (isNumber[i] === true ? `${"-".repeat(width + 1)}:` : "-".repeat(width + 2))).join("|")}|`;
  return `${[row(head), rule, ...lines.map(row)].join("\n")}\n`;
}

function rowsPerSecond(result: IngestResult): number {
  return result.load.rows / result.load.seconds;
}

function shapeText(result: IngestResult | undefined): string {
  return result === undefined ? "" : `${thousands(result.shape.rowsPerBatch)} × ${result.shape.connections}`;
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** Milliseconds with three digits, as far as they matter. */
export function ms(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}
