/** `bun bench`: the benchmarks. See `--help`; each part is described in `bench/README.md`. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stepCount, STEP_SECONDS, timeRange } from "./macro/dataset.ts";
import { type Generated, generateFile } from "./macro/generator.ts";
import { type IngestCase, runIngest, type Shape } from "./macro/ingest-bench.ts";
import { runChurn } from "./macro/churn-bench.ts";
import { CLIENTS_WARM_MILLIS, runClients } from "./macro/clients-bench.ts";
import { runColumns } from "./macro/columns-bench.ts";
import { runDashboards } from "./macro/dashboards-bench.ts";
import { clickbenchQueries } from "./macro/heavy/clickbench-queries.ts";
import { clickbenchTables } from "./macro/heavy/clickbench-data.ts";
import { runHeavy } from "./macro/heavy/heavy-bench.ts";
import { heavyTables } from "./macro/heavy/heavy-data.ts";
import { heavyQueries } from "./macro/heavy/heavy-queries.ts";
import { runLogs } from "./macro/logs-bench.ts";
import { runMemory } from "./macro/memory-bench.ts";
import { describeMachine } from "./macro/machine.ts";
import { findPeers } from "./macro/peers.ts";
import { waitForNoRest } from "./macro/process-meter.ts";
import { type Progress, terminalProgress } from "./macro/progress.ts";
import { runPromql } from "./macro/promql-bench.ts";
import { promqlText } from "./macro/promql-report.ts";
import { promqlPeers, varvePromql } from "./macro/promql-servers.ts";
import { runPush } from "./macro/push-bench.ts";
import { PUSH_PROTOCOLS, type PushProtocol } from "./macro/push-loader.ts";
import { loadStore } from "./macro/loaded-store.ts";
import { queriesFor } from "./macro/queries.ts";
import { runQueries } from "./macro/query-bench.ts";
import { queriesText } from "./macro/query-report.ts";
import { WARM_MILLIS_MIN } from "./macro/query-timing.ts";
import { runRemoteWrite } from "./macro/remote-write-bench.ts";
import { runRemoteHours } from "./macro/remote-write-hours.ts";
import { type S3Result, runS3 } from "./macro/s3-bench.ts";
import { findGateway } from "./macro/s3-gateway.ts";
import { s3Text } from "./macro/s3-report.ts";
import { headText, ingestText, soakText, startText, SWITCHES, switchText } from "./macro/report.ts";
import { columnsText, seriesText, tablesText } from "./macro/scale-report.ts";
import { runSeries } from "./macro/series-bench.ts";
import { killAllServers } from "./macro/server-process.ts";
import { runSoak, type SoakResult } from "./macro/soak-bench.ts";
import { runStarts } from "./macro/start-bench.ts";
import { runTables } from "./macro/tables-bench.ts";
import { sinkTarget, type Target, type VarveChoices, varveTarget } from "./macro/target.ts";
import { runGrpc } from "./macro/grpc/grpc-bench.ts";
import { grpcText } from "./macro/grpc/grpc-report.ts";
import { runWires } from "./macro/wires/wires-bench.ts";
import { runMicro } from "./micro/run.ts";
import { runCapacity } from "./capacity/capacity.ts";
import { HELP, type Options, parseOptions, UsageError } from "./options.ts";

const SMALL_SHAPE: Shape = { rowsPerBatch: 1000, connections: 16 };
const RESULTS = join(import.meta.dir, "results");
/** Lines of logs, unless there are fewer rows. */
const LOG_LINES_MAX = 1_000_000;
const EXIT_USAGE = 2;
/** Makes what `bun install` makes, of the sources that are measured: servers start from it. */
const BUILD_SCRIPT = join(import.meta.dir, "../bin/build-server.ts");
/** Figures are published, but some queries have no right answer: the report says which. */
const EXIT_WRONG = 1;
/** What the commands that push send. */
const PUSHED: Readonly<Partial<Record<Options["command"], readonly PushProtocol[]>>> = {
  loki: ["loki", "loki-json"],
  opentsdb: ["opentsdb"],
  otlp: PUSH_PROTOCOLS.filter((name) => name.startsWith("otlp")),
};

async function buildServer(): Promise<void> {
  const status = await Bun.spawn([process.execPath, "run", BUILD_SCRIPT], { stdin: "ignore", stdout: "ignore", stderr: "inherit" }).exited;
  if (status !== 0) throw new Error(`cannot measure: ${BUILD_SCRIPT} ended with status ${status}`);
}

/** Runs one command line and returns the exit status. */
async function main(args: readonly string[]): Promise<number> {
  if (args[0] === "capacity") return runCapacity(args.slice(1));
  const options = parseOptions(args, process.env);
  if (options === undefined) {
    process.stdout.write(HELP);
    return 0;
  }
  if (options.command === "micro") return await runMicro(options.filters, options.out);
  if (options.isSmoke) waitForNoRest();
  const progress = terminalProgress();
  if (!options.isSmoke) await buildServer();
  const workDirectory = resolve(options.workDirectory ?? (await mkdtemp(join(tmpdir(), "varve-bench-"))));
  await mkdir(workDirectory, { recursive: true });
  try {
    const what = options.command === "all" ? "ingest and queries" : options.command;
    const head = headText(await describeMachine(workDirectory), what);
    await publish([head, ...(await measure(options, workDirectory, progress))].join("\n"), options);
    return 0;
  } finally {
    killAllServers();
    if (options.keepsWorkDirectory) process.stderr.write(`kept ${workDirectory}\n`);
    else await rm(workDirectory, { recursive: true });
  }
}

/** Runs one of the benchmarks that make their own input. Undefined for the others. */
async function measureScale(options: Options, workDirectory: string, progress: Progress): Promise<string | undefined> {
  const { dataset, connections, runs, settings } = options;
  const { hosts, rows, seed, startSeconds } = dataset;
  const common = { target: varveTarget(options.durabilities[0] ?? "always", settings), runs, workDirectory, progress };
  const shape: Shape = { rowsPerBatch: options.rowsPerBatch, connections };
  switch (options.command) {
    case "series":
      return seriesText(await runSeries({ ...common, dataset, shape }));
    case "tables":
      return tablesText(await runTables({ ...common, tables: hosts, seed, startSeconds, connections }));
    case "columns":
      return columnsText(await runColumns({ ...common, columns: hosts, values: rows * hosts, seed, startSeconds, connections }));
    default:
      return undefined;
  }
}

/** Runs the chosen parts and returns the pieces of the result. */
async function measure(options: Options, workDirectory: string, progress: Progress): Promise<readonly string[]> {
  const { command } = options;
  const protocols = PUSHED[command];
  if (protocols !== undefined) {
    const { rowsPerBatch, connections, runs, dataset } = options;
    const target = varveTarget(options.durabilities[0] ?? "always", options.settings, { threads: options.threads[0] });
    return [await runPush({ protocols, target, rows: dataset.rows, rowsPerBatch, connections, runs, workDirectory, progress })];
  }
  if (command === "remote-write") return await measureRemoteWrite(options, workDirectory, progress);
  if (command === "promql") return await measurePromql(options, workDirectory, progress);
  if (command === "dashboards") return [await measureDashboards(options, workDirectory, progress)];
  if (command === "memory") return [await measureMemory(options, workDirectory, progress)];
  if (command === "heavy" || command === "clickbench") return [await measureHeavy(options, command, workDirectory)];
  if (command === "s3") return [s3Text(await measureS3(options, workDirectory, progress))];
  if (command === "grpc") return [await measureGrpc(options, workDirectory, progress)];
  if (command === "wires") return [await measureWires(options, workDirectory, progress)];
  if (command === "series-churn") return await measureChurn(options, workDirectory);
  if (command === "logs") {
    const lines = Math.min(options.dataset.rows, LOG_LINES_MAX);
    const { connections, rowsPerBatch: linesPerBody } = options;
    return [await runLogs({ lines, linesPerBody, connections, workDirectory, progress })];
  }
  const scale = await measureScale(options, workDirectory, progress);
  if (scale !== undefined) return [scale];
  if (options.command === "queries") return [await measureQueries(options, workDirectory, undefined, progress)];
  const input = await makeInput(options, workDirectory, progress);
  const shape: Shape = { rowsPerBatch: options.rowsPerBatch, connections: options.connections };
  const [target] = varveTargets(options);
  if (options.command === "replay") {
    return [startText(await runStarts(input, shape, options.durabilities[0] ?? "always", workDirectory, progress))];
  }
  if (options.command === "soak") return [soakText(await soak(options, input, shape, workDirectory, progress))];
  if (options.command === "clients" && target !== undefined) {
    const { dataset, clients, protocol } = options;
    const warmMillis = options.isSmoke ? 100 : CLIENTS_WARM_MILLIS;
    return [await runClients({ target, dataset, input, shape, clients, protocol, warmMillis, workDirectory, progress })];
  }
  return await measureIngest(options, input, shape, workDirectory, progress);
}

/** Ingest, and then queries on one of the stores unless they are not wanted. */
async function measureIngest(
  options: Options,
  input: Generated,
  shape: Shape,
  workDirectory: string,
  progress: Progress,
): Promise<readonly string[]> {
  const varve = varveTargets(options);
  const { cases, notes } = ingestCases(options, varve, shape, input);
  const runs = Math.max(options.runs, options.peers.length > 0 ? options.peerRuns : 0);
  const keep = (target: Target): boolean => options.command !== "ingest" && target === varve[0];
  const { keepsWorkDirectory: keepsDirectories } = options;
  const { results, keptDirectory } = await runIngest({ cases, input, workDirectory, runs, progress, keep, keepsDirectories });
  const pieces = [ingestText(results, varve[0]?.name ?? "Varve"), ...SWITCHES.flatMap((name) => switchText(results, name)), ...notes];
  if (keptDirectory !== undefined)
    pieces.push(await measureQueries({ ...options, input: input.path }, workDirectory, keptDirectory, progress));
  return pieces;
}

/** The queries, on a store that is there already or on one that is loaded now. */
async function measureQueries(options: Options, workDirectory: string, kept: string | undefined, progress: Progress): Promise<string> {
  const { dataset, rowsPerBatch, connections, types, queriesPerType, repeats, withDuckdb, isSmoke } = options;
  const hours = (stepCount(dataset) * STEP_SECONDS) / 3600;
  const names = options.peers.filter((name) => name === "influxdb");
  const [influx] = findPeers(names, "", timeRange(dataset).end, hours).found;
  const [target] = varveTargets(options);
  if (target === undefined) throw new Error("cannot measure queries: no durability was chosen");
  const shape: Shape = { rowsPerBatch, connections };
  const load = { dataset, input: () => makeInput(options, workDirectory, progress), shape, progress };
  const varve = { target, directory: kept ?? join(workDirectory, "queries-varve") };
  if (kept === undefined) await loadStore(target, varve.directory, load);
  const influxdb = influx === undefined ? undefined : { target: influx, directory: join(workDirectory, "queries-influxdb") };
  if (influxdb !== undefined) await loadStore(influxdb.target, influxdb.directory, load);
  const queries = queriesFor(dataset, queriesPerType).filter(({ type }) => types.includes(type));
  const rounds = { repeats, millisMin: isSmoke ? 0 : WARM_MILLIS_MIN };
  return queriesText(await runQueries({ varve, influxdb, queries, rounds, withDuckdb, startsAnew: !isSmoke, progress }));
}

/** What of Varve is measured: every number of threads, with and without merges and traces. */
function choicesOf(options: Options): readonly VarveChoices[] {
  const each = <T>(values: readonly T[]): readonly (T | undefined)[] => (values.length === 0 ? [undefined] : values);
  return each(options.threads).flatMap((threads) =>
    each(options.compaction).flatMap((compaction) => each(options.tracing).map((tracing) => ({ threads, compaction, tracing }))),
  );
}

/** Varve with every mode of durability, number of threads and compaction asked for. */
function varveTargets(options: Options): readonly Target[] {
  return options.durabilities.flatMap((durability) =>
    choicesOf(options).map((choices) => varveTarget(durability, options.settings, choices)),
  );
}

async function measureRemoteWrite(options: Options, workDirectory: string, progress: Progress): Promise<readonly string[]> {
  const { dataset, version, connections, intervalSeconds, runs, peerRuns, minutes, isFast } = options;
  const { hosts, seed, rows } = dataset;
  const scrape = { hosts, seed, intervalSeconds };
  const common = { version, connections, samplesPerRequest: options.rowsPerBatch, workDirectory, progress };
  const keepsDirectories = options.keepsWorkDirectory;
  const varve = varveTargets(options);
  const [target] = varve;
  if (options.isTimed && target !== undefined) {
    return [await runRemoteHours({ ...common, target, scrape, minutes, isFast, keepsDirectories })];
  }
  const names = options.peers.filter((name) => name === "victoria");
  const startMs = dataset.startSeconds * 1000;
  const [victoria] = findPeers(names, "", dataset.startSeconds, 0).found;
  const plan = { ...common, scrape: { ...scrape, startMs }, samples: rows, varve, victoria, runs, peerRuns, keepsDirectories };
  return [await runRemoteWrite(plan)];
}

/** Milliseconds between two looks of a dashboard. */
const REFRESH_MILLIS = 5000;
const SMOKE_REFRESH_MILLIS = 200;

async function measureDashboards(options: Options, workDirectory: string, progress: Progress): Promise<string> {
  const { dataset, rowsPerBatch: samplesPerRequest, connections, clients, isSmoke } = options;
  const { hosts, seed, rows: samples } = dataset;
  const [target] = varveTargets(options);
  if (target === undefined) throw new Error("cannot measure dashboards: no durability was chosen");
  const refreshMillis = isSmoke ? SMOKE_REFRESH_MILLIS : REFRESH_MILLIS;
  return await runDashboards({
    target,
    hosts,
    seed,
    samples,
    samplesPerRequest,
    connections,
    clients,
    refreshMillis,
    workDirectory,
    progress,
  });
}

/** Warm executions of each query, milliseconds in all; as long before they are measured. */
const PROMQL_WARM_MILLIS = 1000;
/** Instances of the shop, whatever the size of the fleet. */
const PROMQL_INSTANCES = 100;
const PROMQL_SMOKE_INSTANCES = 4;

async function measurePromql(options: Options, workDirectory: string, progress: Progress): Promise<readonly string[]> {
  const { dataset, runs, only, isSmoke } = options;
  const peers = promqlPeers(options.promqlPeers);
  const servers = [...varveTargets(options).map(varvePromql), ...peers.found];
  const instances = isSmoke ? PROMQL_SMOKE_INSTANCES : PROMQL_INSTANCES;
  const warmMillis = isSmoke ? 0 : PROMQL_WARM_MILLIS;
  const { hosts, seed } = dataset;
  const result = await runPromql({ hosts, instances, seed, servers, runs, warmMillis, only, workDirectory, progress });
  return [promqlText(result), ...peers.missing.map((sentence) => `${sentence}.\n`)];
}

/** Small tables are flushed often: rows that stay in memory keep their series. */
const CHURN_SETTINGS: readonly (readonly [string, string])[] = [["storage.flush_interval", '"20s"']];
const CHURN_SMOKE_SETTINGS: readonly (readonly [string, string])[] = [["storage.flush_interval", '"1s"']];

async function measureMemory(options: Options, workDirectory: string, progress: Progress): Promise<string> {
  const { dataset, rowsPerBatch, connections, limits, only, settings } = options;
  const target = varveTarget(options.durabilities[0] ?? "always");
  const directory = join(workDirectory, "memory");
  await loadStore(target, directory, {
    dataset,
    input: () => makeInput(options, workDirectory, progress),
    shape: { rowsPerBatch, connections },
    progress,
  });
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const before = await target.start(directory);
  await before.server.stop();
  return runMemory({ directory, before, dataset, limits, only, settings, print });
}

async function measureHeavy(options: Options, command: "heavy" | "clickbench", workDirectory: string): Promise<string> {
  const { dataset, runs, only, memoryLimit: limit, settings } = options;
  const isHeavy = command === "heavy";
  const { text, failures } = await runHeavy({
    title: isHeavy ? "Heavy queries" : "ClickBench's queries over generated rows",
    directory: join(workDirectory, command),
    tables: isHeavy ? heavyTables(dataset.rows) : clickbenchTables(dataset.rows),
    queries: isHeavy ? heavyQueries(dataset.rows) : clickbenchQueries(dataset.rows),
    only,
    runs,
    limit,
    settings,
    print: (line) => void process.stdout.write(`${line}\n`),
  });
  if (failures.length > 0) process.exitCode = EXIT_WRONG;
  return text;
}

/** Local files beside an S3 store. @throws UsageError when there is no program of one */
async function measureS3(options: Options, workDirectory: string, progress: Progress): Promise<S3Result> {
  const { dataset, rowsPerBatch, connections, types, queriesPerType, repeats, settings, durabilities, threads, isSmoke } = options;
  const program = options.storeProgram ?? findGateway();
  if (program === undefined) {
    throw new UsageError("cannot find versitygw: go install github.com/versity/versitygw/cmd/versitygw@latest, or --store PATH");
  }
  return await runS3({
    target: (more) => varveTarget(durabilities[0] ?? "always", new Map([...settings, ...more]), { threads: threads[0] }),
    program,
    dataset,
    input: () => makeInput(options, workDirectory, progress),
    shape: { rowsPerBatch, connections },
    queries: queriesFor(dataset, queriesPerType).filter(({ type }) => types.includes(type)),
    rounds: { repeats, millisMin: isSmoke ? 0 : WARM_MILLIS_MIN },
    startsAnew: !isSmoke,
    workDirectory,
    progress,
  });
}

/** Connections at rest, and seconds of point queries. */
const WIRES_IDLE = 1000;
const WIRES_SMOKE_IDLE = 20;
const WIRES_SECONDS = 5;
const WIRES_SMOKE_SECONDS = 0.1;

async function measureGrpc(options: Options, workDirectory: string, progress: Progress): Promise<string> {
  const { dataset, runs, grpcWorkloads: workloads, settings, threads, compaction, isSmoke } = options;
  const durability = options.durabilities[0] ?? "always";
  const choices = { threads: threads[0], compaction: compaction[0] };
  const target = (more: ReadonlyMap<string, string>): Target => varveTarget(durability, new Map([...more, ...settings]), choices);
  const results = await runGrpc({ target, workloads, rows: dataset.rows, dataset, runs, isSmoke, workDirectory, progress });
  return grpcText(results, target(new Map()).durability);
}

async function measureWires(options: Options, workDirectory: string, progress: Progress): Promise<string> {
  const { dataset, runs, only, clients, isSmoke, withWirePeers: withPeers } = options;
  const [target] = varveTargets(options);
  if (target === undefined) throw new Error("cannot measure wires: no durability was chosen");
  const seconds = isSmoke ? WIRES_SMOKE_SECONDS : WIRES_SECONDS;
  const idleClients = isSmoke ? WIRES_SMOKE_IDLE : WIRES_IDLE;
  const warmsUp = !isSmoke;
  return await runWires({
    target,
    rows: dataset.rows,
    runs,
    warmsUp,
    withPeers,
    only,
    clients,
    idleClients,
    seconds,
    workDirectory,
    progress,
  });
}

async function measureChurn(options: Options, workDirectory: string): Promise<readonly string[]> {
  const { connections, seriesPerSecond, ttlSeconds, minutes, isSmoke } = options;
  const settings = new Map([...(isSmoke ? CHURN_SMOKE_SETTINGS : CHURN_SETTINGS), ...options.settings]);
  const pieces: string[] = [];
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  for (const threads of options.threads.length === 0 ? [1] : options.threads) {
    const target = varveTarget(options.durabilities[0] ?? "always", settings, { threads });
    pieces.push(await runChurn({ target, workDirectory, seconds: minutes * 60, seriesPerSecond, connections, ttlSeconds, print }));
  }
  return pieces;
}

function soak(options: Options, input: Generated, shape: Shape, workDirectory: string, progress: Progress): Promise<SoakResult> {
  const target = varveTarget(options.durabilities[0] ?? "always", options.settings);
  const { dataset } = options;
  return runSoak({ target, directory: join(workDirectory, "soak"), input, dataset, shape, seconds: options.minutes * 60, progress });
}

function ingestCases(
  options: Options,
  varve: readonly Target[],
  shape: Shape,
  input: Generated,
): { readonly cases: readonly IngestCase[]; readonly notes: readonly string[] } {
  const hours = (stepCount(options.dataset) * STEP_SECONDS) / 3600;
  const peers = findPeers(options.peers, options.questdbJar, timeRange(options.dataset).end, hours);
  const shapes = options.withSmallBatches ? [shape, SMALL_SHAPE] : [shape];
  const own = [sinkTarget(input.bytes / input.rows), ...varve];
  return {
    cases: [
      ...shapes.flatMap((each) => own.map((target) => ({ target, shape: each, runs: options.runs }))),
      ...peers.found.map((target) => ({ target, shape, runs: options.peerRuns })),
    ],
    notes: peers.missing.map((sentence) => `${sentence}.\n`),
  };
}

async function makeInput(options: Options, workDirectory: string, progress: Progress): Promise<Generated> {
  const path = options.input ?? join(workDirectory, "input.lp");
  const there = Bun.file(path);
  if (await there.exists()) return { path, rows: options.dataset.rows, bytes: there.size };
  progress(`${options.dataset.rows} rows of ${options.dataset.hosts} hosts to ${path}`);
  return generateFile(options.dataset, path);
}

async function publish(text: string, options: Options): Promise<void> {
  process.stdout.write(text);
  if (options.out === "none") return;
  const name = `${new Date().toISOString().slice(0, 10)}-${options.command}.md`;
  const path = options.out ?? join(RESULTS, name);
  await Bun.write(path, text);
  process.stderr.write(`written to ${path}\n`);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    killAllServers(); // The work directory stays: what is in it may say why somebody lost patience.
    process.exit(signal === "SIGINT" ? 130 : 143);
  });
}

try {
  process.exitCode = (await main(process.argv.slice(2))) || (process.exitCode ?? 0);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\nTry: bun bench --help\n`);
  process.exitCode = EXIT_USAGE;
}
