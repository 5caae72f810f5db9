/**
 * Dashboards beside remote write at full rate: parts of one file of scrapes are written alone and beside the dashboards in turn, so that
 * the rate beside them is set against those right before and after it. The first part is what the dashboards look at.
 */
import { join } from "node:path";
import { runProgram } from "./child.ts";
import { readProcess } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { startClients } from "./query-clients.ts";
import { SAMPLES_TABLE } from "./remote-write-bench.ts";
import { writeRemoteFile } from "./remote-write-file.ts";
import { type RemoteReport, remoteLoaderArguments } from "./remote-write-loader.ts";
import { table } from "./report.ts";
import { METRICS_PER_HOST, Scrapes } from "./scrapes.ts";
import { sqlNumber } from "./sql-client.ts";
import { percentile } from "./statistics.ts";
import type { RunningTarget, Target } from "./target.ts";

/** What to measure. */
export interface DashboardsBench {
  readonly target: Target;
  readonly hosts: number;
  readonly seed: number;
  /** In all parts together. */
  readonly samples: number;
  readonly samplesPerRequest: number;
  readonly connections: number;
  readonly clients: number;
  /** Milliseconds between two looks of a dashboard. */
  readonly refreshMillis: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

/** Shares of the samples; those beside dashboards are the long ones, of several looks. */
const PARTS: readonly { readonly name: string; readonly share: number; readonly hasClients: boolean }[] = [
  { name: "ingest alone, first", share: 0.3, hasClients: false },
  { name: "ingest alone", share: 0.15, hasClients: false },
  { name: "dashboards", share: 0.4, hasClients: true },
  { name: "ingest alone", share: 0.15, hasClients: false },
];
/** Panels of a dashboard, each a range query. */
const PANELS = 8;
const INTERVAL_SECONDS = 15;
const STEP_SECONDS = 15;
/** What a panel shows: at most this long. */
const PANEL_SECONDS = 1800;
const MIB = 2 ** 20;

/** Measures, and returns the text of the result. @throws Error when a write or a query fails, or samples are missing */
export async function runDashboards(bench: DashboardsBench): Promise<string> {
  const { target, hosts, seed, samplesPerRequest, connections, clients, refreshMillis, workDirectory, progress } = bench;
  progress("bodies");
  const rounds = Math.max(PARTS.length, Math.round(bench.samples / (hosts * METRICS_PER_HOST)));
  const startMs = Math.floor(Date.now() / 60_000) * 60_000 - rounds * INTERVAL_SECONDS * 1000;
  const plan = { hosts, seed, intervalSeconds: INTERVAL_SECONDS, startMs };
  const file = writeRemoteFile(plan, 1, bench.samples, samplesPerRequest, join(workDirectory, "dashboards.bin"));
  const running = await target.start(join(workDirectory, "dashboards"));
  const loader = new URL("./remote-write-loader.ts", import.meta.url);
  const filledMillis = startMs + rounds * (PARTS[0]?.share ?? 0) * INTERVAL_SECONDS * 1000;
  const queries = panelsOf(new Scrapes(plan), Math.floor(filledMillis / 1000));
  const lines: {
    readonly name: string;
    readonly rate: number;
    readonly tookMs: readonly number[] | undefined;
    readonly seconds: number;
  }[] = [];
  let at = 0;
  let share = 0;
  for (const part of PARTS) {
    progress(part.name);
    share += part.share;
    const to = part === PARTS.at(-1) ? file.requests : Math.round(file.requests * share);
    const asking = part.hasClients
      ? startClients({ baseUrl: running.baseUrl, clients, pauseMs: refreshMillis, together: PANELS, kind: "path", queries })
      : undefined;
    const options = {
      url: `${running.baseUrl}/v1/prometheus/write?db=public`,
      file: file.path,
      version: 1,
      from: at,
      to,
      connections,
    } as const;
    const report = await runProgram<RemoteReport>(loader, remoteLoaderArguments(options));
    const asked = await asking?.stop();
    if (report.bad > 0) throw new Error(`${target.name} refused ${report.bad} requests; the first: ${report.firstBad}`);
    const samples = (file.samples * (to - at)) / file.requests;
    lines.push({ name: part.name, rate: samples / report.seconds, tookMs: asked?.tookMs, seconds: report.seconds });
    at = to;
  }
  await expectSamples(running, file.samples);
  const { rssBytesPeak } = readProcess(running.server.pid);
  await running.server.stop();
  const rows = lines.map(({ name, rate, tookMs, seconds }, i) => {
    const beside = ((lines[i - 1]?.rate ?? Number.NaN) + (lines[i + 1]?.rate ?? Number.NaN)) / 2;
    const figures = [0.5, 0.99, 1].map((part) => percentile(tookMs ?? [], part).toFixed(0));
    return [
      name,
      Math.round(rate).toLocaleString("en-US"),
      seconds.toFixed(1),
      ...(tookMs === undefined
        ? ["–", "–", "–", "–", "–"]
        : [(rate / beside).toFixed(2), tookMs.length.toLocaleString("en-US"), ...figures]),
    ];
  });
  return `## Dashboards beside remote write

${clients} dashboards ask ${PANELS} range queries every ${refreshMillis / 1000} s, of ${PANEL_SECONDS / 60} minutes in steps of \
${STEP_SECONDS} s, while ${connections} connections
write ${samplesPerRequest.toLocaleString("en-US")} samples a request as fast as they can: ${file.samples.toLocaleString("en-US")} \
samples of ${(hosts * METRICS_PER_HOST).toLocaleString("en-US")} series, all counted at the end.
Peak RSS ${(rssBytesPeak / MIB).toFixed(0)} MiB.

${table(["beside", "samples/s", "s", "× alone", "queries", "p50 ms", "p99 ms", "max ms"], rows)}`;
}

/** Panels as those of a node dashboard: rates, levels and quotients of one host, sums and extremes over all of them. */
function panelsOf(scrapes: Scrapes, endSeconds: number): readonly string[] {
  const { hosts } = scrapes.plan;
  const nameOf = (metric: number): string => labelOf(scrapes, metric, "__name__");
  const panels: string[] = [];
  for (let dashboard = 0; dashboard < hosts; dashboard++) {
    const instance = labelOf(scrapes, dashboard * METRICS_PER_HOST, "instance");
    const counter = (i: number): string => nameOf(20 * ((7 * dashboard + i) % 50) + 8);
    const gauge = (i: number): string => nameOf(20 * ((11 * dashboard + i) % 50) + 17);
    const one = `{instance="${instance}"}`;
    panels.push(
      `rate(${counter(1)}${one}[5m])`,
      `irate(${counter(2)}${one}[1m])`,
      `${gauge(1)}${one}`,
      `100 * ${gauge(2)}${one} / ${gauge(3)}${one}`,
      `sum(rate(${counter(3)}[5m]))`,
      `topk(5, rate(${counter(4)}[5m]))`,
      `max by (job) (${gauge(4)})`,
      `avg_over_time(${gauge(5)}${one}[5m])`,
    );
  }
  const range = `start=${endSeconds - PANEL_SECONDS}&end=${endSeconds}&step=${STEP_SECONDS}`;
  return panels.map((panel) => `/v1/prometheus/api/v1/query_range?query=${encodeURIComponent(panel)}&${range}`);
}

function labelOf(scrapes: Scrapes, series: number, name: string): string {
  return scrapes.labelsOf(series).find(([label]) => label === name)?.[1] ?? "";
}

async function expectSamples({ baseUrl }: RunningTarget, want: number): Promise<void> {
  const samples = await sqlNumber(baseUrl, `SELECT count(*) FROM ${SAMPLES_TABLE}`);
  if (samples !== want) throw new Error(`Varve lost samples beside dashboards: ${samples} of ${want}`);
}
