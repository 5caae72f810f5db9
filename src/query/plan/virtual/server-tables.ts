/** Tables of `information_schema` about the server: its build, engines, character sets, the one node, statements that run. */
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { residentBytes } from "../../../base/memory/process-memory.ts";
import { cpus, hostname, totalmem } from "node:os";
import { clusterNodeRows } from "./cluster-rows.ts";
import { type InformationRow, type InformationSources, type InformationTable, informationTable } from "./information-table.ts";

const METRIC_COMMENT =
  "Storage engine for observability scenarios, which is adept at handling a large number of small tables, making it particularly " +
  "suitable for cloud-native monitoring";

const NO_SUPPORT = { transactions: "NO", xa: "NO", savepoints: "NO" } as const;

/** The character set of all text. */
export const CHARACTER_SETS: readonly InformationRow[] = [
  { character_set_name: "utf8", default_collate_name: "utf8_bin", description: "UTF-8 Unicode", maxlen: 4n },
];

/** How text is compared. */
export const COLLATIONS: readonly InformationRow[] = [
  { collation_name: "utf8_bin", character_set_name: "utf8", id: 1n, is_default: "Yes", is_compiled: "Yes", sortlen: 1n },
];

/** The engines that tables may have. */
export const ENGINE_ROWS: readonly InformationRow[] = [
  { engine: "mito", support: "DEFAULT", comment: "Storage engine for time-series data", ...NO_SUPPORT },
  { engine: "metric", support: "YES", comment: METRIC_COMMENT, ...NO_SUPPORT },
];

function buildRows({ system }: InformationSources): readonly InformationRow[] {
  const { branch, commit, version } = system;
  return [{ git_branch: branch, git_commit: commit, git_commit_short: commit.slice(0, 8), git_clean: "true", pkg_version: version }];
}

/** The machines of the cluster; one process that is no part of one is all of it. */
function nodeRows({ system, now }: InformationSources): readonly InformationRow[] {
  if (system.cluster !== undefined) {
    const nowMillis = Number(now / 1_000_000n);
    return [...clusterNodeRows(system.cluster(), system.commit)].map(({ startMillis, ...row }) => ({
      ...row,
      uptime: uptimeText(nowMillis - startMillis),
    }));
  }
  return [
    {
      peer_id: 0n,
      peer_type: "STANDALONE",
      peer_addr: "",
      peer_hostname: hostname(),
      total_cpu_millicores: BigInt(cpus().length * 1000),
      total_memory_bytes: BigInt(totalmem()),
      memory_usage_bytes: BigInt(residentBytes()),
      version: system.version,
      git_commit: system.commit.slice(0, 8),
      start_time: BigInt(system.startMillis),
      uptime: uptimeText(Number(now / 1_000_000n) - system.startMillis),
    },
  ];
}

/** `1d 2h 3m 4s`. */
function uptimeText(millis: number): string {
  let rest = Math.max(0, Math.floor(millis / 1000));
  const parts: string[] = [];
  for (const [unit, seconds] of [
    ["d", 86_400],
    ["h", 3600],
    ["m", 60],
  ] as const) {
    if (rest >= seconds) parts.push(`${Math.floor(rest / seconds)}${unit}`);
    rest %= seconds;
  }
  return [...parts, `${rest}s`].join(" ");
}

/** Rows of `process_list`: of the statements that were asked for. Clocks of frontends may differ, so that none is younger than nothing. */
export function statementRows({ statements = [], now }: Pick<InformationSources, "statements" | "now">): readonly InformationRow[] {
  const nowMillis = now / 1_000_000n;
  return statements.map(({ id, frontend, database, query, client, startMillis }) => ({
    id,
    catalog: CATALOG_NAME,
    schemas: database,
    query,
    client,
    frontend,
    start_timestamp: BigInt(startMillis),
    elapsed_time: nowMillis < BigInt(startMillis) ? 0n : nowMillis - BigInt(startMillis),
  }));
}

/** The tables. */
export const SERVER_TABLES: readonly InformationTable[] = [
  informationTable("build_info", 8, "git_branch git_commit git_commit_short git_clean pkg_version", buildRows),
  informationTable("character_sets", 9, "character_set_name default_collate_name description maxlen:i64", () => CHARACTER_SETS),
  informationTable("collations", 10, "collation_name character_set_name id:i64 is_default is_compiled sortlen:i64", () => COLLATIONS),
  informationTable("collation_character_set_applicability", 11, "collation_name character_set_name", () => COLLATIONS),
  informationTable("engines", 5, "engine support comment transactions xa savepoints", () => ENGINE_ROWS),
  informationTable(
    "cluster_info",
    31,
    `peer_id:i64 peer_type peer_addr? peer_hostname? total_cpu_millicores:i64 total_memory_bytes:i64 cpu_usage_millicores:i64?
    memory_usage_bytes:i64? version git_commit start_time:ts3? uptime? active_time? node_status?`,
    nodeRows,
  ),
  informationTable("process_list", 36, "id catalog schemas query client frontend start_timestamp:ts3 elapsed_time:dur3", statementRows),
];
