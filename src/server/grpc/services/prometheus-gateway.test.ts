import { afterAll, beforeAll, expect, test } from "bun:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { GreptimeDatabase } from "../../../../proto/gen/greptime/v1/database_pb.js";
import { PrometheusGateway, type PromqlRequestSchema } from "../../../../proto/gen/greptime/v1/prom_pb.js";
import { type GrpcFixture, GrpcClient, startGrpc } from "../../../../test/support/grpc-fixture.ts";

let server: GrpcFixture;
let client: GrpcClient;
const authorization = { authScheme: { case: "basic" as const, value: { username: "alice", password: "secret" } } };

beforeAll(async () => {
  server = await startGrpc("static_user_provider:cmd:alice=secret");
  client = new GrpcClient(server.port);
  const schema = [
    { columnName: "host", datatype: 12, semanticType: 0 },
    { columnName: "ts", datatype: 16, semanticType: 2 },
    { columnName: "x", datatype: 10, semanticType: 1 },
  ];
  const rows = [0, 1, 2].map((i) => ({
    values: [
      { valueData: { case: "stringValue" as const, value: "a" } },
      { valueData: { case: "timestampMillisecondValue" as const, value: BigInt(i * 1000) } },
      { valueData: { case: "f64Value" as const, value: i + 0.5 } },
    ],
  }));
  await createClient(GreptimeDatabase, client.transport).handle({
    header: { dbname: "public", authorization },
    request: { case: "rowInserts", value: { inserts: [{ tableName: "asked", rows: { schema, rows } }] } },
  });
});
afterAll(async () => {
  client[Symbol.dispose]();
  await server.stop();
});

type Promql = NonNullable<MessageInitShape<typeof PromqlRequestSchema>["promql"]>;

async function answerTo(promql: Promql): Promise<unknown> {
  const { body } = await createClient(PrometheusGateway, client.transport).handle({ header: { dbname: "public", authorization }, promql });
  return JSON.parse(new TextDecoder().decode(body));
}

const metric = { __name__: "asked", host: "a" };

test("instants and ranges are answered as over HTTP", async () => {
  expect(await answerTo({ case: "instantQuery", value: { query: "asked", time: "1" } })).toEqual({
    status: "success",
    data: { resultType: "vector", result: [{ metric, value: [1, "1.5"] }] },
  });
  expect(await answerTo({ case: "rangeQuery", value: { query: "asked", start: "0", end: "2", step: "1s", lookback: "1s" } })).toEqual({
    status: "success",
    data: {
      resultType: "matrix",
      result: [
        {
          metric,
          values: [
            [0, "0.5"],
            [1, "1.5"],
            [2, "2.5"],
          ],
        },
      ],
    }, // prettier-ignore
  });
  expect(await answerTo({ case: "instantQuery", value: { query: "nothing_here" } })).toMatchObject({ data: { result: [] } });
});

test("what is wrong with a query stands in the answer", async () => {
  const check = async (promql: Promql, errorType: string, error: RegExp): Promise<void> => {
    expect(await answerTo(promql)).toEqual({ status: "error", errorType, error: expect.stringMatching(error) });
  };
  await check({ case: "instantQuery", value: { query: "sum(" } }, "bad_data", /^invalid parameter "query": /);
  await check({ case: "instantQuery", value: { query: "asked", time: "noon" } }, "bad_data", /cannot parse "noon" to a valid timestamp/);
  await check({ case: "rangeQuery", value: { query: "asked", start: "2", end: "1", step: "1" } }, "bad_data", /before start time/);
  await check({ case: "rangeQuery", value: { query: "asked", start: "1", end: "2", step: "0" } }, "bad_data", /step/);
  await check({ case: "rangeQuery", value: { query: "asked", start: "0", end: "1e6", step: "1" } }, "bad_data", /exceeded maximum/);
});

test("who may not sign in is told by a status", async () => {
  const calls = createClient(PrometheusGateway, client.transport);
  const failed = await calls.handle({ header: { dbname: "public" } }).catch((thrown: unknown) => ConnectError.from(thrown));
  expect(failed).toMatchObject({ code: Code.Unauthenticated });
});
