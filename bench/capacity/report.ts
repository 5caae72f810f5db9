/** The tables of `docs/cluster-capacity.md`. */
import { COSTS, type Cost, FIGURES } from "./costs.ts";
import { playLanes } from "./lanes.ts";
import { type Layout, type Load, type Needs, needsOf } from "./model.ts";

/** A layout, and what it is called. */
export interface Scenario extends Layout {
  readonly title: string;
}

/** What is reckoned. */
export interface CapacityOptions {
  readonly nodes: readonly number[];
  /** undefined: a million a node. */
  readonly rowsPerSecond: number | undefined;
  readonly scenarios: readonly Scenario[];
}

const ALL = 1024;

/** What the page shows. */
export const PAGE_OPTIONS: CapacityOptions = {
  nodes: [1, 2, 4, 8, 16, 32, 64, 100],
  rowsPerSecond: undefined,
  scenarios: [
    { title: "4 shards a node, one table on all of them, lanes send at once", shardsMax: ALL, spread: ALL, gatherMillis: 0 },
    { title: "The same, lanes gather for 50 ms", shardsMax: ALL, spread: ALL, gatherMillis: 50 },
    { title: "At most 64 shards, one table on all of them, lanes gather for 50 ms", shardsMax: 64, spread: ALL, gatherMillis: 50 },
    { title: "4 shards a node, many tables on 4 shards each, lanes send at once", shardsMax: ALL, spread: 4, gatherMillis: 0 },
  ],
};

const MILLION = 1e6;
/** Records that a play may have. Reason: a second of this program each. */
const RECORDS_MAX = 1_500_000;
const PLAYED_SECONDS = 2.5;

/** All tables as Markdown. */
export function capacityText({ nodes, rowsPerSecond, scenarios }: CapacityOptions): string {
  const loads = nodes.map((count): Load => ({ nodes: count, rowsPerSecond: rowsPerSecond ?? count * MILLION }));
  const [first = PAGE_OPTIONS.scenarios[0] as Scenario] = scenarios;
  const needs = loads.map((load) => needsOf(load, first, FIGURES));
  return [
    "## Frontends and data nodes\n",
    machineTable(needs),
    "## The store\n",
    storeTable(needs),
    "## The log\n",
    ...scenarios.map((scenario) => `### ${scenario.title}\n\n${logTable(loads, scenario)}`),
    "## What things cost\n",
    costTable(),
  ].join("\n");
}

function machineTable(needs: readonly Needs[]): string {
  return table(
    ["data nodes", "rows/s", "frontends", "cores of frontends", "cores of data nodes for rows", "log MiB/s", "enough"],
    needs.map((need) => [
      need.nodes,
      `${shown(need.rowsPerSecond / MILLION)}M`,
      need.frontends,
      shown(need.frontendCores),
      shown(need.datanodeCores),
      shown(need.logMiB),
      need.isEnough ? "yes" : "no: more nodes",
    ]),
  );
}

function logTable(loads: readonly Load[], scenario: Scenario): string {
  const heads = ["data nodes", "shards", "messages/s", "KiB a message", "log servers", "because of", "cores", "MiB/s a disk"];
  const played = ["played: streams of a disk", "messages/s", "KiB", "syncs/s", "busy", "ack ms p50", "p99"];
  const rows = loads.map((load) => {
    const need = needsOf(load, scenario, FIGURES);
    const reckoned = [shown(need.messagesPerSecond), shown(need.messageBytes / 1024), need.logServers, need.logLimit, shown(need.logCores)];
    return [load.nodes, need.shards, ...reckoned, shown(need.diskMiB), ...playedCells(need, scenario)];
  });
  return table([...heads, ...played], rows);
}

function storeTable(needs: readonly Needs[]): string {
  return table(
    ["nodes", "rows/s", "puts a day", "$ a day", "TB after 30 days", "$ a month"],
    needs.map((need) => [
      need.nodes,
      `${shown(need.rowsPerSecond / MILLION)}M`,
      `${shown(need.putsPerDay / MILLION)}M`,
      shown(need.putDollarsPerDay),
      shown(need.storedTB),
      shown(need.storeDollarsPerMonth),
    ]),
  );
}

/** The lanes of all frontends and the streams of one disk of the log. */
function playedCells(need: Needs, { gatherMillis }: Scenario): readonly (string | number)[] {
  const { nodes, frontends, shards, spread, rowsPerSecond, logServers } = need;
  const streams = Math.max(1, Math.round((shards * FIGURES.copies) / logServers));
  const records = (rowsPerSecond / FIGURES.requestRows) * spread * (streams / shards) * PLAYED_SECONDS;
  if (records > RECORDS_MAX) return [streams, `too many to play for ${nodes}`, "", "", "", "", ""];
  const result = playLanes({ frontends, shards, spread, streams, rowsPerSecond, gatherMillis }, FIGURES);
  const { messagesPerSecond, messageBytes, syncsPerSecond, busy, ackMillisP50, ackMillisP99, isSteady } = result;
  const acks = isSteady ? [ackMillisP50.toFixed(1), ackMillisP99.toFixed(1)] : ["lanes fill", ""];
  return [streams, shown(messagesPerSecond), shown(messageBytes / 1024), shown(syncsPerSecond), `${Math.round(busy * 100)} %`, ...acks];
}

function costTable(): string {
  const costs: readonly Cost[] = Object.values(COSTS);
  return table(
    ["figure", "", "what", "from"],
    costs.map(({ value, unit, what, source }) => [value, unit, what, source]),
  );
}

/** Three figures. */
function shown(value: number): string {
  if (value >= 100_000) return `${shown(value / 1000)}k`;
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2).replace(/\.?0+$/, "");
}

function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  return `${[line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n")}\n`;
}
