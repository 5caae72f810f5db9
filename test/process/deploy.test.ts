/**
 * What `deploy/` asks of a server, asked of one: its own /metrics are written into it by remote write, and every expression of the Grafana
 * dashboard and of the alerts is run by its own PromQL. Each has names of docs/metrics.md; panels show something; alerts are quiet on a
 * healthy server and fire on what they are for.
 */
import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DemoSeries } from "../prometheus/demo-data.ts";
import { prometheusProgram } from "../prometheus/prometheus-server.ts";
import { sendSeries } from "../prometheus/remote-write.ts";
import { standalone } from "../support/cluster/standalone.ts";
import { TestServer } from "../support/server-process.ts";

const { describe, test } = standalone("it is looked at as a whole; a cluster is in cluster-deploy.test.ts");

const ROOT = join(import.meta.dir, "../..");
const STEP_MS = 15_000;
const SCRAPES = 5;
/** Of ordinary metrics, whose counters are read with `rate`. */
const INTERVAL = "1m";

interface Target {
  readonly expr: string;
}
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly Target[];
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const dashboard = JSON.parse(read("deploy/grafana/varve.json")) as { readonly panels: readonly Panel[] };
const rules = (
  Bun.YAML.parse(read("deploy/prometheus/varve.rules.yml")) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
).groups.flatMap((group) => group.rules);
const expressions = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }, i) => ({ name: `${title} ${i + 1}`, expr: filled(expr) })),
);

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** As Grafana fills its variables in. */
function filled(expr: string): string {
  return expr.replaceAll("$__rate_interval", INTERVAL).replaceAll("$job", "varve").replaceAll("$instance", ".*");
}

let server: TestServer;
let base = "";
const now = Date.now();

beforeAll(async () => {
  server = await TestServer.start();
  base = `${server.url}/v1/prometheus`;
  for (let i = 0; i < SCRAPES; i++) {
    await traffic(i);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    await sendSeries(`${base}/write`, scraped(text, now - (SCRAPES - 1 - i) * STEP_MS));
  }
});
afterAll(() => server?.end());

/** A little of everything, failures among it. */
async function traffic(i: number): Promise<void> {
  const post = async (path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
    await (await fetch(server.url + path, { method: "POST", body, headers })).text();
  };
  await post("/v1/influxdb/write", `m f=${i} ${i + 1}`);
  await post("/v1/influxdb/write", "m f=x y z");
  const form = { "content-type": "application/x-www-form-urlencoded" };
  for (const sql of ["SELECT count(*) FROM m", "SELECT nothing FROM m", "ADMIN flush_table('m')"])
    await post("/v1/sql", `sql=${encodeURIComponent(sql)}`, form);
}

/** Series of a scrape, as Prometheus would store them. */
function scraped(text: string, time: number): readonly DemoSeries[] {
  const series: DemoSeries[] = [seriesOf("up", {}, 1, time)];
  for (const line of text.split("\n")) {
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (match === null) continue;
    const [, name = "", labels = "", value = ""] = match;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", text = ""]) => [key, text] as const);
    series.push(seriesOf(name, Object.fromEntries(pairs), numberOf(value), time));
  }
  return series;
}

function seriesOf(name: string, labels: Readonly<Record<string, string>>, value: number, time: number): DemoSeries {
  return { labels: { __name__: name, job: "varve", instance: "test:4000", ...labels }, samples: [{ time, value }] };
}

function numberOf(text: string): number {
  return text === "+Inf" ? Number.POSITIVE_INFINITY : text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly unknown[] };
}

async function asked(path: string, parameters: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await fetch(`${base}/api/v1/${path}`, { method: "POST", body: new URLSearchParams(parameters) });
  return (await response.json()) as Answer;
}

/** Series of an expression. @throws Error when it errs */
async function answered(expr: string, db = "public", time = now): Promise<readonly unknown[]> {
  const { status, error, data } = await asked(`query?db=${db}`, { query: expr, time: String(time / 1000) });
  if (status !== "success") throw new Error(`${expr}: ${error}`);
  return data?.result ?? [];
}

/** Names of the metrics in an expression, from its tree. */
async function namesIn(expr: string): Promise<readonly string[]> {
  const { status, error, data } = await asked("parse_query", { query: expr });
  if (status !== "success") throw new Error(`${expr}: ${error}`);
  const names: string[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, name } = node as { readonly type?: unknown; readonly name?: unknown };
    if ((type === "vectorSelector" || type === "matrixSelector") && typeof name === "string") names.push(name);
    for (const each of Object.values(node)) walk(each);
  };
  walk(data);
  return names;
}

const documented = new Set(
  read("docs/metrics.md")
    .split("\n")
    .flatMap((row) => (row.startsWith("| `") ? [...(row.split(" | ")[0] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name) : [])),
);

/** Names in an expression that no family has. */
async function unknownNames(expr: string): Promise<readonly string[]> {
  const names = await namesIn(expr);
  expect(names).not.toEqual([]);
  return names.filter((name) => name !== "up" && !documented.has(name) && !documented.has(name.replace(/_(?:bucket|sum|count)$/, "")));
}

/** Families that have a sample only after what this server does not meet. */
const RARE =
  /greptime_servers_(?:error|auth_failure_count|request_memory_rejected_total|grpc_)|varve_(?:log_rows_skipped_total|query_worker_)/;

test("an unknown name is found, and an expression that errs", async () => {
  expect(await unknownNames("sum(rate(varve_ingest_rows_totals[1m])) / sum(varve_series)")).toEqual(["varve_ingest_rows_totals"]);
  expect(unknownNames("rate(varve_series)")).rejects.toThrow("expected type range vector");
  expect(answered("varve_series + on (instance")).rejects.toThrow("parse error");
});

describe("deploy/grafana/varve.json", () => {
  test.each(expressions.map(({ name, expr }) => [name, expr] as const))("%s", async (_, expr) => {
    expect(await unknownNames(expr)).toEqual([]);
    const found = await answered(expr);
    if (!RARE.test(expr)) expect(found).not.toEqual([]);
  });

  test("panels have titles of their own and do not lie on each other", () => {
    const panels = dashboard.panels;
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { gridPos } of panels) {
      const { x, y, w, h } = gridPos;
      expect(x + w).toBeLessThanOrEqual(24);
      for (let row = y; row < y + h; row++) {
        for (let column = x; column < x + w; column++) {
          expect(taken.has(`${column},${row}`)).toBe(false);
          taken.add(`${column},${row}`);
        }
      }
    }
  });
});

/** A counter or gauge every quarter of a minute over ten minutes, that ends at `end` and began at `begin`. */
function ramp(labels: Readonly<Record<string, string>>, begin: number, end: number): DemoSeries {
  const steps = 40;
  const samples = Array.from({ length: steps + 1 }, (_, i) => ({
    time: now - (steps - i) * STEP_MS,
    value: begin + ((end - begin) * i) / steps,
  }));
  return { labels: { job: "varve", instance: "test:4000", ...labels }, samples };
}

const flat = (labels: Readonly<Record<string, string>>, value: number): DemoSeries => ramp(labels, value, value);
const jumps = (labels: Readonly<Record<string, string>>): DemoSeries => {
  const { samples, ...rest } = ramp(labels, 0, 40);
  return { ...rest, samples: samples.map(({ time, value }) => ({ time, value: Math.floor(Number(value) / 10) })) };
};
/** A histogram whose observations all lie between two bounds. */
const bucket = (name: string, bound: string, labels: Readonly<Record<string, string>> = {}): readonly DemoSeries[] => [
  ramp({ __name__: `${name}_bucket`, le: "0.001", ...labels }, 0, 0),
  ramp({ __name__: `${name}_bucket`, le: bound, ...labels }, 0, 100),
  ramp({ __name__: `${name}_bucket`, le: "+Inf", ...labels }, 0, 100),
];

/** What each alert is for. */
const FIRING: Readonly<Record<string, readonly DemoSeries[]>> = {
  VarveDown: [flat({ __name__: "up" }, 0)],
  VarveAbsent: [flat({ __name__: "up", job: "other" }, 1)],
  VarveRestarts: [jumps({ __name__: "process_start_time_seconds" })],
  VarveLogBroken: [flat({ __name__: "varve_degraded", part: "log" }, 1)],
  VarveFlushFailing: [flat({ __name__: "varve_degraded", part: "flush" }, 1)],
  VarveDegraded: [flat({ __name__: "varve_degraded", part: "compaction" }, 1)],
  VarveLogSyncSlow: bucket("varve_log_sync_seconds", "2.5"),
  VarveWritesFail: [ramp({ __name__: "varve_ingest_errors_total", protocol: "loki" }, 0, 1000)],
  VarveServerErrors: [ramp({ __name__: "greptime_servers_error", protocol: "http" }, 0, 5)],
  VarveMemoryNearLimit: [
    flat({ __name__: "varve_memory_bytes", part: "series" }, 95),
    flat({ __name__: "varve_memory_bytes", part: "page_cache" }, 5),
    flat({ __name__: "varve_memory_limit_bytes" }, 100),
  ],
  VarveBodiesRefused: [ramp({ __name__: "greptime_servers_request_memory_rejected_total", reason: "x" }, 0, 10)],
  VarveDiskNearlyFull: [flat({ __name__: "varve_disk_free_bytes" }, 15), flat({ __name__: "varve_disk_free_bytes_min" }, 10)],
  VarveDiskFullSoon: [ramp({ __name__: "varve_disk_free_bytes" }, 160, 100), flat({ __name__: "varve_disk_free_bytes_min" }, 10)],
  VarveCompactionFailing: [ramp({ __name__: "greptime_mito_compaction_failure_total" }, 0, 20)],
  VarveEventLoopLate: bucket("varve_event_loop_delay_seconds", "1", { thread: "main" }),
  VarveLimitNear: [flat({ __name__: "varve_limit_usage_ratio", limit: "series" }, 0.95)],
  VarveFewDescriptors: [flat({ __name__: "process_open_fds" }, 99), flat({ __name__: "process_max_fds" }, 100)],
  VarveLoginsFail: [ramp({ __name__: "greptime_servers_auth_failure_count", code: "UserNotFound" }, 0, 2000)],
};

/** This server is told to fail as often as to write, beside other tests: these may fire here, where none waits its ten minutes. */
const LOUD: ReadonlySet<string> = new Set(["VarveWritesFail", "VarveLogSyncSlow", "VarveEventLoopLate"]);

describe("deploy/prometheus/varve.rules.yml", () => {
  test("there is a case of what each alert is for", () => {
    expect(rules.map(({ alert }) => alert)).toEqual(Object.keys(FIRING));
  });

  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    "%s is quiet on a healthy server and fires otherwise",
    async (alert, rule) => {
      const { expr, labels, annotations } = rule;
      expect(await unknownNames(expr)).toEqual([]);
      if (!LOUD.has(alert)) expect(await answered(expr)).toEqual([]);
      const db = `firing_${alert.toLowerCase()}`;
      const sql = `sql=${encodeURIComponent(`CREATE DATABASE ${db}`)}`;
      await fetch(`${server.url}/v1/sql`, { method: "POST", body: sql, headers: { "content-type": "application/x-www-form-urlencoded" } });
      await sendSeries(`${base}/write?db=${db}`, FIRING[alert] ?? []);
      expect((await answered(expr, db)).length).toBeGreaterThan(0);
      expect(["warning", "critical"]).toContain(labels["severity"] ?? "");
      expect(Object.keys(annotations)).toEqual(["summary", "description", "runbook"]);
      const [file, anchor] = (annotations["runbook"] ?? "").split("#");
      expect([file, anchor]).toEqual(["docs/operations.md", alert.toLowerCase()]);
      expect(read("docs/operations.md")).toContain(`\n### ${alert}\n`);
      // Labels that a summary names are there when it fires.
      const [series] = (await answered(expr, db)) as readonly { readonly metric: Readonly<Record<string, string>> }[];
      const named = Object.values(annotations).flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label = ""]) => label));
      expect(named.filter((label) => series?.metric[label] === undefined)).toEqual([]);
    },
  );

  const promtool = prometheusProgram("promtool");
  test.skipIf(promtool === undefined)("promtool finds nothing wrong (skipped where there is none)", () => {
    const { exitCode, stderr } = Bun.spawnSync([promtool ?? "", "check", "rules", join(ROOT, "deploy/prometheus/varve.rules.yml")]);
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  });
});
