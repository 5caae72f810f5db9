/** Logs with ingest threads: the built-in pipeline runs on any of them, stored ones on the main thread, and no client sees which. */
import { expect, test } from "bun:test";
import { queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const PIPELINE = `
processors:
  - epoch:
      field: ts
      resolution: ms
transform:
  - field: n
    type: int64
  - field: ts
    type: time, ms
    index: time
`;

test("each connection may store, use and see pipelines, and all rows are there", async () => {
  const server = await TestServer.start({ config: "[ingest]\nthreads = 3\n" });
  try {
    const send = async (path: string, body: string, type: string): Promise<void> => {
      const headers = { "content-type": type, connection: "close" }; // A new connection each: any thread may get it.
      const response = await fetch(`${server.url}/v1/${path}`, { method: "POST", body, headers });
      expect([path, response.status, response.ok ? "" : await response.text()]).toEqual([path, 200, ""]);
    };
    await send("pipelines/counted", PIPELINE, "application/yaml");
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        await send("ingest?table=named&pipeline_name=counted", `{"n":${n},"ts":${n}}`, "application/json");
        await send("ingest?table=found&pipeline_name=greptime_identity", `{"n":${n},"c${n % 4}":"x"}`, "application/json");
        await send("splunk/services/collector/event", `{"event":"e","host":"h${n}","time":${n}}`, "application/json");
        await send("elasticsearch/bulk_table/_bulk", `{"create":{}}\n{"n":${n}}\n`, "application/x-ndjson");
      }),
    );
    for (const table of ["named", "found", "splunk_logs", "bulk_table"]) {
      expect([table, (await queryRows(server.url, `SELECT count(*) FROM ${table}`)).rows]).toEqual([table, [[20]]]);
    }
  } finally {
    await server.end();
  }
});
