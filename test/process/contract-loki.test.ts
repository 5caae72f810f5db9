/** Loki's pushes through a real server, as the contract shows the table. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { compress } from "snappyjs";
import { queryRows } from "../support/http-client.ts";
import { bytesField, textField, varint } from "../support/prometheus/messages.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

const DDL = (table: string): string =>
  [
    `CREATE TABLE IF NOT EXISTS "${table}" (`,
    '  "greptime_timestamp" TIMESTAMP(9) NOT NULL,',
    '  "line" STRING NULL,',
    '  "structured_metadata" JSON NULL,',
    '  "service" STRING NULL,',
    '  "source" STRING NULL,',
    '  "wadaxi" STRING NULL,',
    '  TIME INDEX ("greptime_timestamp"),',
    '  PRIMARY KEY ("service", "source", "wadaxi")',
    ")",
    "",
    "ENGINE=mito",
    "WITH(",
    "  append_mode = 'true',",
    "  'comment' = 'Created on insertion',",
    "  'greptime.semantic.signal_type' = 'log',",
    "  'greptime.semantic.source' = 'loki'",
    ")",
  ].join("\n");
const ROWS: unknown = [
  [1731748568804293888n, "first", { key1: "value1", key2: "value2" }, "test", "integration", "do anything"],
  [1731748568804293889n, "second", {}, "test", "integration", "do anything"],
];

async function push(body: Uint8Array | string, headers: Readonly<Record<string, string>>): Promise<void> {
  const sent = typeof body === "string" ? body : new Uint8Array(body);
  const response = await fetch(`${server.url}/v1/loki/api/v1/push`, { method: "POST", body: sent, headers });
  expect([response.status, await response.json()]).toEqual([200, { output: [{ affectedrows: 2 }], execution_time_ms: expect.any(Number) }]);
}

async function checkTable(table: string): Promise<void> {
  expect((await queryRows(server.url, `SHOW CREATE TABLE ${table}`)).rows).toEqual([[table, DDL(table)]]);
  expect((await queryRows(server.url, `SELECT * FROM ${table} ORDER BY greptime_timestamp`)).rows as unknown).toEqual(ROWS);
}

test("protobuf in a snappy block: the lines of a stream with its labels", async () => {
  const entry = (nanos: number, line: string, metadata: readonly (readonly [string, string])[]): number[] => {
    const time = [0x08, ...varint(1731748568), 0x10, ...varint(nanos)];
    const pairs = metadata.flatMap(([name, value]) => bytesField(3, [...textField(1, name), ...textField(2, value)]));
    return bytesField(2, [...bytesField(1, time), ...textField(2, line), ...pairs]);
  };
  const metadata = [
    ["key1", "value1"],
    ["key2", "value2"],
  ] as const;
  const labels = textField(1, '{service="test",source="integration",wadaxi="do anything"}');
  const stream = bytesField(1, [...labels, ...entry(804293888, "first", metadata), ...entry(804293889, "second", [])]);
  const headers = { "content-type": "application/x-protobuf", "content-encoding": "snappy", "x-greptime-log-table-name": "pushed" };
  await push(compress(Uint8Array.from(stream)), headers);
  await checkTable("pushed");
});

test("JSON in gzip: the same", async () => {
  const stream = { wadaxi: "do anything", source: "integration", service: "test" };
  const values = [
    ["1731748568804293888", "first", { key1: "value1", key2: "value2" }],
    ["1731748568804293889", "second"],
  ];
  const body = Bun.gzipSync(Buffer.from(JSON.stringify({ streams: [{ stream, values }] })));
  await push(body, { "content-type": "application/json", "content-encoding": "gzip", "x-greptime-log-table-name": "pushed_json" });
  await checkTable("pushed_json");
});

test("without a header the table is loki_logs; new labels come behind, missing ones are NULL", async () => {
  const body = (stream: Readonly<Record<string, string>>): string => {
    return JSON.stringify({
      streams: [
        {
          stream,
          values: [
            ["1", "a"],
            ["2", "b"],
          ],
        },
      ],
    });
  };
  await push(body({ job: "one" }), { "content-type": "application/json" });
  await push(body({ app: "two" }), { "content-type": "application/json" });
  const { columns, rows } = await queryRows(server.url, "SELECT * FROM loki_logs WHERE line = 'a' ORDER BY job NULLS LAST");
  expect(columns).toEqual(["greptime_timestamp", "line", "structured_metadata", "job", "app"]);
  expect(rows.map((row) => row.slice(3))).toEqual([
    ["one", null],
    [null, "two"],
  ]);
});
