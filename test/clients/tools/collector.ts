/** The OpenTelemetry Collector: what it is told over HTTP goes on by OTLP/gRPC, with gzip and a name and password, and is read by SQL. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../bench/macro/free-port.ts";
import { check, env, expectIn, programOf } from "./checks.ts";

const program = programOf("otelcol", "otelcol-contrib", "otelcol-lab");
const READY_MS_MAX = 20_000;
const SEEN_MS_MAX = 15_000;
const now = BigInt(Date.now()) * 1_000_000n;
const attributes = [{ key: "zone", value: { stringValue: "eu" } }];
const resource = { attributes: [{ key: "service.name", value: { stringValue: "collector" } }] };

const SIGNALS = {
  metrics: {
    resourceMetrics: [
      {
        resource,
        scopeMetrics: [
          { metrics: [{ name: "collected", gauge: { dataPoints: [{ timeUnixNano: `${now}`, asDouble: 1.5, attributes }] } }] },
        ],
      },
    ],
  },
  logs: {
    resourceLogs: [{ resource, scopeLogs: [{ logRecords: [{ timeUnixNano: `${now}`, body: { stringValue: "collected" }, attributes }] }] }],
  },
  traces: {
    resourceSpans: [
      {
        resource,
        scopeSpans: [
          {
            spans: [
              {
                traceId: "5b8efff798038103d269b633813fc60c",
                spanId: "eee19b7ec3c1b174",
                name: "collected",
                kind: 2,
                startTimeUnixNano: `${now}`,
                endTimeUnixNano: `${now + 1000n}`,
                attributes,
              },
            ],
          },
        ],
      },
    ],
  },
};

function config(port: number): string {
  const basic = `Basic ${Buffer.from(`${env("VARVE_USER")}:${env("VARVE_PASSWORD")}`).toString("base64")}`;
  return `
receivers:
  otlp: {protocols: {http: {endpoint: "127.0.0.1:${port}"}}}
exporters:
  otlp_grpc:
    endpoint: "127.0.0.1:${env("VARVE_GRPC_SECURE")}"
    compression: gzip
    tls: {ca_file: "${env("VARVE_CA")}", server_name_override: localhost}
    headers: {authorization: "${basic}", x-greptime-pipeline-name: greptime_trace_v1}
    retry_on_failure: {enabled: false}
  otlp_grpc/logs:
    endpoint: "127.0.0.1:${env("VARVE_GRPC_SECURE")}"
    compression: gzip
    tls: {ca_file: "${env("VARVE_CA")}", server_name_override: localhost}
    headers: {authorization: "${basic}"}
    retry_on_failure: {enabled: false}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], exporters: [otlp_grpc/logs]}
    logs: {receivers: [otlp], exporters: [otlp_grpc/logs]}
    traces: {receivers: [otlp], exporters: [otlp_grpc]}
`;
}

async function sql(statement: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${env("VARVE_USER")}:${env("VARVE_PASSWORD")}`).toString("base64")}`;
  const body = new URLSearchParams({ sql: statement });
  const response = await fetch(`http://127.0.0.1:${env("VARVE_HTTP_SECURE")}/v1/sql?format=csv`, {
    method: "POST",
    headers: { authorization },
    body,
  });
  return response.text();
}

async function send(port: number, signal: string): Promise<void> {
  const body = JSON.stringify(SIGNALS[signal as keyof typeof SIGNALS]);
  const response = await fetch(`http://127.0.0.1:${port}/v1/${signal}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  if (!response.ok) throw new Error(`the collector says ${response.status}: ${await response.text()}`);
}

/** The collector answers before it has sent on. */
async function seen(statement: string, part: string): Promise<void> {
  let last = "";
  for (const end = Date.now() + SEEN_MS_MAX; Date.now() < end; await Bun.sleep(100)) {
    last = await sql(statement);
    if (last.includes(part)) return;
  }
  expectIn(last, part);
}

async function ready(port: number): Promise<void> {
  for (const end = Date.now() + READY_MS_MAX; Date.now() < end; await Bun.sleep(100)) {
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isUp) return;
  }
  throw new Error("the collector does not listen");
}

if (program === undefined) console.log("skip collector: there is no otelcol on this machine");
else {
  const folder = await mkdtemp(join(tmpdir(), "collector-"));
  const port = freePort();
  await Bun.write(join(folder, "config.yaml"), config(port));
  const child = Bun.spawn([program, "--config", join(folder, "config.yaml")], { stdout: "ignore", stderr: Bun.file(join(folder, "log")) });
  try {
    await ready(port);
    await check("collector: metrics", async () => {
      await send(port, "metrics");
      await seen("SELECT zone, greptime_value FROM collected", "eu,1.5");
    });
    await check("collector: logs", async () => {
      await send(port, "logs");
      await seen("SELECT body FROM opentelemetry_logs", "collected");
    });
    await check("collector: traces", async () => {
      await send(port, "traces");
      await seen("SELECT span_name, service_name FROM opentelemetry_traces", "collected,collector");
    });
  } finally {
    child.kill();
    await child.exited;
    await rm(folder, { recursive: true, force: true });
  }
}
console.log("done");
