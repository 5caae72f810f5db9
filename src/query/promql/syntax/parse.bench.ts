/** Parsing and printing of queries as dashboards send them, and of the longest that are taken. */
import { bench, group, run } from "mitata";
import { PROMQL_CHARACTERS_MAX, PROMQL_TOKENS_MAX } from "../../../base/limits.ts";
import { parsePromql } from "./parse.ts";
import { formatPromql } from "./printer.ts";

const PANEL =
  'sum by (namespace) (rate(container_cpu_usage_seconds_total{job="kubelet",image!="",namespace=~"shop|mail"}[5m])) ' +
  "/ on (namespace) group_left sum by (namespace) (kube_pod_container_resource_requests)";
const TOKENS = `label_join(up, "a", "b"${', "c"'.repeat(PROMQL_TOKENS_MAX / 2 - 5)})`;
const TEXTS = `up{host=~"${"host-1|".repeat(PROMQL_CHARACTERS_MAX / 7 - 2)}x"}`;
const DEEP = `${"(".repeat(450)}up${")".repeat(450)}`;

const panel = parsePromql(PANEL);

group("parse", () => {
  bench("a panel, 230 characters", () => parsePromql(PANEL));
  bench("65,536 tokens", () => parsePromql(TOKENS));
  bench("a list of texts, 512 KiB", () => parsePromql(TEXTS));
  bench("450 levels", () => parsePromql(DEEP));
});
group("print", () => {
  bench("a panel over several lines", () => (panel.ok ? formatPromql(panel.expression) : ""));
});

await run();
