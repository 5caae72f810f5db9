/** The command line of the benchmark. */
import { parseArgs } from "node:util";
import { type Dataset, FULL, SMOKE } from "./macro/dataset.ts";
import { GRPC_WORKLOADS, type GrpcWorkload } from "./macro/grpc/workloads.ts";
import { PEERS, type PeerName } from "./macro/peers.ts";
import { PROMQL_PEERS, type PromqlPeer } from "./macro/promql-servers.ts";
import { QUERY_TYPES } from "./macro/queries.ts";
import { DURABILITIES, type Durability, ON_OFF, type OnOff } from "./macro/target.ts";

/** What `--help` prints. */
export const HELP = `Measures Varve: ingest, queries, starts, and the loops inside.

Examples:
  bun bench                                    ingest of 8,640,000 rows, every peer found, then the 15 queries beside DuckDB
  bun bench --smoke                            the same with 20,000 rows and no peers: a few seconds
  bun bench ingest --peers none --runs 5       ingest alone, five times
  bun bench ingest --batch 1000 --connections 16 --durability always,never
  bun bench ingest --peers none --threads 1,2  one ingest thread beside two
  bun bench ingest --peers none --rows 20000000 --compaction on,off
                                               what merging files costs writers
  bun bench queries --rows 2000000             queries on a smaller store
  bun bench queries --work-dir D --keep --types lastpoint,high-cpu-1 --peers none
                                               some types; with a work directory that is kept, loaded only once
  bun bench s3 --store PATH                    the 15 queries over data files in an S3 store (versitygw) beside local files: warm, cold,
                                               and with a cache smaller than the data
  bun bench clients --clients 50               point queries of 50 clients beside ingest at full rate
  bun bench clients --protocol postgres        the same, the clients over PostgreSQL's protocol
  bun bench wires                              both wire protocols beside the servers of Debian: results, points, COPY, INSERT
  bun bench wires --only select --peers none   some of it, Varve alone
  bun bench dashboards --clients 50            dashboards of 8 PromQL range queries every 5 s beside remote write at full rate
  bun bench replay                             ready times, replay of a log after SIGKILL, idle memory, small writes
  bun bench ingest --peers none --no-small --tracing on,off
                                               what tracing every request costs
  bun bench soak --minutes 60                  an hour of full-rate ingest with deletes, a time to live and compaction: what grows?
  bun bench series-churn --minutes 60 --threads 1,2
                                               ever-new series with a time to live of --ttl: does memory stay flat?
  bun bench memory --limit 512MiB,1GiB         heavy statements under small limits: resident memory, what went over the disk
  bun bench heavy                              groups, joins, sorts and texts of 5M rows beside DuckDB, two threads; x its time
  bun bench heavy --memory 768MiB --work-dir D --keep --only group,join
                                               some of it, then the same under that memory.limit; with a kept directory, loaded only once
  bun bench clickbench                         the 43 queries of ClickBench over 5M generated rows of its table, beside DuckDB
  bun bench loki --rows 1000000 --batch 2000   Loki's push in protobuf and JSON; opentsdb: its put
  bun bench remote-write --threads 1,2         Prometheus remote write beside VictoriaMetrics, 2,000 samples a request
  bun bench remote-write --minutes 60          100,000 series for an hour, a sample each every 15 s: memory, bytes a sample
  bun bench promql                             PromQL beside VictoriaMetrics and Prometheus: 24M samples, and a metric of 1,000,000 series
  bun bench promql --hosts 10 --work-dir D --keep --only rate
                                               a tenth of it; with a work directory that is kept, loaded only once
  bun bench grpc                               gRPC: rows, Arrow Flight, OTLP beside HTTP; the bare transport beside them
  bun bench grpc --only rows,doput --runs 5    some of it: of transport, rows, columns, rows-stream, doput, doput-text, doget, otlp
  bun bench otlp --rows 1000000 --batch 5000   OTLP metrics, logs and traces; protobuf, with gzip, and JSON for logs
  bun bench logs                               a million lines through pipelines: NDJSON as it is, text with dissect and date
  bun bench series                             a table of 1,000,000 series: ingest, point queries, memory, starts
  bun bench tables                             10,000 tables of 10 rows: ingest, memory, replay, flush, /metrics, starts
  bun bench columns                            a table of 1,000 columns beside one of 10
  bun bench capacity                           what clusters of 1 to 100 nodes need, reckoned; it has a --help of its own
  bun bench micro wal                          the benchmarks beside the code whose path holds "wal"

Usage:
  bun bench [all | ingest | queries | clients | replay | soak | series | tables | columns | loki | opentsdb | otlp |
             remote-write | promql | dashboards | logs | wires | grpc | heavy | clickbench | memory | s3 | micro] [options]

Options:
  --rows N           rows to write (8640000)
  --hosts N          hosts they come from (4000)
                     series: --rows is 3000000 and --hosts, the series, 1000000
                     clients: --rows is 17280000; dashboards: 60000000 samples of --hosts 100, each with 1,000 series
                     tables: --hosts is the number of tables, 10000
                     columns: --hosts is the number of columns, 1000; --rows of it 20000
                     promql: --hosts is 100, each with 1,000 series of the fleet and 10,000 of the metric of many
                     remote-write: --rows is 10000000, --hosts 100, each with 1,000 series
                     wires: --rows is 1000000
                     grpc: --rows is 400000; workloads that are faster take up to ten times as many
                     heavy, clickbench, memory: --rows is 5000000
  --seed N           seed of the data and the queries (4242)
  --batch N          rows a request (10000; remote-write, dashboards: 2000)
  --connections N    connections of the load generator (4; remote-write: 8)
  --no-small         leave out the second shape, 1,000 rows x 16 connections
  --minutes N        length of the soak (60); may be a fraction. remote-write: scrapes in real time instead of a fixed number
  --version 1|2      version of remote write (1)
  --interval N       remote-write: seconds between two samples of a series (15)
  --fast             remote-write --minutes: times run ahead, requests as fast as they are taken
  --durability LIST  wal.sync of Varve: always, interval, never (always)
  --threads LIST     ingest threads of Varve, e.g. 1,2: each is measured (as many as suit the machine)
  --compaction LIST  on, off, or both, and then the ratio: whether Varve merges files meanwhile (on)
  --tracing LIST     the same: whether Varve traces every request, into itself (off)
  --peers LIST       all, none, or some of influxdb, victoria, questdb-sync, questdb-nosync (all)
                     promql: of victoria, prometheus; wires: all, the real servers that are found, or none
  --questdb-jar FILE QuestDB's jar ($QUESTDB_JAR)
  --runs N           runs of Varve and the sink (3)
  --peer-runs N      runs of the peers (1)
  --ttl N            series-churn: seconds that rows live (120)
  --rate N           series-churn: new series a second, half of them by each protocol (1000)
  --limit LIST       memory: values of memory.limit (512MiB,768MiB,1GiB)
  --memory SIZE      heavy, clickbench: everything again with this memory.limit
  --only LIST        memory, promql, wires, heavy, clickbench: parts of names of statements, e.g. window,sort (all); grpc: workloads
  --store PATH       s3: the program of versitygw (the one on PATH)
  --queries N        queries of each type (10)
  --types LIST       types of queries, e.g. lastpoint,high-cpu-all (all fifteen)
  --clients N        clients that ask beside ingest (50); wires: connections that ask (16)
  --protocol NAME    clients: what they speak, of http, mysql, postgres (http)
  --repeats N        warm rounds over them, fewer for slow types (3)
  --no-duckdb        do not run the queries in DuckDB
  --set KEY=TOML     a setting of Varve, e.g. --set 'storage.memtable_size="64MiB"'; may be repeated
  --input FILE       use this line-protocol file; it must hold what --rows, --hosts and --seed say. Made when absent, then kept
  --work-dir DIR     where servers keep their data; emptied afterwards (a new directory under the system's temporary one)
  --keep             keep the work directory
  --out FILE         result file (bench/results/DATE-WHAT.md; none with --smoke), or "none"
  --smoke            20,000 rows of 100 hosts, one run, no peers, two queries of each type
  -h, --help         this text
`;

/** What the first argument chooses. */
export const COMMANDS = [
  "all",
  "ingest",
  "queries",
  "clients",
  "replay",
  "soak",
  "series",
  "series-churn",
  "tables",
  "columns",
  "loki",
  "opentsdb",
  "remote-write",
  "promql",
  "dashboards",
  "otlp",
  "logs",
  "memory",
  "wires",
  "grpc",
  "heavy",
  "clickbench",
  "s3",
  "micro",
] as const;

/** One of them. */
export type Command = (typeof COMMANDS)[number];

type Size = Partial<Pick<Dataset, "rows" | "hosts">>;

/** Rows and hosts where a command does not take those of the published figures. */
const SIZES: Readonly<Partial<Record<Command, Size>>> = {
  clients: { rows: 17_280_000 },
  wires: { rows: 1_000_000 },
  grpc: { rows: 400_000 },
  memory: { rows: 5_000_000 },
  heavy: { rows: 5_000_000 },
  clickbench: { rows: 5_000_000 },
  series: { rows: 3_000_000, hosts: 1_000_000 },
  tables: { hosts: 10_000 },
  columns: { rows: 20_000, hosts: 1000 },
  "remote-write": { rows: 10_000_000, hosts: 100 },
  promql: { hosts: 100 },
  dashboards: { rows: 60_000_000, hosts: 100 },
};

/** The same with `--smoke`. */
const SMALL_SIZES: Readonly<Partial<Record<Command, Size>>> = {
  heavy: { rows: 10_000 },
  clickbench: { rows: 4000 },
  wires: { rows: 4000 },
  grpc: { rows: 4000 },
  series: { rows: 6000, hosts: 2000 },
  tables: { hosts: 100 },
  columns: { rows: 200, hosts: 100 },
  "remote-write": { rows: 8000, hosts: 4 },
  promql: { hosts: 1 },
  dashboards: { rows: 40_000, hosts: 4 },
};

/** What clients beside ingest can speak. */
const PROTOCOLS = ["http", "mysql", "postgres"] as const;

/** One of them. */
type ClientProtocol = (typeof PROTOCOLS)[number];

/** The parsed command line. */
export interface Options {
  readonly command: Command;
  /** Words after the command: parts of paths for `micro`. */
  readonly filters: readonly string[];
  readonly dataset: Dataset;
  readonly rowsPerBatch: number;
  readonly connections: number;
  readonly withSmallBatches: boolean;
  /** Length of the soak. */
  readonly minutes: number;
  /** Remote write: whether `minutes` was given, the version, seconds between samples, and whether times run ahead. */
  readonly isTimed: boolean;
  readonly version: 1 | 2;
  readonly intervalSeconds: number;
  readonly isFast: boolean;
  /** Series churn: how long rows live, and new series a second. */
  readonly ttlSeconds: number;
  readonly seriesPerSecond: number;
  /** Memory: values of `memory.limit`, and parts of names of statements. */
  readonly limits: readonly string[];
  readonly only: readonly string[];
  /** What `bun bench grpc` measures. */
  readonly grpcWorkloads: readonly GrpcWorkload[];
  /** Heavy queries: a value of `memory.limit` under which they run again. */
  readonly memoryLimit: string | undefined;
  readonly durabilities: readonly Durability[];
  /** Numbers of ingest threads; empty: what the server chooses. */
  readonly threads: readonly number[];
  /** Whether files merge while rows come in; empty: as the server chooses. */
  readonly compaction: readonly OnOff[];
  /** Whether requests are traced; empty: they are not. */
  readonly tracing: readonly OnOff[];
  readonly peers: readonly PeerName[];
  readonly promqlPeers: readonly PromqlPeer[];
  /** Wires: whether the real servers are measured too, where they are found. */
  readonly withWirePeers: boolean;
  readonly questdbJar: string;
  readonly runs: number;
  readonly peerRuns: number;
  /** S3: the program of versitygw; undefined: one on PATH. */
  readonly storeProgram: string | undefined;
  readonly queriesPerType: number;
  /** Types of queries that are measured. */
  readonly types: readonly string[];
  /** Clients that ask beside ingest; wires: connections that ask. */
  readonly clients: number;
  /** What clients beside ingest speak. */
  readonly protocol: ClientProtocol;
  readonly repeats: number;
  readonly withDuckdb: boolean;
  /** Settings of Varve, `section.key` to TOML text. */
  readonly settings: ReadonlyMap<string, string>;
  readonly input: string | undefined;
  readonly workDirectory: string | undefined;
  readonly keepsWorkDirectory: boolean;
  /** `undefined`: the default place; `"none"`: nowhere. */
  readonly out: string | undefined;
  readonly isSmoke: boolean;
}

/** A command line that cannot be understood: the text says what to change. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const VALUE = { type: "string" } as const;
const SWITCH = { type: "boolean", default: false } as const;

/** Parses a command line. `undefined` when help was asked for. @throws UsageError */
export function parseOptions(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Options | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const command = COMMANDS.find((name) => name === (positionals[0] ?? "all"));
  if (command === undefined) throw new UsageError(`unknown command ${positionals[0]}: want one of ${COMMANDS.join(", ")}`);
  if (command !== "micro" && positionals.length > 1) throw new UsageError(`unexpected argument ${positionals[1]}`);
  const isSmoke = values.smoke;
  const isRemoteWrite = command === "remote-write" || command === "dashboards";
  const peers = values.peers ?? (isSmoke ? "none" : "all");
  const base = { ...(isSmoke ? SMOKE : FULL), ...(isSmoke ? SMALL_SIZES : SIZES)[command] };
  return {
    command,
    filters: positionals.slice(1),
    dataset: {
      ...base,
      rows: whole("rows", values.rows, base.rows),
      hosts: whole("hosts", values.hosts, base.hosts),
      seed: whole("seed", values.seed, base.seed),
    },
    rowsPerBatch: whole("batch", values.batch, isRemoteWrite ? 2000 : 10_000),
    connections: whole("connections", values.connections, isRemoteWrite ? 8 : 4),
    withSmallBatches: !values["no-small"],
    minutes: positive("minutes", values.minutes, isSmoke ? 0.2 : 60),
    isTimed: values.minutes !== undefined,
    version: versionOf(values.version ?? "1"),
    intervalSeconds: whole("interval", values.interval, 15),
    isFast: values.fast,
    ttlSeconds: whole("ttl", values.ttl, isSmoke ? 3 : 120),
    limits: (values.limit ?? (isSmoke ? "256MiB" : "512MiB,768MiB,1GiB")).split(",").map((text) => text.trim()),
    only: values.only === undefined ? [] : values.only.split(",").map((text) => text.trim()),
    grpcWorkloads: command === "grpc" && values.only !== undefined ? list("only", values.only, GRPC_WORKLOADS) : GRPC_WORKLOADS,
    memoryLimit: values.memory,
    seriesPerSecond: whole("rate", values.rate, 1000),
    durabilities: list("durability", values.durability ?? "always", DURABILITIES),
    threads: values.threads === undefined ? [] : values.threads.split(",").map((text) => whole("threads", text.trim(), 1)),
    compaction: values.compaction === undefined ? [] : list("compaction", values.compaction, ON_OFF),
    tracing: values.tracing === undefined ? [] : list("tracing", values.tracing, ON_OFF),
    peers: command === "promql" || command === "wires" ? [] : peersOf(peers, PEERS),
    withWirePeers: command === "wires" && wirePeersOf(peers),
    promqlPeers: command === "promql" ? peersOf(peers, PROMQL_PEERS) : [],
    questdbJar: values["questdb-jar"] ?? env["QUESTDB_JAR"] ?? "",
    runs: whole("runs", values.runs, isSmoke ? 1 : 3),
    peerRuns: whole("peer-runs", values["peer-runs"], 1),
    storeProgram: values.store,
    queriesPerType: whole("queries", values.queries, isSmoke ? 2 : 10),
    types: values.types === undefined ? QUERY_TYPES : list("types", values.types, QUERY_TYPES),
    clients: whole("clients", values.clients, isSmoke ? 8 : command === "wires" ? 16 : 50),
    protocol: protocolOf(values.protocol ?? "http"),
    repeats: whole("repeats", values.repeats, isSmoke ? 1 : 3),
    withDuckdb: !values["no-duckdb"],
    settings: new Map((values.set ?? []).map(setting)),
    input: values.input,
    workDirectory: values["work-dir"],
    keepsWorkDirectory: values.keep,
    out: values.out ?? (isSmoke ? "none" : undefined),
    isSmoke,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        rows: VALUE,
        hosts: VALUE,
        seed: VALUE,
        batch: VALUE,
        connections: VALUE,
        "no-small": SWITCH,
        minutes: VALUE,
        version: VALUE,
        interval: VALUE,
        fast: SWITCH,
        ttl: VALUE,
        rate: VALUE,
        limit: VALUE,
        only: VALUE,
        memory: VALUE,
        durability: VALUE,
        threads: VALUE,
        compaction: VALUE,
        tracing: VALUE,
        peers: VALUE,
        "questdb-jar": VALUE,
        runs: VALUE,
        "peer-runs": VALUE,
        store: VALUE,
        queries: VALUE,
        types: VALUE,
        clients: VALUE,
        protocol: VALUE,
        repeats: VALUE,
        "no-duckdb": SWITCH,
        set: { type: "string", multiple: true },
        input: VALUE,
        "work-dir": VALUE,
        keep: SWITCH,
        out: VALUE,
        smoke: SWITCH,
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function whole(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text.replaceAll("_", ""));
  if (!Number.isSafeInteger(value) || value < 1) throw new UsageError(`--${name} ${text}: want a whole number of at least 1`);
  return value;
}

function versionOf(text: string): 1 | 2 {
  if (text !== "1" && text !== "2") throw new UsageError(`--version ${text}: want 1 or 2`);
  return text === "1" ? 1 : 2;
}

function protocolOf(text: string): ClientProtocol {
  const found = PROTOCOLS.find((name) => name === text);
  if (found === undefined) throw new UsageError(`--protocol ${text}: want one of ${PROTOCOLS.join(", ")}`);
  return found;
}

function wirePeersOf(text: string): boolean {
  if (text !== "all" && text !== "none") throw new UsageError(`--peers ${text}: wires takes all or none`);
  return text === "all";
}

function positive(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!(value > 0 && value < 1e6)) throw new UsageError(`--${name} ${text}: want a number above 0`);
  return value;
}

function list<T extends string>(name: string, text: string, known: readonly T[]): readonly T[] {
  return text.split(",").map((word) => {
    const found = known.find((candidate) => candidate === word.trim());
    if (found === undefined) throw new UsageError(`--${name} ${word}: want some of ${known.join(", ")}`);
    return found;
  });
}

function peersOf<T extends string>(text: string, known: readonly T[]): readonly T[] {
  if (text === "all") return known;
  return text === "none" ? [] : list("peers", text, known);
}

function setting(text: string): readonly [string, string] {
  const found = /^([a-z_]+(?:\.[a-z_]+)+)=(.+)$/.exec(text);
  if (found?.[1] === undefined || found[2] === undefined) {
    throw new UsageError(`--set ${text}: want section.key=value, the value as in a TOML file`);
  }
  return [found[1], found[2]];
}
