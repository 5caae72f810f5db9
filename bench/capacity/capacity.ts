/** `bun bench capacity`: what clusters of some sizes need, reckoned from what things cost. Nothing is measured here. */
import { parseArgs } from "node:util";
import { UsageError } from "../options.ts";
import { type CapacityOptions, capacityText, PAGE_OPTIONS } from "./report.ts";

/** Most that a cluster has. */
const SHARDS_MAX = 1024;

const HELP = `Reckons what clusters need: cores, servers of the log, messages, requests to S3 and money, from bench/capacity/costs.ts.

Examples:
  bun bench capacity                                    what docs/cluster-capacity.md shows
  bun bench capacity --nodes 4,8 --rows-per-second 5000000 --shards 16 --spread 4 --gather 20

Options:
  --nodes LIST           data nodes (1,2,4,8,16,32,64,100)
  --rows-per-second N    rows of all (a million a node)
  --shards N             most shards (4 a node)
  --spread N             shards of a table (all)
  --gather N             milliseconds for which lanes gather records (0: they send at once)
                         with one of these three the page's layouts give way to this one
`;

/** Prints the tables. @returns the exit status @throws UsageError */
export function runCapacity(args: readonly string[]): number {
  const options = parse(args);
  process.stdout.write(options === undefined ? HELP : capacityText(options));
  return 0;
}

function parse(args: readonly string[]): CapacityOptions | undefined {
  const { nodes, "rows-per-second": rows, gather, shards, spread, help } = values(args);
  if (help) return undefined;
  const one = (name: string, value: string | undefined, fallback: number, min: number, max: number): number =>
    value === undefined ? fallback : (numbers(name, value, min, max)[0] ?? fallback);
  const layout = {
    title: "As asked",
    shardsMax: one("shards", shards, SHARDS_MAX, 1, SHARDS_MAX),
    spread: one("spread", spread, SHARDS_MAX, 1, SHARDS_MAX),
    gatherMillis: one("gather", gather, 0, 0, 1000),
  };
  return {
    nodes: nodes === undefined ? PAGE_OPTIONS.nodes : numbers("nodes", nodes, 1, 1000),
    rowsPerSecond: rows === undefined ? undefined : numbers("rows-per-second", rows, 1000, 1e9)[0],
    scenarios: gather === undefined && shards === undefined && spread === undefined ? PAGE_OPTIONS.scenarios : [layout],
  };
}

function values(args: readonly string[]) {
  const text = { type: "string" } as const;
  const options = {
    nodes: text,
    "rows-per-second": text,
    gather: text,
    shards: text,
    spread: text,
    help: { type: "boolean", short: "h", default: false },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function numbers(name: string, text: string, min: number, max: number): readonly number[] {
  return text.split(",").map((word) => {
    const value = Number(word.trim().replaceAll("_", ""));
    if (word.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return value;
    throw new UsageError(`--${name} ${text}: want whole numbers from ${min} to ${max}`);
  });
}
