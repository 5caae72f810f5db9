/**
 * A server that takes the scrapes of a fleet for a long time: memory and files as they change, and what a sample takes on the disk once
 * all is flushed and merged. In real time, or with times that run ahead.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { streamProgram } from "./child.ts";
import { diskUsage } from "./disk-usage.ts";
import { readProcess, waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { SAMPLES_TABLE } from "./remote-write-bench.ts";
import type { FedScrape } from "./remote-write-feeder.ts";
import { table } from "./report.ts";
import { METRICS_PER_HOST, type ScrapePlan } from "./scrapes.ts";
import { sqlNumber, sqlTable } from "./sql-client.ts";
import type { RunningTarget, Target } from "./target.ts";

/** What to send, for how long. */
export interface RemoteHoursPlan {
  readonly target: Target;
  readonly scrape: Omit<ScrapePlan, "startMs">;
  readonly minutes: number;
  /** Whether times run ahead. */
  readonly isFast: boolean;
  readonly version: 1 | 2;
  readonly samplesPerRequest: number;
  readonly connections: number;
  readonly workDirectory: string;
  readonly keepsDirectories: boolean;
  readonly progress: Progress;
}

interface Look {
  readonly second: number;
  readonly samples: number;
  readonly rssBytes: number;
  readonly cpuSeconds: number;
  readonly files: number;
  /** Data files that were seen so far, flushed and merged ones. */
  readonly filesMade: number;
  readonly fileBytes: number;
  /** Catalog: schemas, lists of files. */
  readonly otherBytes: number;
  readonly logBytes: number;
  readonly ackMsMax: number;
}

/** Looks that are printed; a run may have more. */
const LOOKS_PRINTED = 24;
const LOOK_SECONDS = 5;
const MIB = 2 ** 20;

/** Runs it and returns the text of the results. @throws Error when a sample is missing */
export async function runRemoteHours(plan: RemoteHoursPlan): Promise<string> {
  const directory = join(plan.workDirectory, "remote-write-hours");
  await mkdir(directory, { recursive: true });
  const running = await plan.target.start(directory);
  const { baseUrl, server } = running;
  const looks: Look[] = [];
  const made = new Set<string>();
  const fed = { samples: 0, ackMsMax: 0, retried: 0 };
  const began = performance.now();
  const look = async (): Promise<Look> => {
    const { rssBytes, cpuSeconds } = readProcess(server.pid);
    const names = (await readdir(running.dataDirectory, { recursive: true })).filter((name) => name.endsWith(".parquet"));
    for (const name of names) made.add(name);
    const { bytes, logBytes } = await diskUsage(running.dataDirectory);
    const fileBytes = bytesOf(running.dataDirectory, names);
    const second = (performance.now() - began) / 1000;
    const { samples, ackMsMax } = fed;
    fed.ackMsMax = 0;
    const files = names.length;
    const otherBytes = bytes - logBytes - fileBytes;
    return { second, samples, rssBytes, cpuSeconds, files, filesMade: made.size, fileBytes, otherBytes, logBytes, ackMsMax };
  };
  const feeding = feed(plan, running, fed);
  let isFed = false;
  const end = feeding.finally(() => {
    isFed = true;
  });
  const watch = async (): Promise<void> => {
    for (let due = LOOK_SECONDS; !isFed; due += LOOK_SECONDS) {
      while (!isFed && (performance.now() - began) / 1000 < due) await Bun.sleep(200);
      const now = await look();
      looks.push(now);
      plan.progress(lookText(now));
    }
  };
  await Promise.all([end, watch()]);
  const sent = readProcess(server.pid);
  const seconds = (performance.now() - began) / 1000;
  await sqlTable(baseUrl, `ADMIN flush_table('${SAMPLES_TABLE}')`);
  const flushed = await look();
  await sqlTable(baseUrl, `ADMIN compact_table('${SAMPLES_TABLE}')`);
  await waitUntilIdle(server.pid);
  const merged = await look();
  const counted = await sqlNumber(baseUrl, `SELECT count(*) FROM ${SAMPLES_TABLE}`);
  if (counted !== fed.samples) throw new Error(`${counted} of ${fed.samples} samples are there`);
  const { rssBytesPeak } = readProcess(server.pid);
  await server.stop();
  if (!plan.keepsDirectories) await rm(directory, { recursive: true });
  return resultText(plan, looks, { seconds, fed, flushed, merged, rssBytesPeak, cpuSeconds: sent.cpuSeconds });
}

/** What files take on the disk; those that vanish meanwhile take nothing. */
function bytesOf(directory: string, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + Bun.file(join(directory, name)).size, 0); // 0 for a file that is not there.
}

async function feed(
  plan: RemoteHoursPlan,
  { baseUrl }: RunningTarget,
  fed: { samples: number; ackMsMax: number; retried: number },
): Promise<void> {
  const { intervalSeconds, hosts, seed } = plan.scrape;
  const rounds = Math.max(1, Math.round((plan.minutes * 60) / intervalSeconds));
  // Times that run ahead end about now, so that a time to live would mean the same as in real time.
  const start = Date.now() - (plan.isFast ? rounds * intervalSeconds * 1000 : 0);
  const numbers = { hosts, seed, interval: intervalSeconds, start, rounds, version: plan.version, batch: plan.samplesPerRequest };
  const flags = Object.entries({ ...numbers, connections: plan.connections }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const url = `${baseUrl}/v1/prometheus/write?db=public`;
  const feeder = new URL("./remote-write-feeder.ts", import.meta.url);
  for await (const scrape of streamProgram<FedScrape>(feeder, ["--url", url, ...flags, ...(plan.isFast ? ["--fast"] : [])])) {
    fed.samples = scrape.samples;
    fed.ackMsMax = Math.max(fed.ackMsMax, scrape.ackMsMax);
    fed.retried += scrape.retried;
  }
}

interface Ended {
  readonly seconds: number;
  readonly fed: { readonly samples: number; readonly retried: number };
  readonly flushed: Look;
  readonly merged: Look;
  readonly rssBytesPeak: number;
  readonly cpuSeconds: number;
}

function resultText(plan: RemoteHoursPlan, looks: readonly Look[], ended: Ended): string {
  const { fed, flushed, merged, seconds, rssBytesPeak, cpuSeconds } = ended;
  const step = Math.max(1, Math.ceil(looks.length / LOOKS_PRINTED));
  const shown = looks.filter((_, i) => i % step === step - 1);
  const line = (name: string, each: Look): string[] => [
    name,
    each.samples.toLocaleString("en-US"),
    (each.rssBytes / MIB).toFixed(0),
    each.cpuSeconds.toFixed(1),
    String(each.files),
    String(each.filesMade),
    (each.fileBytes / MIB).toFixed(1),
    (each.logBytes / MIB).toFixed(0),
    each.ackMsMax.toFixed(0),
  ];
  const rows = [
    ...shown.map((each) => line(`${(each.second / 60).toFixed(1)} min`, each)),
    line("flushed", flushed),
    line("merged", merged),
  ];
  const head = ["at", "samples", "RSS MiB", "CPU s", "data files", "made so far", "files MiB", "log MiB", "slowest ack ms"];
  const perSample = (bytes: number): string => (bytes / fed.samples).toFixed(2);
  const { hosts, intervalSeconds } = plan.scrape;
  return `## Remote write for ${plan.minutes} minutes${plan.isFast ? ", times running ahead" : ""}

${(hosts * METRICS_PER_HOST).toLocaleString("en-US")} series, ${METRICS_PER_HOST} metrics on ${hosts} hosts, a sample each every \
${intervalSeconds} s: ${fed.samples.toLocaleString("en-US")} samples in ${seconds.toFixed(0)} s, all counted; \
${fed.retried} requests had to be sent again. **${perSample(merged.fileBytes)} B a sample** on the disk after flush and merge \
(${perSample(flushed.fileBytes)} before the merge; the catalog ${perSample(merged.otherBytes)} more), \
peak RSS **${(rssBytesPeak / MIB).toFixed(0)} MiB**, ${((cpuSeconds / fed.samples) * 1e6).toFixed(2)} CPU s a million samples.

${table(head, rows)}`;
}

function lookText({ second, samples, rssBytes, files, fileBytes, logBytes }: Look): string {
  const mib = (bytes: number): string => `${Math.round(bytes / MIB)} MiB`;
  return `${Math.round(second)} s: ${samples} samples, RSS ${mib(rssBytes)}, ${files} files of ${mib(fileBytes)}, log ${mib(logBytes)}`;
}
