/** The servers that PromQL is measured on. All take remote write and the query API of Prometheus. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { findPeers } from "./peers.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import type { Target } from "./target.ts";

/** Names that `--peers` takes for `promql`. */
export const PROMQL_PEERS = ["victoria", "prometheus"] as const;

/** One of them. */
export type PromqlPeer = (typeof PROMQL_PEERS)[number];

/** A started server. */
export interface RunningPromql {
  readonly server: ServerProcess;
  readonly writeUrl: string;
  /** What the paths of the query API stand behind. */
  readonly queryUrl: string;
  /** Makes what was written visible, where that takes a request. */
  readonly settle: () => Promise<void>;
}

/** A server that can be measured. */
export interface PromqlServer {
  readonly name: string;
  /** Whether its rates are those of Prometheus. */
  readonly hasSameRates: boolean;
  /** Starts it on a directory, which may have what it wrote before. */
  start(directory: string): Promise<RunningPromql>;
}

/** Seconds that a start may take which reads a log. */
const READY_SECONDS_MAX = 600;

/** Varve. */
export function varvePromql(target: Target): PromqlServer {
  return {
    name: target.name,
    hasSameRates: true,
    start: async (directory) => {
      const { server, baseUrl } = await target.start(directory);
      const settle = async (): Promise<void> => undefined;
      return { server, writeUrl: `${baseUrl}/v1/prometheus/write?db=public`, queryUrl: `${baseUrl}/v1/prometheus`, settle };
    },
  };
}

/** Those of the peers that this machine has, and a sentence for each that it has not. */
export function promqlPeers(names: readonly PromqlPeer[]): {
  readonly found: readonly PromqlServer[];
  readonly missing: readonly string[];
} {
  const found: PromqlServer[] = [];
  const victorias = findPeers(names.includes("victoria") ? ["victoria"] : [], "", 0, 0);
  const missing = [...victorias.missing];
  for (const target of victorias.found) found.push(victoria(target));
  if (!names.includes("prometheus")) return { found, missing };
  if (Bun.which("prometheus") === null) missing.push("prometheus is left out: prometheus is not on the PATH");
  else found.push({ name: "Prometheus", hasSameRates: true, start: startPrometheus });
  return { found, missing };
}

function victoria(target: Target): PromqlServer {
  return {
    name: target.name,
    hasSameRates: false,
    start: async (directory) => {
      const { server, baseUrl } = await target.start(directory);
      const settle = async (): Promise<void> => {
        const response = await fetch(`${baseUrl}/internal/force_flush`);
        await response.text();
      };
      return { server, writeUrl: `${baseUrl}/api/v1/write`, queryUrl: baseUrl, settle };
    },
  };
}

/** It scrapes nothing, so that it has the same samples as the others. */
async function startPrometheus(directory: string): Promise<RunningPromql> {
  const data = join(directory, "data");
  await mkdir(data, { recursive: true });
  const port = freePort();
  const config = join(directory, "prometheus.yml");
  await Bun.write(config, "global: {scrape_interval: 1h}\n");
  const baseUrl = `http://127.0.0.1:${port}`;
  const server = await startServer({
    name: "Prometheus",
    command: [
      "prometheus",
      `--config.file=${config}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--web.enable-remote-write-receiver",
      "--storage.tsdb.retention.time=100y",
      "--log.level=warn",
    ],
    readyUrl: `${baseUrl}/-/ready`,
    logPath: join(directory, "server.log"),
    readySecondsMax: READY_SECONDS_MAX,
  });
  return { server, writeUrl: `${baseUrl}/api/v1/write`, queryUrl: baseUrl, settle: async () => undefined };
}
