/**
 * Other databases that this machine has, fed the same bodies. None is needed; what is not found is named and left out.
 *
 * | peer | found as | acknowledged when |
 * |---|---|---|
 * | InfluxDB 1.x | `influxd` | one fsync a request (its default) |
 * | VictoriaMetrics | `victoria-metrics` | nothing on disk yet: a SIGKILL after the answer loses rows |
 * | QuestDB, commit mode `sync` | `java` and a jar | msync of the log's files |
 * | QuestDB, commit mode `nosync` (its default) | same | page cache |
 *
 * Limits that would refuse or drop the data set are lifted: series and body limits of InfluxDB, the one-month retention of
 * VictoriaMetrics. Telemetry and request logs are off.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FIELDS, STEP_SECONDS, TABLE } from "./dataset.ts";
import { freePort } from "./free-port.ts";
import { startServer } from "./server-process.ts";
import type { RunningTarget, Target } from "./target.ts";

const DATABASE = "bench";
const FIRST_FIELD = FIELDS[0] ?? "";

/** Names that `--peers` takes. */
export const PEERS = ["influxdb", "victoria", "questdb-sync", "questdb-nosync"] as const;

/** One peer's name. */
export type PeerName = (typeof PEERS)[number];

/** The peers of this machine. */
export interface FoundPeers {
  readonly found: readonly Target[];
  /** One sentence a peer that is not here. */
  readonly missing: readonly string[];
}

/** Looks for the named peers; `endSeconds` is the end of the data set's time range and `hours` its length. */
export function findPeers(names: readonly PeerName[], questdbJar: string, endSeconds: number, hours: number): FoundPeers {
  const found: Target[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const reason = missingReason(name, questdbJar);
    if (reason === undefined) found.push(peer(name, questdbJar, endSeconds, hours));
    else missing.push(`${name} is left out: ${reason}`);
  }
  return { found, missing };
}

function missingReason(name: PeerName, questdbJar: string): string | undefined {
  switch (name) {
    case "influxdb":
      return Bun.which("influxd") === null ? "influxd is not on the PATH" : undefined;
    case "victoria":
      return Bun.which("victoria-metrics") === null ? "victoria-metrics is not on the PATH" : undefined;
    case "questdb-sync":
    case "questdb-nosync":
      if (Bun.which("java") === null) return "java is not on the PATH";
      if (questdbJar === "") return "set QUESTDB_JAR or --questdb-jar to its jar";
      return Bun.file(questdbJar).size === 0 ? `${questdbJar} is not there` : undefined;
  }
}

function peer(name: PeerName, questdbJar: string, endSeconds: number, hours: number): Target {
  switch (name) {
    case "influxdb":
      return { name: "InfluxDB 1.x", durability: "disk (one fsync a request)", start: startInflux };
    case "victoria":
      return {
        name: "VictoriaMetrics",
        durability: "process memory",
        start: async (directory) => await startVictoria(directory, endSeconds, hours),
      };
    case "questdb-sync":
      return {
        name: "QuestDB, sync",
        durability: "disk (msync)",
        start: async (directory) => await startQuestdb(directory, questdbJar, "sync"),
      };
    case "questdb-nosync":
      return {
        name: "QuestDB, nosync",
        durability: "page cache",
        start: async (directory) => await startQuestdb(directory, questdbJar, "nosync"),
      };
  }
}

/** Where a query of the benchmark's database in InfluxDB is asked. */
export function influxQueryUrl(baseUrl: string, influxQl: string): string {
  return `${baseUrl}/query?${new URLSearchParams({ db: DATABASE, q: influxQl, epoch: "ns" }).toString()}`;
}

async function startInflux(directory: string): Promise<RunningTarget> {
  const data = join(directory, "data");
  await mkdir(data, { recursive: true });
  const port = freePort();
  const config = join(directory, "influxdb.conf");
  await Bun.write(
    config,
    `reporting-disabled = true
bind-address = "127.0.0.1:${freePort()}"
[meta]
  dir = "${data}/meta"
[data]
  dir = "${data}/data"
  wal-dir = "${data}/wal"
  index-version = "inmem"
  wal-fsync-delay = "0s"
  max-series-per-database = 0
  max-values-per-tag = 0
  query-log-enabled = false
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:${port}"
  log-enabled = false
  max-body-size = 0
[logging]
  level = "warn"
`,
  );
  const baseUrl = `http://127.0.0.1:${port}`;
  const server = await startServer({
    name: "InfluxDB",
    command: ["influxd", "run", "-config", config],
    readyUrl: `${baseUrl}/ping`,
    logPath: join(directory, "server.log"),
  });
  const query = async (text: string, method: string): Promise<string> =>
    await answerText(`${baseUrl}/query?${new URLSearchParams({ db: DATABASE, q: text }).toString()}`, method);
  await query(`CREATE DATABASE ${DATABASE}`, "POST");
  return {
    server,
    baseUrl,
    writeUrl: `${baseUrl}/write?db=${DATABASE}&precision=ns`,
    dataDirectory: data,
    countRows: async () => lastNumber(await query(`SELECT count(${FIRST_FIELD}) FROM ${TABLE}`, "GET")),
    flush: async () => undefined,
  };
}

async function startVictoria(directory: string, endSeconds: number, hours: number): Promise<RunningTarget> {
  const data = join(directory, "data");
  await mkdir(data, { recursive: true });
  const port = freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const server = await startServer({
    name: "VictoriaMetrics",
    command: [
      "victoria-metrics",
      `-storageDataPath=${data}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      "-retentionPeriod=100y",
      "-search.latencyOffset=0s",
      "-search.disableCache",
      "-loggerLevel=WARN",
      "-influxListenAddr=",
      "-graphiteListenAddr=",
      "-opentsdbListenAddr=",
    ],
    readyUrl: `${baseUrl}/health`,
    logPath: join(directory, "server.log"),
  });
  const count = new URLSearchParams({
    query: `sum(count_over_time(${TABLE}_${FIRST_FIELD}[${Math.ceil(hours) + 1}h]))`,
    time: String(endSeconds + STEP_SECONDS),
  });
  return {
    server,
    baseUrl,
    writeUrl: `${baseUrl}/write?precision=ns`,
    dataDirectory: data,
    countRows: async () => {
      await answerText(`${baseUrl}/internal/force_flush`, "GET"); // Fresh rows become visible about a second late otherwise.
      return lastNumber(await answerText(`${baseUrl}/api/v1/query?${count.toString()}`, "GET"));
    },
    flush: async () => undefined,
  };
}

async function startQuestdb(directory: string, jar: string, commitMode: "sync" | "nosync"): Promise<RunningTarget> {
  const data = join(directory, "data");
  const port = freePort();
  const healthPort = freePort();
  await Bun.write(
    join(data, "conf", "server.conf"),
    `http.net.bind.to=127.0.0.1:${port}
http.min.net.bind.to=127.0.0.1:${healthPort}
pg.net.bind.to=127.0.0.1:${freePort()}
line.tcp.enabled=false
line.udp.enabled=false
telemetry.enabled=false
cairo.commit.mode=${commitMode}
`,
  );
  const baseUrl = `http://127.0.0.1:${port}`;
  const java = ["java", "-XX:+UnlockExperimentalVMOptions", "-XX:+AlwaysPreTouch", "-XX:+UseParallelGC", "-Xms512m", "-Xmx2g"];
  const server = await startServer({
    name: "QuestDB",
    command: [...java, "-p", jar, "-m", "io.questdb/io.questdb.ServerMain", "-d", data],
    readyUrl: `http://127.0.0.1:${healthPort}/status`,
    logPath: join(directory, "server.log"),
    cwd: directory,
  });
  return {
    server,
    baseUrl,
    writeUrl: `${baseUrl}/write?precision=n`,
    dataDirectory: join(data, "db"),
    countRows: async () => {
      const url = `${baseUrl}/exec?${new URLSearchParams({ query: `SELECT count() FROM ${TABLE}` }).toString()}`;
      const answer = JSON.parse(await answerText(url, "GET")) as { readonly dataset: readonly (readonly number[])[] };
      return answer.dataset[0]?.[0] ?? 0;
    },
    flush: async () => undefined,
  };
}

async function answerText(url: string, method: string): Promise<string> {
  const response = await fetch(url, { method });
  const text = await response.text();
  if (!response.ok) throw new Error(`cannot ask ${url}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** The last number of a JSON answer: both count answers end with it. 0 when there is none, which is an empty result. */
function lastNumber(text: string): number {
  return Number(text.match(/(\d+)(?=\D*$)/)?.[1] ?? 0);
}
