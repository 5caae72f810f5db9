/** Families that servers of several protocols count into: whoever comes first registers them. */
import type { Counter, Histogram } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";

/** Logins that failed, by the name of their code. */
export function authFailures(metrics: MetricRegistry): Counter<"code"> {
  return sharedCounter(metrics, "greptime_servers_auth_failure_count", "requests and connections without valid credentials", "code");
}

/** Requests that a server failed to answer. */
export function serverErrors(metrics: MetricRegistry): Counter<"protocol"> {
  return sharedCounter(metrics, "greptime_servers_error", "requests that a protocol server failed to answer", "protocol");
}

/** Rows of a signal of OTLP, by whichever protocol they came. */
export function otlpRows(metrics: MetricRegistry, signal: "metrics" | "traces" | "logs"): Counter<"db"> {
  return sharedCounter(metrics, `greptime_frontend_otlp_${signal}_rows`, `rows of OTLP ${signal}`, "db");
}

/** A family that counts, whoever registers it. */
export function sharedCounter<Label extends string>(
  metrics: MetricRegistry,
  name: string,
  help: string,
  ...labels: Label[]
): Counter<Label> {
  const known = metrics.registry.getSingleMetric(name);
  return known === undefined ? metrics.counter(name, help, ...labels) : (known as Counter<Label>); // what it was registered as, here
}

/** A family of seconds, whoever registers it. */
export function sharedSeconds<Label extends string>(
  metrics: MetricRegistry,
  name: string,
  help: string,
  ...labels: Label[]
): Histogram<Label> {
  const known = metrics.registry.getSingleMetric(name);
  return known === undefined ? metrics.seconds(name, help, ...labels) : (known as Histogram<Label>); // what it was registered as, here
}
