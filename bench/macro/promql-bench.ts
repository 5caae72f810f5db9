/**
 * PromQL beside Prometheus and VictoriaMetrics: the same samples by remote write, the same requests to the query API.
 *
 *   each store: bodies to files ─► (each server: start, load, stop) ─► (each run: start all, first pass, warm passes, stop all) ─► compare
 *
 * "First" is the first execution of each query in a new process, one after another in the order of the table. While they are measured all
 * servers run, at rest but for the one that is asked: each query goes to one after the other, so that all meet the same other load.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./child.ts";
import { readProcess, resetPeakMemory, waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { differenceOf, type PromqlAnswer, promqlAnswer } from "./promql-answers.ts";
import { type PromqlQuery, promqlQueries, type PromqlStore } from "./promql-queries.ts";
import { ShopSeries, SHARDS, UserSeries } from "./promql-series.ts";
import type { PromqlServer, RunningPromql } from "./promql-servers.ts";
import { writeRounds } from "./remote-write-file.ts";
import { type RemoteReport, remoteLoaderArguments } from "./remote-write-loader.ts";
import { METRICS_PER_HOST, Scrapes, type SeriesRounds } from "./scrapes.ts";
import { median } from "./statistics.ts";

/** What to measure. */
export interface PromqlPlan {
  /** Hosts of the fleet; a hundredth of the users' series is 100 times as many. */
  readonly hosts: number;
  readonly instances: number;
  readonly seed: number;
  readonly servers: readonly PromqlServer[];
  /** Restarts of each server. */
  readonly runs: number;
  /** Warm executions of each query take at least this long in all. */
  readonly warmMillis: number;
  /** Parts of names of queries; none: all. */
  readonly only: readonly string[];
  /** With stores that an earlier run kept, nothing is loaded. */
  readonly workDirectory: string;
  readonly progress: Progress;
}

/** Of one server in one store. */
export interface PromqlMemory {
  readonly server: string;
  readonly store: PromqlStore;
  readonly idleBytes: number;
  /** While the queries ran. */
  readonly peakBytes: number;
}

/** One query. */
export interface PromqlFigures {
  readonly query: PromqlQuery;
  /** Series or entries of the answer. */
  readonly series: number;
  readonly bytes: number;
  /** By server: milliseconds. */
  readonly warm: ReadonlyMap<string, number>;
  readonly first: ReadonlyMap<string, number>;
  /** Processor milliseconds of a warm execution. */
  readonly cpu: ReadonlyMap<string, number>;
}

/** What was measured. */
export interface PromqlResult {
  readonly samples: Readonly<Record<PromqlStore, number>>;
  readonly series: Readonly<Record<PromqlStore, number>>;
  readonly figures: readonly PromqlFigures[];
  readonly memory: readonly PromqlMemory[];
  readonly runs: number;
}

const STORES: readonly PromqlStore[] = ["fleet", "users"];
const INTERVAL_SECONDS = 15;
const FLEET_ROUNDS = 240;
/** Samples a series of the store of many series, a minute apart. */
const USER_ROUNDS = 5;
const USERS_PER_HOST = 1000;
const SAMPLES_PER_REQUEST = 2000;
const CONNECTIONS = 8;
/** So many requests a round, and more than one connection cannot bring samples of a series in the wrong order. */
const REQUESTS_FOR_CONNECTIONS = 4 * CONNECTIONS;
/** Samples lie a little behind the steps, so that none is at the very edge of a window, which servers treat differently. */
const PAST_STEP_MS = 7;
const WARM_RUNS_MIN = 5;
const WARM_RUNS_MAX = 1000;

interface Feed {
  readonly path: string;
  readonly requests: number;
  readonly connections: number;
}

/** Runs it all. @throws Error when a request is refused or answers differ */
export async function runPromql(plan: PromqlPlan): Promise<PromqlResult> {
  const endSeconds = await endOf(plan.workDirectory);
  const queries = promqlQueries({ endSeconds }).filter(
    ({ name }) => plan.only.length === 0 || plan.only.some((part) => name.includes(part)),
  );
  const figures: PromqlFigures[] = [];
  const memory: PromqlMemory[] = [];
  for (const store of STORES) {
    const wanted = queries.filter((query) => query.store === store);
    if (wanted.length === 0) continue;
    await loadStores(plan, store, endSeconds);
    const measured = await measureStore(plan, store, wanted);
    for (const [index, query] of wanted.entries()) figures.push(figuresOf(plan.servers, query, index, measured));
    for (const [server, { idleBytes, peakBytes }] of measured) {
      memory.push({ server, store, idleBytes: median(idleBytes), peakBytes: median(peakBytes) });
    }
  }
  const fleet = plan.hosts * METRICS_PER_HOST + new ShopSeries(plan.instances, { startMs: 0, intervalSeconds: 1, seed: 1 }).values.length;
  const users = plan.hosts * USERS_PER_HOST * SHARDS;
  return {
    samples: { fleet: fleet * FLEET_ROUNDS, users: users * USER_ROUNDS },
    series: { fleet, users },
    figures,
    memory,
    runs: plan.runs,
  };
}

/** The end of the samples: now, or when an earlier run kept its stores, then. */
async function endOf(workDirectory: string): Promise<number> {
  const file = Bun.file(join(workDirectory, "promql.json"));
  if (await file.exists()) return ((await file.json()) as { readonly endSeconds: number }).endSeconds;
  const endSeconds = Math.floor(Date.now() / 60_000) * 60;
  await Bun.write(file, JSON.stringify({ endSeconds }));
  return endSeconds;
}

function directoryOf({ workDirectory }: PromqlPlan, { name }: PromqlServer, store: PromqlStore): string {
  return join(workDirectory, `${store}-${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`);
}

async function loadStores(plan: PromqlPlan, store: PromqlStore, endSeconds: number): Promise<void> {
  const missing = plan.servers.filter((server) => !existsSync(directoryOf(plan, server, store)));
  if (missing.length === 0) return;
  plan.progress(`bodies of ${store}`);
  const feeds = feedsOf(plan, store, endSeconds);
  for (const server of missing) {
    plan.progress(`${server.name} loads ${store}`);
    const running = await server.start(directoryOf(plan, server, store));
    const started = performance.now();
    for (const feed of feeds) await load(server, running, feed);
    await running.settle();
    plan.progress(`loaded in ${((performance.now() - started) / 1000).toFixed(0)} s`);
    await waitUntilIdle(running.server.pid);
    await running.server.stop();
  }
}

function feedsOf({ hosts, instances, seed, workDirectory }: PromqlPlan, store: PromqlStore, endSeconds: number): readonly Feed[] {
  const feed = (name: string, series: SeriesRounds, rounds: number): Feed => {
    const { path, requests, firstRequests } = writeRounds(series, rounds, 1, SAMPLES_PER_REQUEST, join(workDirectory, `${name}.bin`));
    return { path, requests, connections: firstRequests >= REQUESTS_FOR_CONNECTIONS ? CONNECTIONS : 1 };
  };
  if (store === "users") {
    const startMs = (endSeconds - USER_ROUNDS * 60) * 1000 + PAST_STEP_MS;
    return [feed("users", new UserSeries(hosts * USERS_PER_HOST, { startMs, intervalSeconds: 60, seed }), USER_ROUNDS)];
  }
  const startMs = (endSeconds - FLEET_ROUNDS * INTERVAL_SECONDS) * 1000 + PAST_STEP_MS;
  const plan = { startMs, intervalSeconds: INTERVAL_SECONDS, seed };
  return [feed("shop", new ShopSeries(instances, plan), FLEET_ROUNDS), feed("fleet", new Scrapes({ ...plan, hosts }), FLEET_ROUNDS)];
}

async function load({ name }: PromqlServer, { writeUrl }: RunningPromql, { path, requests, connections }: Feed): Promise<void> {
  const loader = new URL("./remote-write-loader.ts", import.meta.url);
  const options = { url: writeUrl, file: path, version: 1, from: 0, to: requests, connections } as const;
  const report = await runProgram<RemoteReport>(loader, remoteLoaderArguments(options));
  if (report.bad > 0) throw new Error(`${name} refused ${report.bad} requests; the first: ${report.firstBad}`);
}

/** Of one server. */
class Measured {
  readonly idleBytes: number[] = [];
  readonly peakBytes: number[] = [];
  /** By query: milliseconds, of all runs. */
  readonly warm: readonly number[][];
  readonly first: readonly number[][];
  /** By query: processor milliseconds of a warm execution, one a run. */
  readonly cpu: readonly number[][];
  readonly answers: PromqlAnswer[] = [];
  readonly bytes: number[] = [];

  constructor(queries: readonly PromqlQuery[]) {
    this.warm = queries.map(() => []);
    this.first = queries.map(() => []);
    this.cpu = queries.map(() => []);
  }
}

type Started = readonly [server: PromqlServer, running: RunningPromql, measured: Measured];

async function measureStore(plan: PromqlPlan, store: PromqlStore, queries: readonly PromqlQuery[]): Promise<ReadonlyMap<string, Measured>> {
  const all = new Map(plan.servers.map(({ name }) => [name, new Measured(queries)]));
  for (let run = 1; run <= plan.runs; run++) {
    const started: Started[] = [];
    for (const server of plan.servers) {
      plan.progress(`run ${run}: ${server.name}, ${store}`);
      const running = await server.start(directoryOf(plan, server, store));
      started.push([server, running, all.get(server.name) ?? new Measured(queries)]);
      await waitUntilIdle(running.server.pid);
    }
    for (const [, { server }, measured] of started) {
      resetPeakMemory(server.pid);
      measured.idleBytes.push(readProcess(server.pid).rssBytes);
    }
    for (const [index, query] of queries.entries()) for (const each of started) await firstTime(each, query, index);
    for (const [index, query] of queries.entries()) await warmTimes(started, query, index, plan.warmMillis);
    for (const [, { server }, measured] of started) {
      measured.peakBytes.push(readProcess(server.pid).rssBytesPeak);
      await server.stop();
    }
  }
  return all;
}

async function firstTime([server, running, { first, answers, bytes }]: Started, query: PromqlQuery, index: number): Promise<void> {
  const { millis, text } = await ask(server, running, query);
  first[index]?.push(millis);
  answers[index] = promqlAnswer(text);
  bytes[index] = text.length;
}

/** Each server in turn, until every one has worked for long enough: once unmeasured, so that what is compiled while it runs is compiled. */
async function warmTimes(started: readonly Started[], query: PromqlQuery, index: number, warmMillis: number): Promise<void> {
  for (const [server, running] of started) {
    for (let left = warmMillis; left > 0; ) left -= (await ask(server, running, query)).millis;
  }
  const left = started.map(() => warmMillis);
  const cpu = started.map(() => 0);
  let runs = 0;
  for (; runs < WARM_RUNS_MAX && (runs < WARM_RUNS_MIN || left.some((millis) => millis > 0)); runs++) {
    for (const [i, [server, running, { warm }]] of started.entries()) {
      const before = readProcess(running.server.pid).cpuSeconds;
      const { millis } = await ask(server, running, query);
      cpu[i] = (cpu[i] ?? 0) + readProcess(running.server.pid).cpuSeconds - before;
      warm[index]?.push(millis);
      left[i] = (left[i] ?? 0) - millis;
    }
  }
  for (const [i, [, , measured]] of started.entries()) measured.cpu[index]?.push(((cpu[i] ?? 0) * 1000) / runs);
}

async function ask(
  server: PromqlServer,
  { queryUrl }: RunningPromql,
  { name, path }: PromqlQuery,
): Promise<{ millis: number; text: string }> {
  const began = performance.now();
  const response = await fetch(queryUrl + path, { headers: { "accept-encoding": "identity" } });
  const text = await response.text();
  const millis = performance.now() - began;
  if (!response.ok) throw new Error(`${server.name} refuses "${name}": ${response.status} ${text.slice(0, 500)}`);
  return { millis, text };
}

function figuresOf(
  servers: readonly PromqlServer[],
  query: PromqlQuery,
  index: number,
  measured: ReadonlyMap<string, Measured>,
): PromqlFigures {
  const [own, ...others] = servers;
  const answerOf = (server: PromqlServer | undefined): PromqlAnswer | undefined => measured.get(server?.name ?? "")?.answers[index];
  const answer = answerOf(own);
  if (own === undefined || answer === undefined || answer.series.size === 0) throw new Error(`"${query.name}" gave nothing`);
  for (const other of others) {
    const theirs = answerOf(other);
    const agreement = other.hasSameRates ? "values" : query.agreement;
    const difference = theirs === undefined ? "no answer" : differenceOf(answer, theirs, agreement);
    if (difference !== undefined) throw new Error(`${own.name} and ${other.name} answer "${query.name}" differently: ${difference}`);
  }
  const medians = (of: (one: Measured) => readonly number[][]): ReadonlyMap<string, number> =>
    new Map([...measured].map(([name, one]) => [name, median(of(one)[index] ?? [])]));
  const bytes = measured.get(own.name)?.bytes[index] ?? 0;
  const [warm, first, cpu] = [medians((one) => one.warm), medians((one) => one.first), medians((one) => one.cpu)];
  return { query, series: answer.series.size, bytes, warm, first, cpu };
}
