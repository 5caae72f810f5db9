/**
 * What is no good, at every write door: broken bodies of each form, and messages that say what cannot be kept. Each gets the status that
 * makes a client of its protocol drop or cut the batch, in the protocol's own shape; good records are kept where the protocol knows it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bytesField, sampleMessage, textField } from "../support/prometheus/messages.ts";
import { type Cell, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { type Door, DOORS, fixed64, lokiMessage, otlpLogMessage, otlpMetricMessage, otlpSpanMessage } from "./doors.ts";

const MIB = 1024 * 1024;
const BODY_LIMIT = 40 * MIB;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ config: `[http]\nbody_limit = "40MiB"\n` });
});
afterAll(async () => {
  await server.end();
});

interface Sent {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function post(
  door: Door,
  body: string | Uint8Array<ArrayBuffer>,
  { query = "", headers = {} }: Sent = {},
): Promise<readonly [number, string, Headers]> {
  const glue = query === "" ? "" : door.path.includes("?") ? "&" : "?";
  const response = await fetch(`${server.url}${door.path}${glue}${query}`, {
    method: "POST",
    headers: { ...door.headers, ...headers },
    body,
  });
  return [response.status, await response.text(), response.headers];
}

/** The reason that an answer gives, once it has the shape that its protocol has. */
function reasonOf({ shape }: Door, text: string, headers: Headers): string {
  expect(headers.get("content-type")).toMatch(/^application\/json/);
  const body: unknown = JSON.parse(text);
  if (shape === "splunk") {
    expect(body).toEqual({ text: expect.any(String), code: expect.any(Number) });
    return (body as { text: string }).text;
  }
  if (shape === "bulk") {
    const error = { type: expect.any(String), reason: expect.any(String) };
    expect(body).toEqual({ took: expect.any(Number), errors: true, items: [{ create: { status: 400, error } }] });
    expect(headers.get("x-elastic-product")).toBe("Elasticsearch");
    return (body as { items: { create: { error: { reason: string } } }[] }).items[0]?.create.error.reason ?? "";
  }
  expect(Object.keys(body as object)).toContain("error");
  return (body as { error: string }).error;
}

async function checkRefused(door: Door, body: string | Uint8Array<ArrayBuffer>, reason: RegExp, sent: Sent = {}): Promise<void> {
  const [status, text, headers] = await post(door, body, sent);
  expect([door.name, status, text.slice(0, 500)]).toEqual([door.name, 400, expect.any(String)]);
  expect(reasonOf(door, text, headers)).toMatch(reason);
}

async function checkRows(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql)).rows).toEqual(want);
}

function doorOf(name: string): Door {
  const found = DOORS.find((door) => door.name === name);
  if (found === undefined) throw new Error(`no door ${name}`);
  return found;
}

const CUT_REASON: Readonly<Record<Door["form"], RegExp>> = {
  snappy: /^(?:Failed to decode (?:prometheus remote request|Loki push): .*snappy block)/,
  protobuf: /^Failed to decode OTLP request: a length of \d+ where \d+ bytes are left/,
  json: /ends inside|EOF while parsing|invalid JSON at index: 0/,
  lines: /./,
};
/** Doors whose body the client compresses by its content type alone: the coding in the header is not looked at. */
const OWN_CODING: readonly string[] = ["remote write 1.0", "remote write 2.0"];

describe.each(DOORS.map((door) => [door.name, door] as const))("%s", (_, door) => {
  test("takes its good request", async () => {
    const [status, text] = await post(door, door.body);
    expect([status < 300, text]).toEqual([true, expect.any(String)]);
    await checkRows(`SELECT count(*) FROM ${door.table}`, [[1]]);
  });

  if (door.form !== "lines")
    test("refuses a message that is cut", async () => {
      await checkRefused(door, door.body.slice(0, door.body.length / 2), CUT_REASON[door.form]);
    });

  if (door.form === "snappy" || door.form === "protobuf")
    test("refuses lengths that lie, and fields of no wire type", async () => {
      await checkRefused(door, door.packed(Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0x7f)), /a length of 268435455 where 0 bytes are left/);
      await checkRefused(door, door.packed(Uint8Array.of(0x0f, 0x00)), /wire type 7 of field 1/);
    });

  if (door.form === "snappy")
    test("refuses blocks that are none, and lengths of blocks that no bytes can have", async () => {
      await checkRefused(door, "no block at all", /snappy block/);
      const [status] = await post(door, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0));
      expect(status === 400 || status === 413).toBe(true);
    });

  if (door.form === "json")
    test("refuses JSON of a thousand levels", async () => {
      for (const deep of ['{"a":'.repeat(1000), `${"[".repeat(1000)}${"]".repeat(1000)}`]) {
        await checkRefused(door, deep, /(?:deeper than|more than) 128 levels/);
      }
    });

  if (door.form === "json" || door.form === "lines")
    test("does not let bytes in that are no text", async () => {
      const noise = Uint8Array.from({ length: 3000 }, (__, i) => Math.imul(i + 1, 2_654_435_761) >>> 24);
      await checkRefused(door, noise, /UTF-8|expected value at line 1|control character|Invalid data format/);
    });

  if (!OWN_CODING.includes(door.name))
    test("refuses gzip that is none or cut, in its own shape; a bomb is 413", async () => {
      const headers = { "content-encoding": "gzip" };
      await checkRefused(door, door.body, /^cannot decode the gzip body: /, { headers });
      await checkRefused(door, Bun.gzipSync(door.body).slice(0, -6), /^cannot decode the gzip body: /, { headers });
      const bomb = Bun.gzipSync(new Uint8Array(BODY_LIMIT + 1), { level: 1 });
      expect((await post(door, bomb, { headers })).slice(0, 2)).toEqual([413, "Failed to buffer the request body: length limit exceeded"]);
    });

  test("refuses a database that does not exist", async () => {
    await checkRefused(door, door.body, /^database not found: nowhere$/, { query: "db=nowhere" });
  });

  test("is still there, with its one row", async () => {
    await checkRows(`SELECT count(*) FROM ${door.table}`, [[1]]);
  });
});

test.each([
  ["remote write 1.0", 415, /unsupported prometheus remote write content type: application\/xml/],
  ["remote write 2.0", 415, /unsupported prometheus remote write content type: application\/xml/],
  ["Loki protobuf", 400, /Unsupported content type: application\/xml/],
  ["Loki JSON", 400, /Unsupported content type: application\/xml/],
  ["JSON through a pipeline", 400, /invalid content type: application\/xml, expected: one of application\/json/],
  ["Elasticsearch", 200, /"errors":false/],
  ["OTLP logs", 200, /^$/],
  ["OpenTSDB", 204, /^$/],
  ["InfluxDB", 204, /^$/],
  ["Splunk raw", 200, /Success/],
] as const)("another content type at %s is %d", async (name, status, text) => {
  const [got, answer] = await post(doorOf(name), doorOf(name).body, { headers: { "content-type": "application/xml" } });
  expect([got, answer]).toEqual([status, expect.stringMatching(text)]);
});

describe("remote write, which keeps all of a request or nothing", () => {
  type Labels = readonly (readonly [string, string | readonly number[]])[];
  const series = (labels: Labels, sample: readonly number[] = sampleMessage(5, 1)): number[] => {
    const sent = labels.flatMap(([name, value]) =>
      bytesField(1, [...textField(1, name), ...(typeof value === "string" ? textField(2, value) : bytesField(2, value))]),
    );
    return bytesField(1, [...sent, ...bytesField(2, sample)]);
  };
  const good = series([["__name__", "atomic"]]);

  test.each<readonly [what: string, bad: readonly number[], reason: RegExp]>([
    ["a metric without a name", series([["job", "a"]]), /no metric name/],
    [
      "a label without a name",
      series([
        ["__name__", "atomic"],
        ["", "a"],
      ]),
      /Invalid label name: ``/,
    ],
    [
      "a label twice",
      series([
        ["__name__", "atomic"],
        ["a", "1"],
        ["a", "2"],
      ]),
      /the label a occurs twice/,
    ],
    [
      "a label that is not UTF-8",
      series([
        ["__name__", "atomic"],
        ["a", [0xff]],
      ]),
      /is not UTF-8/,
    ],
    [
      "labels of 200 kB",
      series([
        ["__name__", "atomic"],
        ["a", "x".repeat(200_000)],
      ]),
      /take 200015 bytes; at most 65535/,
    ],
    [
      "a sample in the year 292 million",
      series([["__name__", "atomic"]], [0x10, ...Array(8).fill(0xff), 0x7f]),
      /a sample's time 9223372036854775807/,
    ],
    [
      "a native histogram",
      bytesField(1, [...bytesField(1, [...textField(1, "__name__"), ...textField(2, "atomic")]), ...bytesField(4, [])]),
      /native histogram/,
    ],
    [
      "a database that does not exist",
      series([
        ["__name__", "atomic"],
        ["__database__", "nowhere"],
      ]),
      /Database not found: nowhere/,
    ],
  ])("%s", async (_, bad, reason) => {
    const door = doorOf("remote write 1.0");
    await checkRefused(door, door.packed(Uint8Array.from([...good, ...bad])), reason);
    await checkRows("SELECT count(*) FROM information_schema.tables WHERE table_name = 'atomic'", [[0]]);
  });
});

describe("protocols that keep the good records", () => {
  const LAST = fixed64(2n ** 64n - 1n);

  test("OTLP: partial success", async () => {
    const partial = async (name: string, messages: readonly Uint8Array[], headers: Readonly<Record<string, string>>): Promise<string> => {
      const [status, text] = await post(doorOf(name), new Uint8Array(Buffer.concat(messages)), { headers });
      expect(status).toBe(200);
      return text;
    };
    const logs = { "x-greptime-log-table-name": "kept_otlp" };
    expect(await partial("OTLP logs", [otlpLogMessage("good"), otlpLogMessage("late", LAST)], logs)).toContain("beyond what 64 bits hold");
    expect(await partial("OTLP logs", [otlpLogMessage("good"), otlpLogMessage(new Uint8Array(17 * MIB).fill(0x61))], logs)).toContain(
      "16777216 bytes",
    );
    expect(await partial("OTLP logs", [otlpLogMessage(Uint8Array.of(0xff, 0x61))], logs)).toBe("");
    await checkRows("SELECT body, count(*) FROM kept_otlp GROUP BY body ORDER BY body", [
      ["good", 2],
      ["\ufffda", 1],
    ]);
    const spans = { "x-greptime-trace-table-name": "kept_spans" };
    expect(await partial("OTLP traces", [otlpSpanMessage("good"), otlpSpanMessage("late", LAST)], spans)).toContain("rejected 1 spans");
    await checkRows("SELECT span_name FROM kept_spans", [["good"]]);
    expect(await partial("OTLP metrics", [otlpMetricMessage("kept_gauge"), otlpMetricMessage("")], {})).toContain("can be no table's name");
    await checkRows("SELECT count(*) FROM kept_gauge", [[1]]);
  });

  test("OTLP: values of a thousand levels are refused, in protobuf and in JSON", async () => {
    let deep = textField(1, "x");
    for (let i = 0; i < 1000; i++) deep = bytesField(5, bytesField(1, deep));
    const record = [0x09, ...fixed64(9n), ...bytesField(5, deep)];
    const message = Uint8Array.from(bytesField(1, bytesField(2, bytesField(2, record))));
    await checkRefused(doorOf("OTLP logs"), message, /nest more than 64 levels/);
    const body = `${'{"arrayValue":{"values":['.repeat(1000)}${"]}}".repeat(1000)}`;
    const json = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":${body}}]}]}]}`;
    await checkRefused(doorOf("OTLP logs"), json, /nests too deep/, { headers: { "content-type": "application/json" } });
  });

  test("Loki: what is malformed is left out, what cannot be kept is told", async () => {
    const door = doorOf("Loki protobuf");
    const headers = { "x-greptime-log-table-name": "kept_loki" };
    const good = lokiMessage('{job="a"}', "good");
    const push = (...messages: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => door.packed(Buffer.concat(messages));
    await checkRefused(
      door,
      push(good, lokiMessage('{job="a"}', "x", 2 ** 52)),
      /^cannot keep 1 of 2 entries \(1 are kept\): a timestamp/,
      { headers },
    );
    expect((await post(door, push(good, lokiMessage('{job="a"}', [0xff]), lokiMessage("{=}", "plain")), { headers }))[0]).toBe(200);
    await checkRows("SELECT job, line, count(*) FROM kept_loki GROUP BY job, line ORDER BY line", [
      ["a", "good", 2],
      [null, "plain", 1],
      ["a", "\ufffd", 1],
    ]);
    const json = doorOf("Loki JSON");
    const values = `[["1","good"],["92233720368547758070","x"],["soon","y"],[1,"z"],["1"]]`;
    const jsonHeaders = { "x-greptime-log-table-name": "kept_loki_json" };
    expect((await post(json, `{"streams":[{"stream":{"job":"a"},"values":${values}},7]}`, { headers: jsonHeaders }))[0]).toBe(200);
    const long = `{"streams":[{"stream":{},"values":[["2","fine"],["3","${"x".repeat(17 * MIB)}"]]}]}`;
    await checkRefused(json, long, /^cannot keep 1 of 2 entries \(1 are kept\): a line has 17825792 bytes/, { headers: jsonHeaders });
    await checkRows("SELECT line FROM kept_loki_json ORDER BY line", [["fine"], ["good"]]);
  });

  test("OpenTSDB: bad points are named, by number or with details", async () => {
    const door = doorOf("OpenTSDB");
    const point = (tag: string, timestamp: string): string => `{"metric":"kept_tsdb","timestamp":${timestamp},"value":1,"tags":${tag}}`;
    const points = [
      point('{"h":"good"}', "1"),
      point("{}", "9223372036854775807"),
      point('{"":"x"}', "2"),
      '{"metric":"","timestamp":2,"value":1,"tags":{}}',
    ];
    await checkRefused(
      door,
      `[${points.join(",")}]`,
      /data point 2: `timestamp` is out of range; data point 3: .*; data point 4: empty metric name \(3 of 4/,
    );
    const [status, text] = await post(door, `[${points.join(",")}]`, { query: "details" });
    expect([status, JSON.parse(text)]).toEqual([
      400,
      { success: 1, failed: 3, errors: [expect.anything(), expect.anything(), expect.anything()] },
    ]);
    await checkRows("SELECT h, greptime_value FROM kept_tsdb", [["good", 1]]);
  });

  test("InfluxDB: bad lines are named", async () => {
    const door = doorOf("InfluxDB");
    const late = "kept_influx v=1 1\nkept_influx v=2 9223372036854775807";
    await checkRefused(door, late, /beyond 64-bit nanoseconds at line 2.*partial write: 1 rows/s, { query: "precision=s" });
    const long = `kept_influx v=2 2\nkept_influx s="${"x".repeat(17 * MIB)}" 3`;
    await checkRefused(door, long, /a text is longer than 16777216 bytes/, { query: "precision=s" });
    await checkRows("SELECT v FROM kept_influx ORDER BY v", [[1], [2]]);
  });

  test("pipelines: with ignore_errors and skip_error the good items, else none", async () => {
    const ndjson = doorOf("NDJSON through a pipeline");
    const at = (table: string): Door => ({ ...ndjson, path: ndjson.path.replace("door_ndjson", table) });
    const broken = '{"a":1}\n{"a":\n{"a":3}\n';
    await checkRefused(at("kept_lines"), broken, /invalid JSON at index: 1/);
    expect((await post(at("kept_lines"), broken, { query: "ignore_errors=true" }))[0]).toBe(200);
    await checkRows("SELECT a FROM kept_lines ORDER BY a", [[1], [3]]);
    const mixed = '{"a":1}\n{"a":"x"}\n';
    await checkRefused(
      at("kept_types"),
      mixed,
      /^Column datatype mismatch\. For column: a, expected datatype: Int64, actual datatype: String$/,
    );
    expect((await post(at("kept_types"), mixed, { query: "skip_error=true" }))[0]).toBe(200);
    await checkRows("SELECT a FROM kept_types", [[1]]);
    const [status, text] = await post(doorOf("JSON through a pipeline"), "[1]");
    expect([status, JSON.parse(text)]).toEqual([400, { error: "Top level value must be map" }]);
    await checkRefused(doorOf("text through a pipeline"), `ok\n${"x".repeat(17 * MIB)}\n`, /line 2 has 17825792 characters/);
  });

  test("Splunk and Elasticsearch: one bad event refuses the batch", async () => {
    const events = doorOf("Splunk events");
    await checkRefused(events, '{"event":"a","time":1}{"event":"b","time":9223372036854775807}', /^Invalid data format$/);
    await checkRefused(events, `{"event":"a"}{"event":"${"x".repeat(17 * MIB)}"}`, /at most 16777216/);
    await checkRefused(doorOf("Splunk raw"), "x".repeat(17 * MIB), /^an event has more than 16777216 bytes/);
    await checkRefused(doorOf("Splunk raw"), "ab".repeat(1_000_001), /^more than 1000000 events/, { query: "linebreaker=b" });
    await checkRefused(doorOf("Elasticsearch"), '{"create":{}}\n{"a":1}\n{"create":{}}\n[1]\n', /value 4 is no document/);
    for (const table of ["door_events", "door_raw", "door_bulk"]) await checkRows(`SELECT count(*) < 3 FROM ${table}`, [[true]]);
  });
});

test("after all that the server has had no trouble of its own, and stops as it should", async () => {
  expect(server.log()).not.toContain('"level":"error"');
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  expect((await server.stop()).status).toBe(0);
});
