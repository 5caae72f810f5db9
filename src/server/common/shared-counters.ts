/** Families that servers of several protocols count into: whoever comes first registers them. */
import type { Counter } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";

/** Logins that failed, by the name of their code. */
export function authFailures(metrics: MetricRegistry): Counter<"code"> {
  return shared(metrics, "greptime_servers_auth_failure_count", "requests and connections without valid credentials", "code");
}

/** Requests that a server failed to answer. */
export function serverErrors(metrics: MetricRegistry): Counter<"protocol"> {
  return shared(metrics, "greptime_servers_error", "requests that a protocol server failed to answer", "protocol");
}

/** Rows of a signal of OTLP, by whichever protocol they came. */
export function otlpRows(metrics: MetricRegistry, signal: "metrics" | "traces" | "logs"): Counter<"db"> {
  return shared(metrics, `greptime_frontend_otlp_${signal}_rows`, `rows of OTLP ${signal}`, "db");
}

function shared<Label extends string>(metrics: MetricRegistry, name: string, help: string, label: Label): Counter<Label> {
  const known = metrics.registry.getSingleMetric(name);
  return known === undefined ? metrics.counter(name, help, label) : (known as Counter<Label>); // what it was registered as, here
}
