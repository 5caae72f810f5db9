/** Traces that come over OTLP, asked for as Jaeger's page and Grafana's data source do: what is answered is what was sent. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execute } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: ["--user-provider", "static_user_provider:cmd:all=pw,reader:ro=pw,writer:wo=pw"] });
});
afterAll(async () => {
  await server.end();
});

type Headers = Readonly<Record<string, string>>;
const account = (name: string): Headers => ({ authorization: `Basic ${btoa(`${name}:pw`)}` });
const ALL = account("all");

async function send(body: unknown, headers: Headers = {}): Promise<void> {
  const sent = { "content-type": "application/json", ...ALL, ...headers };
  const response = await fetch(`${server.url}/v1/otlp/v1/traces`, { method: "POST", headers: sent, body: JSON.stringify(body) });
  expect([response.status, await response.json()]).toEqual([200, {}]);
}

/** An answer of the API. */
interface Answer {
  readonly data: readonly unknown[] | null;
  readonly total: number;
  readonly errors: readonly unknown[];
}

/** The ids of an answer's traces. */
function idsOf({ data }: Answer): readonly string[] | undefined {
  return data?.map((trace) => (trace as { readonly traceID: string }).traceID);
}

async function ask(path: string, headers: Headers = {}): Promise<readonly [number, Answer]> {
  const response = await fetch(`${server.url}/v1/jaeger/api/${path}`, { headers: { ...ALL, ...headers } });
  return [response.status, (await response.json()) as Answer];
}

const text = (key: string, stringValue: string): unknown => ({ key, value: { stringValue } });
const START = 1_738_726_754_492_421_000n;
const MICROS = Number(START / 1000n);
const TRACE = "5611dce1bc9ebed65352d99a027b08ea";
const OTHER = "00000000000000000000000000000abc";

/** A request of one resource with these spans. */
function request(service: string, spans: readonly unknown[], resource: readonly unknown[] = []): unknown {
  const attributes = [text("service.name", service), ...resource];
  const scope = { name: "lib", version: "1.2" };
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope, spans }] }] };
}

const SERVER_SPAN = {
  traceId: TRACE,
  spanId: "ffa03416a7b9ea48",
  name: "GET /cart",
  kind: 2,
  startTimeUnixNano: String(START),
  endTimeUnixNano: String(START + 100_000_999n),
  status: { code: 2, message: "it's broken" },
  traceState: "a=b",
  attributes: [
    text("http.request.method", "GET"),
    { key: "http.response.status_code", value: { intValue: "500" } },
    { key: "big", value: { intValue: "9007199254740993" } },
    { key: "ratio", value: { doubleValue: 0.5 } },
    { key: "cached", value: { boolValue: false } },
    { key: "list", value: { arrayValue: { values: [{ stringValue: "x" }, { intValue: "1" }] } } },
    { key: "raw", value: { bytesValue: "AAEC" } },
    text("quote", `a'b"c`),
  ],
  events: [{ name: "retry", timeUnixNano: String(START + 5_001_000n), attributes: [{ key: "attempt", value: { intValue: "3" } }] }],
  links: [{ traceId: OTHER, spanId: "00f067aa0ba902b7" }],
};
const CLIENT_SPAN = {
  traceId: TRACE,
  spanId: "008421dbbd33a3e9",
  parentSpanId: "ffa03416a7b9ea48",
  name: "access-mysql",
  kind: 3,
  startTimeUnixNano: String(START + 1_000_000n),
  endTimeUnixNano: String(START + 51_000_000n),
};
const OTHER_SPAN = { ...CLIENT_SPAN, traceId: OTHER, parentSpanId: "", startTimeUnixNano: String(START + 10_000_000_000n) };

const tag = (key: string, type: string, value: unknown): unknown => ({ key, type, value });
const SCOPE_TAGS = [tag("otel.scope.name", "string", "lib"), tag("otel.scope.version", "string", "1.2")];
const RAW_TAG = tag("raw", "binary", "AAEC");
const SERVER_TAGS = [
  tag("big", "int64", Number("9007199254740993")), // as JSON.parse reads it
  tag("cached", "bool", false),
  tag("error", "bool", true),
  tag("http.request.method", "string", "GET"),
  tag("http.response.status_code", "int64", 500),
  tag("list", "string", '["x",1]'),
  ...SCOPE_TAGS,
  tag("otel.status_code", "string", "ERROR"),
  tag("otel.status_description", "string", "it's broken"),
  tag("quote", "string", `a'b"c`),
  tag("ratio", "float64", 0.5),
  RAW_TAG,
  tag("span.kind", "string", "server"),
  tag("w3c.tracestate", "string", "a=b"),
];

/** The trace as the API shows it. @param v0 the model that keeps the bytes of attributes as text */
function wantedTrace(v0 = false): unknown {
  const tags = v0 ? SERVER_TAGS.map((each) => (each === RAW_TAG ? tag("raw", "string", "AAEC") : each)) : SERVER_TAGS;
  return {
    traceID: TRACE,
    spans: [
      {
        traceID: TRACE,
        spanID: "ffa03416a7b9ea48",
        operationName: "GET /cart",
        references: [{ refType: "FOLLOWS_FROM", traceID: OTHER, spanID: "00f067aa0ba902b7" }],
        startTime: MICROS,
        duration: 100_000,
        tags,
        logs: [{ timestamp: MICROS + 5001, fields: [tag("event", "string", "retry"), tag("attempt", "int64", 3)] }],
        processID: "p1",
        warnings: null,
      },
      {
        traceID: TRACE,
        spanID: "008421dbbd33a3e9",
        operationName: "access-mysql",
        references: [{ refType: "CHILD_OF", traceID: TRACE, spanID: "ffa03416a7b9ea48" }],
        startTime: MICROS + 1000,
        duration: 50_000,
        tags: [...SCOPE_TAGS, tag("span.kind", "string", "client")],
        logs: [],
        processID: "p2",
        warnings: null,
      },
    ],
    processes: {
      p1: { serviceName: "shop", tags: [tag("host.name", "string", "h1")] },
      p2: { serviceName: "db's", tags: [] },
    },
    warnings: null,
  };
}

const answer = (data: Answer["data"], errors: readonly unknown[] = []): Answer & Readonly<Record<string, unknown>> => {
  return { data, total: data?.length ?? 0, limit: 0, offset: 0, errors };
};

test("before any span came every answer is without data", async () => {
  for (const path of ["services", "services/x/operations", "operations?service=x", "traces?service=x", `traces/${TRACE}`])
    expect([path, ...(await ask(path))]).toEqual([path, 200, answer(null)]);
});

describe.each([
  ["v1", "opentelemetry_traces"],
  ["v0", "old traces"],
])("model %s", (model, table) => {
  const headers = { "x-greptime-trace-table-name": table };

  test("takes the spans", async () => {
    const write = { ...headers, "x-greptime-pipeline-name": `greptime_trace_${model}` };
    await send(request("shop", [SERVER_SPAN], [text("host.name", "h1")]), write);
    await send(request("db's", [CLIENT_SPAN, OTHER_SPAN]), write);
  });

  test("services and operations", async () => {
    expect(await ask("services", headers)).toEqual([200, answer(["db's", "shop"])]);
    expect(await ask("services/db%27s/operations", headers)).toEqual([200, answer(["access-mysql"])]);
    expect(await ask("services/nobody/operations", headers)).toEqual([200, answer([])]);
    expect(await ask("operations?service=shop", headers)).toEqual([200, answer([{ name: "GET /cart", spanKind: "server" }])]);
    expect(await ask("operations?service=shop&spanKind=client", headers)).toEqual([200, answer([])]);
  });

  test("a trace by its id, with zeros or without", async () => {
    expect(await ask(`traces/${TRACE}`, headers)).toEqual([200, answer([wantedTrace(model === "v0")])]);
    expect(await ask(`traces/${TRACE.toUpperCase()}`, headers)).toEqual([200, answer([wantedTrace(model === "v0")])]);
    expect(idsOf((await ask("traces/abc", headers))[1])).toEqual([OTHER]);
    const missing = { code: 404, msg: "trace not found", traceID: "0".repeat(31) + "f" };
    expect(await ask("traces/f", headers)).toEqual([404, answer(null, [missing])]);
    const [status, both] = await ask(`traces?traceID=f&traceID=abc&traceID=${TRACE}`, headers);
    expect([status, idsOf(both), both.errors]).toEqual([200, [OTHER, TRACE], [missing]]);
  });

  test("integers beyond 2^53 keep their digits", async () => {
    const response = await fetch(`${server.url}/v1/jaeger/api/traces/${TRACE}`, { headers: { ...ALL, ...headers } });
    expect(await response.text()).toContain('{"key":"big","type":"int64","value":9007199254740993}');
  });

  test("searches", async () => {
    const found = async (query: string): Promise<unknown> => {
      const times = `start=${MICROS - 1}&end=${MICROS + 60_000_000}`;
      const [status, body] = await ask(`traces?${times}&${query}`, headers);
      return status === 200 ? idsOf(body) : [status, body];
    };
    const check = async (query: string, want: readonly string[]): Promise<void> => {
      expect([query, await found(query)]).toEqual([query, want]);
    };
    await check("service=db%27s", [OTHER, TRACE]);
    await check("service=db%27s&limit=1", [OTHER]);
    await check("service=shop", [TRACE]);
    await check("service=nobody", []);
    await check("service=shop&operation=GET%20/cart", [TRACE]);
    await check("service=shop&operation=GET", []);
    await check("service=shop&minDuration=99ms&maxDuration=0.2s", [TRACE]);
    await check("service=shop&minDuration=200ms", []);
    await check("service=shop&maxDuration=1m1us&minDuration=100000us", [TRACE]);
    const tags = (value: unknown): string => `service=shop&tags=${encodeURIComponent(JSON.stringify(value))}`;
    await check(tags({ "http.request.method": "GET", "http.response.status_code": "500" }), [TRACE]);
    await check(tags({ "http.request.method": "PUT" }), []);
    await check(tags({ "http.response.status_code": "it" }), []);
    await check(tags({ error: "true", "span.kind": "server", "otel.status_code": "error" }), [TRACE]);
    await check(tags({ error: "false" }), []);
    await check(tags({ big: "9007199254740993" }), [TRACE]);
    await check(tags({ ratio: "0.5", cached: "false", "host.name": "h1" }), [TRACE]);
    await check(tags({ quote: `a'b"c` }), [TRACE]);
    await check(tags({ "no.such": "x" }), []);
    await check("service=shop&tag=quote:a%27b%22c&tag=host.name:h1", [TRACE]);
    expect(await ask(`traces?service=shop&start=0&end=${MICROS - 1}`, headers)).toEqual([200, answer([])]);
    expect(await ask("traces?service=shop&lookback=1h", headers)).toEqual([200, answer([])]);
    expect((await ask("traces?service=shop&lookback=5000w", headers))[1].total).toBe(1);
  });
});

test("what cannot be asked is refused in the API's words", async () => {
  const refused = async (path: string, msg: string, headers: Headers = {}): Promise<void> => {
    expect([path.slice(0, 80), ...(await ask(path, headers))]).toEqual([path.slice(0, 80), 400, answer(null, [{ code: 400, msg }])]);
  };
  await refused("traces", "parameter 'service' is required");
  await refused("operations", "parameter 'service' is required");
  await refused("traces?service=shop&limit=1501", `parameter 'limit' is "1501", not a number from 1 to 1500`);
  await refused("traces?service=shop&limit=-1", `parameter 'limit' is "-1", not a number from 1 to 1500`);
  await refused("traces?service=shop&start=now", `parameter 'start' is "now", not a time in microseconds since 1970`);
  await refused("traces?service=shop&end=99999999999999999999", expect.stringContaining("parameter 'end'"));
  await refused("traces?service=shop&start=2&end=1", "parameter 'start' must not be after 'end'");
  await refused("traces?service=shop&minDuration=2", `parameter 'minDuration' is "2", not a duration such as 1.2s, 100ms or 500us`);
  await refused("traces?service=shop&minDuration=2s&maxDuration=1s", "parameter 'minDuration' must not be more than 'maxDuration'");
  await refused("traces?service=shop&tags=x", `parameter 'tags' is "x", not a JSON object of texts, such as {"http.method":"GET"}`);
  await refused("traces?service=shop&tags={%22a%22:{}}", expect.stringContaining("'a' is none"));
  await refused(`traces?service=shop&tags=${"[".repeat(8000)}`, expect.stringContaining("parameter 'tags'"));
  await refused("traces?service=shop&tag=x", `parameter 'tag' is "x", not of the form key:value`);
  await refused(`traces?service=${"x".repeat(8193)}`, "parameter 'service' has more than 8192 characters");
  await refused("traces/xyz", `malformed trace id "xyz": it is 1 to 32 hexadecimal digits`);
  await refused(`traces?${Array.from({ length: 101 }, () => "traceID=1").join("&")}`, "a request may name 100 traces at most, not 101");
  await refused("services/%ff/operations", "the service is not percent-encoded UTF-8");
  await execute(server.url, "CREATE TABLE plain (v DOUBLE, ts TIMESTAMP(3) TIME INDEX)", { headers: ALL });
  await refused("traces?service=shop", "cannot read traces from plain: it has no column trace_id of type string", {
    "x-greptime-trace-table-name": "plain",
  });
});

test("who may not read reads no traces", async () => {
  const status = async (headers: Headers): Promise<number> => (await fetch(`${server.url}/v1/jaeger/api/services`, { headers })).status;
  expect(await status({})).toBe(401);
  expect(await status(account("reader"))).toBe(200);
  expect(await status(account("writer"))).toBe(403);
  const response = await fetch(`${server.url}/v1/jaeger/api/services`, { method: "POST", headers: ALL });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET,HEAD"]);
});
