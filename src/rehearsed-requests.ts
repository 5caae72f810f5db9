/**
 * What is asked in a rehearsal: the kinds of statements that dashboards and tools begin with, on metrics of some hundred series and on
 * a table of machines.
 */

import { formatTimestamp } from "./value/format-time.ts";

/** A request; one with a body is a POST. */
export interface RehearsedRequest {
  readonly path: string;
  readonly body?: string;
}

const HOSTS = 20;
const BUCKETS: readonly string[] = ["0.1", "0.5", "1", "+Inf"];
const STEP_MS = 15_000;
/** Samples a series. */
const SAMPLES = 40;
/** Samples a series of one statement, so that each is short. */
const SAMPLES_AT_ONCE = 5;

/** Machines, and samples of each. */
const MACHINES = 40;
const MACHINE_SAMPLES = 240;
const MACHINE_SAMPLES_AT_ONCE = 60;
const MACHINE_FIELDS: readonly string[] = ["busy", "waiting", "free", "swap"];

/** All requests, by when they are sent. */
export interface RehearsedRequests {
  /** Make the data: first, and once. */
  readonly writes: readonly RehearsedRequest[];
  /** Look at it: over and over. */
  readonly reads: readonly RehearsedRequest[];
  /** Take the data away, whatever of it is there: an engine that is closed flushes what it holds. */
  readonly drops: readonly RehearsedRequest[];
}

/**
 * The requests of one rehearsal.
 *
 * @param nowMillis where the data ends
 * @param hasPromql whether the server has the query API of Prometheus
 */
export function rehearsedRequests(nowMillis: number, hasPromql: boolean): RehearsedRequests {
  const start = nowMillis - SAMPLES * STEP_MS;
  const writes = [
    sql("CREATE TABLE metrics (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table = '')"),
    ...["total", "info"].map((name) => sql(logicalTable(name, ["host", "zone"]))),
    sql(logicalTable("bucket", ["host", "le"])),
    sql("CREATE TABLE cpu (host STRING, ts TIMESTAMP TIME INDEX, usage DOUBLE, idle DOUBLE, PRIMARY KEY (host))"),
    ...rows(start),
    ...machineRows(nowMillis),
  ];
  const reads = [...(hasPromql ? promqlReads(start, nowMillis) : []), ...sqlReads(start, nowMillis), ...machineReads(nowMillis)];
  const drops = [sql("DROP TABLE IF EXISTS total, info, bucket, cpu, machine"), sql("DROP TABLE IF EXISTS metrics")];
  return { writes, reads, drops };
}

function logicalTable(name: string, labels: readonly string[]): string {
  const columns = labels.map((label) => `${label} STRING, `).join("");
  const rest = `PRIMARY KEY (${labels.join(", ")})) ENGINE=metric WITH (on_physical_table = 'metrics')`;
  return `CREATE TABLE ${name} (ts TIMESTAMP TIME INDEX, val DOUBLE, ${columns}${rest}`;
}

function rows(start: number): readonly RehearsedRequest[] {
  const requests: RehearsedRequest[] = [];
  for (let at = 0; at < SAMPLES; at += SAMPLES_AT_ONCE) requests.push(...rowsOf(start, at, at + SAMPLES_AT_ONCE));
  return requests;
}

function rowsOf(start: number, from: number, to: number): readonly RehearsedRequest[] {
  const total: string[] = [];
  const info: string[] = [];
  const bucket: string[] = [];
  const cpu: string[] = [];
  for (let sample = from; sample < to; sample++) {
    const time = start + sample * STEP_MS;
    for (let host = 0; host < HOSTS; host++) {
      const labels = `'host-${host}', 'zone-${host % 5}'`;
      total.push(`(${time}, ${sample * (host + 1)}, ${labels})`);
      cpu.push(`('host-${host}', ${time}, ${host + sample / 7}, ${100 - host})`);
      if (sample % SAMPLES_AT_ONCE === 0) info.push(`(${time}, 1, ${labels})`);
      if (host < 10) for (const [b, le] of BUCKETS.entries()) bucket.push(`(${time}, ${sample * (b + 1)}, 'host-${host}', '${le}')`);
    }
  }
  const into = (table: string, columns: string, rows: readonly string[]): RehearsedRequest =>
    sql(`INSERT INTO ${table} (${columns}) VALUES ${rows.join(", ")}`);
  return [
    into("total", "ts, val, host, zone", total),
    into("info", "ts, val, host, zone", info),
    into("bucket", "ts, val, host, le", bucket),
    into("cpu", "host, ts, usage, idle", cpu),
  ];
}

function promqlReads(start: number, end: number): readonly RehearsedRequest[] {
  const api = (path: string, parameters: Readonly<Record<string, string>>): RehearsedRequest => ({
    path: `/v1/prometheus/api/v1/${path}?${new URLSearchParams(parameters).toString()}`,
  });
  const [from, to] = [String(start / 1000), String(end / 1000)];
  const instant = (query: string): RehearsedRequest => api("query", { query, time: to });
  const range = (query: string): RehearsedRequest => api("query_range", { query, start: from, end: to, step: "15" });
  return [
    instant('total{host="host-1"}'),
    range('total{host="host-2"}'),
    range("rate(total[5m])"),
    range("sum by (zone) (rate(total[5m]))"),
    range("histogram_quantile(0.9, sum by (le) (rate(bucket[5m])))"),
    range("topk(5, rate(total[5m]))"),
    instant("max_over_time(total[10m])"),
    range("avg(total) / max(total) * 100"),
    range("rate(total[5m]) * on (host) group_left (zone) info"),
    instant('count({__name__=~".+"})'),
    api("labels", { start: from, end: to }),
    api("label/host/values", { "match[]": 'total{zone="zone-1"}', start: from, end: to }),
    api("series", { "match[]": 'info{zone="zone-1"}', start: from, end: to }),
  ];
}

function sqlReads(start: number, end: number): readonly RehearsedRequest[] {
  const within = `ts >= ${start} AND ts < ${end}`;
  return [
    sql("SELECT * FROM cpu WHERE host = 'host-1' ORDER BY ts DESC LIMIT 1"),
    sql(`SELECT host, avg(usage), max(idle) FROM cpu WHERE ${within} GROUP BY host ORDER BY host`),
    sql(`SELECT date_bin(INTERVAL '1 minute', ts) AS t, max(usage) FROM cpu WHERE host = 'host-2' AND ${within} GROUP BY t ORDER BY t`),
    sql("SELECT count(*) FROM total"),
  ];
}

/** Rows of machines by line protocol, so that each request is short. */
function machineRows(end: number): readonly RehearsedRequest[] {
  const requests: RehearsedRequest[] = [];
  for (let from = 0; from < MACHINE_SAMPLES; from += MACHINE_SAMPLES_AT_ONCE) {
    const lines: string[] = [];
    for (let sample = from; sample < from + MACHINE_SAMPLES_AT_ONCE; sample++) {
      const time = end - (MACHINE_SAMPLES - sample) * STEP_MS;
      for (let machine = 0; machine < MACHINES; machine++) {
        const fields = MACHINE_FIELDS.map((field, i) => `${field}=${(machine * 7 + sample * (i + 3)) % 101}i`).join(",");
        const tags = `host=host_${machine},zone=zone-${machine % 5},os=os-${machine % 3}`;
        lines.push(`machine,${tags} ${fields},load=${(sample % 40) / 8} ${time}`);
      }
    }
    requests.push({ path: "/v1/influxdb/write?db=public&precision=ms", body: lines.join("\n") });
  }
  return requests;
}

/** The types of queries of the Time Series Benchmark Suite, in small. */
function machineReads(end: number): readonly RehearsedRequest[] {
  const time = "greptime_timestamp";
  const within = (hours: number): string => `${time} >= '${textOf(end - hours * 3_600_000)}' and ${time} < '${textOf(end)}'`;
  const hosts = (count: number): string => Array.from({ length: count }, (_, i) => `host = 'host_${i * 3}'`).join(" or ");
  const calls = (name: string): string => MACHINE_FIELDS.map((field) => `${name}(${field})`).join(", ");
  const minute = `date_trunc('minute', ${time})`;
  const hour = `date_trunc('hour', ${time})`;
  return [
    sql(`SELECT max(busy), ${minute} FROM machine WHERE (${hosts(1)}) AND ${within(1)} GROUP BY ${minute}`),
    sql(`SELECT ${calls("max")}, ${minute} FROM machine WHERE (${hosts(8)}) AND ${within(0.5)} GROUP BY ${minute}`),
    sql(`SELECT ${calls("max")}, ${hour} FROM machine WHERE (${hosts(4)}) AND ${within(1)} GROUP BY ${hour}`),
    sql(`SELECT ${calls("avg")}, ${hour} FROM machine WHERE ${within(1)} GROUP BY ${hour}, host`),
    sql(`SELECT * FROM machine WHERE busy > 90.0 AND (${hosts(1)}) AND ${within(1)}`),
    sql(`SELECT host, last_value(busy ORDER BY ${time}), last_value(load ORDER BY ${time}) FROM machine GROUP BY host`),
    sql(`SELECT max(busy), ${minute} FROM machine WHERE ${time} < '${textOf(end)}' GROUP BY ${minute} ORDER BY ${minute} DESC LIMIT 5`),
  ];
}

/** A moment as SQL writes it, whole seconds. */
export function textOf(millis: number): string {
  return `${formatTimestamp(BigInt(Math.floor(millis / 1000)), "second")}Z`;
}

/** A statement over HTTP. */
export function sqlRequest(text: string, database: string): RehearsedRequest {
  return { path: `/v1/sql?${new URLSearchParams({ db: database }).toString()}`, body: new URLSearchParams({ sql: text }).toString() };
}

function sql(text: string): RehearsedRequest {
  return sqlRequest(text, "public");
}
