/**
 * Measures Prometheus remote write: the same bodies into Varve and VictoriaMetrics, one after the other, every sample counted at the end.
 * The first scrape, in which all series are new, is measured apart from the rest.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./child.ts";
import { diskUsage } from "./disk-usage.ts";
import { readProcess, waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import type { RemoteVersion } from "./remote-write-body.ts";
import { type RemoteFile, writeRemoteFile } from "./remote-write-file.ts";
import { type RemoteReport, remoteLoaderArguments } from "./remote-write-loader.ts";
import { table } from "./report.ts";
import { METRICS_PER_HOST, type ScrapePlan } from "./scrapes.ts";
import { sqlNumber, sqlTable } from "./sql-client.ts";
import { median } from "./statistics.ts";
import type { RunningTarget, Target } from "./target.ts";

/** What to send, to whom. */
export interface RemoteWritePlan {
  readonly scrape: ScrapePlan;
  readonly samples: number;
  readonly version: RemoteVersion;
  readonly samplesPerRequest: number;
  readonly connections: number;
  readonly varve: readonly Target[];
  readonly victoria: Target | undefined;
  readonly runs: number;
  readonly peerRuns: number;
  readonly workDirectory: string;
  readonly keepsDirectories: boolean;
  readonly progress: Progress;
}

/** The table in which Varve has all samples. */
export const SAMPLES_TABLE = "greptime_physical_table";

interface RemoteCase {
  readonly target: Target;
  readonly path: string;
  readonly runs: number;
  /** Samples that queries see now. */
  readonly count: (running: RunningTarget, file: RemoteFile) => Promise<number>;
  readonly flush: (running: RunningTarget) => Promise<void>;
}

interface RemoteResult {
  readonly target: Target;
  readonly run: number;
  readonly first: RemoteReport;
  readonly rest: RemoteReport;
  /** Processor time of the server: for the first scrape, for the others until their last acknowledgement, and until it rested. */
  readonly cpuSecondsFirst: number;
  readonly cpuSecondsAtAck: number;
  readonly cpuSecondsAtRest: number;
  readonly rssBytesPeak: number;
  readonly diskBytes: number;
  readonly logBytes: number;
}

const VISIBLE_SECONDS_MAX = 120;

/** Measures every server and returns the table. @throws Error when a request is refused or a sample is missing */
export async function runRemoteWrite(plan: RemoteWritePlan): Promise<string> {
  const { samplesPerRequest, version, progress, scrape } = plan;
  progress(`${plan.samples} samples of ${scrape.hosts * METRICS_PER_HOST} series, version ${version}`);
  const file = writeRemoteFile(scrape, version, plan.samples, samplesPerRequest, join(plan.workDirectory, "remote-write.bin"));
  const cases: RemoteCase[] = plan.varve.map((target) => ({
    target,
    path: "/v1/prometheus/write?db=public",
    runs: plan.runs,
    count: ({ baseUrl }) => sqlNumber(baseUrl, `SELECT count(*) FROM ${SAMPLES_TABLE}`),
    flush: async ({ baseUrl }) => void (await sqlTable(baseUrl, `ADMIN flush_table('${SAMPLES_TABLE}')`)),
  }));
  if (plan.victoria !== undefined && version === 1) {
    const flush = async ({ baseUrl }: RunningTarget): Promise<void> => void (await text(`${baseUrl}/internal/force_flush`));
    cases.push({ target: plan.victoria, path: "/api/v1/write", runs: plan.peerRuns, count: countInVictoria, flush });
  }
  const results: RemoteResult[] = [];
  for (let run = 1; run <= Math.max(...cases.map(({ runs }) => runs)); run++) {
    for (const [index, each] of cases.entries()) {
      if (run > each.runs) continue;
      progress(`run ${run}: ${each.target.name}`);
      results.push(await measure(plan, each, file, run, join(plan.workDirectory, `remote-write-${run}-${index}`)));
    }
  }
  return resultText(plan, file, results);
}

async function measure(plan: RemoteWritePlan, each: RemoteCase, file: RemoteFile, run: number, directory: string): Promise<RemoteResult> {
  await mkdir(directory, { recursive: true });
  const running = await each.target.start(directory);
  const { pid } = running.server;
  const { path, version, firstRequests, requests } = file;
  const loader = new URL("./remote-write-loader.ts", import.meta.url);
  const load = async (from: number, to: number): Promise<RemoteReport> => {
    const options = { url: running.baseUrl + each.path, file: path, version, from, to, connections: plan.connections };
    const report = await runProgram<RemoteReport>(loader, remoteLoaderArguments(options));
    if (report.bad > 0) throw new Error(`${each.target.name} refused ${report.bad} requests; the first: ${report.firstBad}`);
    return report;
  };
  const before = readProcess(pid);
  const first = await load(0, firstRequests);
  const afterFirst = readProcess(pid);
  const rest = await load(firstRequests, requests);
  const atAck = readProcess(pid);
  await waitForAll(each, running, file);
  await each.flush(running);
  await waitUntilIdle(pid);
  const atRest = readProcess(pid);
  await waitForAll(each, running, file);
  const disk = await diskUsage(running.dataDirectory);
  await running.server.stop();
  if (!plan.keepsDirectories) await rm(directory, { recursive: true });
  return {
    target: each.target,
    run,
    first,
    rest,
    cpuSecondsFirst: afterFirst.cpuSeconds - before.cpuSeconds,
    cpuSecondsAtAck: atAck.cpuSeconds - afterFirst.cpuSeconds,
    cpuSecondsAtRest: atRest.cpuSeconds - afterFirst.cpuSeconds,
    rssBytesPeak: atRest.rssBytesPeak,
    diskBytes: disk.bytes,
    logBytes: disk.logBytes,
  };
}

/** Waits until every sample is seen. @throws Error when there are more, or some are still missing after two minutes */
async function waitForAll(each: RemoteCase, running: RunningTarget, file: RemoteFile): Promise<void> {
  const end = performance.now() + VISIBLE_SECONDS_MAX * 1000;
  for (;;) {
    const seen = await each.count(running, file);
    if (seen === file.samples) return;
    if (seen > file.samples || performance.now() > end) throw new Error(`${each.target.name} shows ${seen} of ${file.samples} samples`);
    await Bun.sleep(200);
  }
}

async function countInVictoria({ baseUrl }: RunningTarget, { endSeconds }: RemoteFile): Promise<number> {
  await text(`${baseUrl}/internal/force_flush`); // Fresh samples become visible about a second late otherwise.
  const query = new URLSearchParams({ query: 'sum(count_over_time({__name__=~"node_.+"}[10d]))', time: String(endSeconds + 1) });
  const answer = JSON.parse(await text(`${baseUrl}/api/v1/query?${query.toString()}`)) as {
    readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
  };
  return Number(answer.data.result[0]?.value[1] ?? 0);
}

async function text(url: string): Promise<string> {
  const response = await fetch(url);
  const answer = await response.text();
  if (!response.ok) throw new Error(`cannot ask ${url}: ${response.status} ${answer.slice(0, 300)}`);
  return answer;
}

function resultText(plan: RemoteWritePlan, file: RemoteFile, results: readonly RemoteResult[]): string {
  const laterSamples = file.samples - file.firstSamples;
  const rate = ({ rest }: RemoteResult): number => laterSamples / rest.seconds;
  const peerOf = (run: number): RemoteResult | undefined =>
    results.filter(({ target }) => target === plan.victoria).findLast((result) => result.run <= run);
  const lines = [...new Set(results.map(({ target }) => target))].map((target) => {
    const group = results.filter((result) => result.target === target);
    const of = (value: (result: RemoteResult) => number): number => median(group.map(value));
    const perMillion = (value: number): string => (value / (laterSamples / 1e6)).toFixed(2);
    const ratios = group.flatMap((result) => {
      const peer = peerOf(result.run);
      return peer === undefined ? [] : [rate(result) / rate(peer)];
    });
    return [
      target.name,
      target.durability,
      thousands(of(rate)),
      ratios.length === 0 ? "–" : median(ratios).toFixed(2),
      of(({ rest }) => rest.bytes / rest.seconds / 1e6).toFixed(0),
      of(({ rest }) => rest.ackMsP50).toFixed(1),
      of(({ rest }) => rest.ackMsP99).toFixed(1),
      thousands(of(({ first }) => file.firstSamples / first.seconds)),
      of((result) => result.cpuSecondsFirst).toFixed(2),
      perMillion(of((result) => result.cpuSecondsAtAck)),
      perMillion(of((result) => result.cpuSecondsAtRest)),
      (of((result) => result.rssBytesPeak) / 2 ** 20).toFixed(0),
      of((result) => (result.diskBytes - result.logBytes) / file.samples).toFixed(2),
      perMillion(of(({ rest }) => rest.cpuSeconds)),
    ];
  });
  const head = [
    "server",
    "acknowledged once in",
    "samples/s",
    "× VictoriaMetrics",
    "MB/s sent",
    "ack p50 ms",
    "p99 ms",
    "new series/s",
    "CPU s for them",
    "CPU s a million, at ack",
    "at rest",
    "peak RSS MiB",
    "B/sample on disk",
    "loader CPU s a million",
  ];
  const { samplesPerRequest, connections, runs, scrape } = plan;
  return `## Remote write ${file.version}.0

${thousands(file.samples)} samples of ${thousands(file.firstSamples)} series, ${METRICS_PER_HOST} metrics on ${scrape.hosts} hosts; \
${thousands(samplesPerRequest)} samples a request in snappy, ${connections} connections, ${runs} runs; every sample was counted.

${table(head, lines)}`;
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
