/** The public client of Elasticsearch, as it comes from npm, and what shippers ask before they send. SQL reads the rows back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, HttpConnection } from "@elastic/elasticsearch";
import { type Cell, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

async function check(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql)).rows).toEqual(want);
}

async function bulk(path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly [number, unknown]> {
  const url = `${server.url}/v1/elasticsearch/${path}`;
  const response = await fetch(url, { method: "POST", body, headers: { "content-type": "application/x-ndjson", ...headers } });
  expect(response.headers.get("x-elastic-product")).toBe("Elasticsearch");
  return [response.status, await response.json()];
}

function done(count: number): readonly [number, unknown] {
  return [200, { took: expect.any(Number), errors: false, items: Array.from({ length: count }, () => ({ create: { status: 201 } })) }];
}

function refused(reason: RegExp): readonly [number, unknown] {
  const error = { type: "illegal_argument_exception", reason: expect.stringMatching(reason) };
  return [400, { took: expect.any(Number), errors: true, items: [{ create: { status: 400, error } }] }];
}

describe("@elastic/elasticsearch", () => {
  test("the bulk helper sends documents in several requests, and they are there", async () => {
    // Not the client's own choice, undici: it does not run on Bun.
    const client = new Client({ node: `${server.url}/v1/elasticsearch`, maxRetries: 0, Connection: HttpConnection });
    const documents = Array.from({ length: 500 }, (_, number) => ({ number, host: `h${number % 5}`, message: `line ${number}` }));
    const result = await client.helpers.bulk({
      datasource: documents,
      flushBytes: 4096,
      onDocument: () => ({ create: { _index: "from_client" } }),
      onDrop: ({ error }) => {
        throw new Error(`a document was dropped: ${JSON.stringify(error)}`);
      },
    });
    expect(result).toMatchObject({ total: 500, successful: 500, failed: 0 });
    await check("SELECT count(*), count(DISTINCT message), max(number) FROM from_client", [[500, 500, 499]]);
    await client.close();
  });
});

describe("_bulk", () => {
  test("the index comes from the action, else from the URL", async () => {
    const body = '{"create":{"_index":"act"}}\n{"a":1}\n{"index":{"_id":"7"}}\n{"a":2}\n{"create":{}}\n';
    expect(await bulk("url/_bulk", body)).toEqual(done(2));
    await check("SELECT a FROM act", [[1]]);
    await check("SELECT a FROM url", [[2]]);
    const [[, ddl] = []] = (await queryRows(server.url, "SHOW CREATE TABLE act")).rows;
    expect(ddl).toContain("'greptime.semantic.source' = 'elasticsearch'");
    expect(ddl).toContain("append_mode = 'true'");
  });

  test("msg_field takes the place of the document", async () => {
    const body = ['{"message":"{\\"b\\":1}"}', '{"message":"plain"}', '{"b":3}'].map((text) => `{"create":{}}\n${text}\n`).join("");
    expect(await bulk("messages/_bulk?msg_field=message", body)).toEqual(done(3));
    await check("SELECT b, message FROM messages ORDER BY b", [
      [1, null],
      [3, null],
      [null, "plain"],
    ]);
  });

  test("what is wrong is told in one item", async () => {
    expect(await bulk("_bulk", '{"create":{}}\n{"a":1}\n')).toEqual(refused(/names no index/));
    expect(await bulk("t/_bulk", '{"delete":{"_id":"1"}}\n')).toEqual(refused(/only 'create' and 'index'/));
    expect(await bulk("t/_bulk", '{"create":{}}\n{"a":\n')).toEqual(refused(/^Failed to parse payload as json/));
    expect(await bulk("t/_bulk?pipeline_name=nobody", '{"create":{}}\n{"a":1}\n')).toEqual(refused(/^Pipeline not found/));
    expect(await bulk("t/_bulk", '{"create":{}}\n{"a":1}\n{"create":{}}\n{"a":"x"}\n')).toEqual(refused(/^Column datatype mismatch/));
    const unknown = await fetch(`${server.url}/v1/elasticsearch/_bulk`, {
      method: "POST",
      body: "x",
      headers: { "content-encoding": "lz4" },
    });
    expect(unknown.status).toBe(415);
  });

  test("shippers find the version, a licence, and trees that need no setting up", async () => {
    for (const path of [
      "",
      "/",
      "/_license",
      "/_ilm/policy/filebeat",
      "/_index_template/a",
      "/_nodes/http",
      "/_logstash/pipeline",
      "/_ingest/pipeline/x",
    ]) {
      const response = await fetch(`${server.url}/v1/elasticsearch${path}`);
      expect([path, response.status, response.headers.get("x-elastic-product")]).toEqual([path, 200, "Elasticsearch"]);
    }
    const head = await fetch(`${server.url}/v1/elasticsearch`, { method: "HEAD" });
    expect(head.status).toBe(200);
  });
});
