/** Requests to the endpoints of Prometheus' API, and how answers are compared: by value, or by the shape of the data. */
import { ask, type ApiAnswer } from "./compare.ts";

/** One request and what of its answer must agree. */
export interface ApiRequest {
  readonly path: string;
  readonly parameters: readonly (readonly [string, string])[];
  readonly method?: "GET" | "POST";
  /** `same`: the data; `shape`: keys and types that Prometheus has and Varve tells; `refusal`: status and error type. */
  readonly compare: "same" | "shape" | "refusal";
  /** Why the answers may differ. */
  readonly otherwise?: string;
}

/** Members that Prometheus has since 2.42. */
const LATER: ReadonlySet<string> = new Set(["hostname", "serverTime", "GOMEMLIMIT", "droppedTargetCounts"]);
/** Endpoints whose data are called as metrics, or as flags, are. */
const KEYED: ReadonlySet<string> = new Set(["metadata", "status/flags"]);

/** All requests. Times are seconds. */
export function API_REQUESTS(first: string, last: string): readonly ApiRequest[] {
  const range = [["start", first] as const, ["end", last] as const];
  const demo = ["match[]", '{job="demo"}'] as const;
  const same = (path: string, ...parameters: ApiRequest["parameters"]): ApiRequest[] => [
    { path, parameters, compare: "same" },
    ...(path.startsWith("label/") ? [] : [{ path, parameters, method: "POST" as const, compare: "same" as const }]),
  ];
  const refusal = (path: string, ...parameters: ApiRequest["parameters"]): ApiRequest => ({ path, parameters, compare: "refusal" });
  const query = ["query", "demo_num_cpus"] as const;
  return [
    ...same("labels", demo, ...range),
    ...same("labels", ["match[]", "demo_num_cpus"], ["match[]", "demo_memory_usage_bytes{type='free'}"], ...range),
    ...same("labels", ["match[]", "nosuch"], ...range),
    ...same("labels", demo, ["start", "1"], ["end", "2"]),
    ...same("label/__name__/values", demo, ...range),
    ...same("label/type/values", demo, ...range),
    ...same("label/instance/values", ["match[]", 'demo_num_cpus{instance!~".*1"}'], ...range),
    ...same("label/nosuch/values", ...range),
    ...same("label/le/values", demo),
    ...same("series", ["match[]", "demo_memory_usage_bytes"], ...range),
    ...same("series", ["match[]", "demo_num_cpus"], ["match[]", '{__name__=~"demo_num.*"}'], ...range),
    ...same("series", ["match[]", "nosuch"], ...range),
    ...same("query_exemplars", query, ...range),
    ...same("query", ["query", "1+1"], ["time", last]),
    ...same("query_range", ["query", "42"], ["start", first], ["end", first], ["step", "1"]),
    ...same("format_query", ["query", "sum(a)by(b)/on(c)group_left d"]),
    { path: "rules", parameters: [["type", "alert"]], compare: "same" },
    { path: "alerts", parameters: [], compare: "same" },
    { path: "metadata", parameters: [["limit", "0"]], compare: "same" },
    { path: "metadata", parameters: [["metric", "nosuch"]], compare: "same" },
    ...["status/buildinfo", "status/runtimeinfo", "status/config", "status/flags", "status/tsdb", "targets", "metadata"].map(
      (path) => ({ path, parameters: [], compare: "shape" }) as const,
    ),
    { path: "query", parameters: [query, ["time", last], ["stats", "all"]], compare: "shape" },
    refusal("query"),
    refusal("query", ["query", "sum("]),
    refusal("query", query, ["time", "soon"]),
    { ...refusal("query", query, ["time", "NaN"]), otherwise: "NaN is no time: Prometheus answers with nothing" },
    refusal("query", query, ["time", "1e400"]),
    refusal("query", query, ["timeout", "long"]),
    refusal("query", ["query", "demo_num_cpus + on () demo_num_cpus"], ["time", last]),
    refusal("query_range", query),
    refusal("query_range", query, ["start", first], ["end", last]),
    refusal("query_range", query, ["start", last], ["end", first], ["step", "1"]),
    refusal("query_range", query, ["start", first], ["end", last], ["step", "0"]),
    refusal("query_range", query, ["start", first], ["end", last], ["step", "-1"]),
    refusal("query_range", query, ["start", first], ["end", last], ["step", "1w2"]),
    refusal("query_range", query, ["start", "0"], ["end", "11001"], ["step", "1"]),
    refusal("query_range", query, ["start", first], ["end", last], ["step", "1e300"]),
    refusal("query_range", ["query", "demo_num_cpus[5m]"], ["start", first], ["end", last], ["step", "15"]),
    refusal("query_range", ["query", "'text'"], ["start", first], ["end", last], ["step", "15"]),
    refusal("series"),
    refusal("series", ["match[]", "{}"]),
    refusal("series", ["match[]", "sum(a)"]),
    refusal("series", ["match[]", "up[5m]"]),
    refusal("series", ["match[]", "up"], ["start", "x"]),
    refusal("series", ["match[]", "up"], ["start", last], ["end", first]),
    refusal("labels", ["match[]", "{"]),
    refusal("labels", ["match[]", "{}"]),
    refusal("label/__name__/values", ["match[]", "up{"]),
    refusal("label/__name__/values", ["end", "x"]),
    refusal("query_exemplars", ["query", "sum("]),
    refusal("query_exemplars", ["query", "up"], ["start", "2"], ["end", "1"]),
    refusal("metadata", ["limit", "x"]),
    refusal("format_query", ["query", "sum("]),
    refusal("nosuch"),
    { path: "label/type/values", parameters: range, method: "POST", compare: "refusal", otherwise: "the specification has POST too" },
    { path: "metadata", parameters: [], method: "POST", compare: "refusal" },
  ];
}

/** How the answers differ; undefined: they agree. */
export async function apiDifference(bases: readonly [string, string], request: ApiRequest): Promise<string | undefined> {
  const { path, parameters, method, compare } = request;
  const [want, got] = await Promise.all([ask(bases[0], path, parameters, method), ask(bases[1], path, parameters, method)]);
  if (want.status !== got.status) return `status ${got.status}, not ${want.status}: ${text(got)} beside ${text(want)}`;
  switch (compare) {
    case "refusal":
      return want.body.errorType === got.body.errorType ? undefined : `${text(got)} beside ${text(want)}`;
    case "same":
      return sortedText(want) === sortedText(got) ? undefined : `${text(got)} beside ${text(want)}`;
    case "shape":
      return (
        shapeDifference(Object.keys(want.body), Object.keys(got.body), "", false) ??
        shapeDifference(want.body.data, got.body.data, ".data", KEYED.has(path))
      );
  }
}

function text({ body }: ApiAnswer): string {
  return (typeof body === "string" ? body : JSON.stringify(body)).slice(0, 300);
}

/** The order of series is nobody's promise. */
function sortedText({ body }: ApiAnswer): string {
  const { data } = body;
  return Array.isArray(data) ? JSON.stringify([body.status, data.map((each) => JSON.stringify(each)).toSorted()]) : JSON.stringify(body);
}

/** What Varve tells has the types that Prometheus' answer has; it may tell less. */
function shapeDifference(want: unknown, got: unknown, at: string, isKeyedByData: boolean): string | undefined {
  if (kindOf(want) !== kindOf(got)) return `${at} is a ${kindOf(got)}, not a ${kindOf(want)}`;
  if (typeof want !== "object" || want === null || typeof got !== "object" || got === null) return undefined;
  if (Array.isArray(want) && Array.isArray(got))
    return want.length > 0 && got.length > 0 ? shapeDifference(want[0], got[0], `${at}[]`, false) : undefined;
  const known = new Map<string, unknown>(Object.entries(want));
  // What is called as data say has one shape.
  const [one] = isKeyedByData ? known.values() : [];
  for (const [key, value] of Object.entries(got)) {
    if (!known.has(key) && one === undefined) {
      if (LATER.has(key)) continue;
      return `${at}.${key} is not in ${[...known.keys()].join(" ")}`;
    }
    const found = shapeDifference(known.get(key) ?? one, value, `${at}.${key}`, false);
    if (found !== undefined) return found;
  }
  return undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
