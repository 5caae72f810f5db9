/** The dry run of line protocol. */
import { afterAll, expect, test } from "bun:test";
import { TestServer } from "../../../../../test/support/server-process.ts";

const server = await TestServer.start({});
afterAll(() => server.end());

async function dryRun(lines: string, query = ""): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${server.url}/v1/influxdb/_dryrun${query}`, { method: "POST", body: lines });
  return { status: answer.status, body: await answer.json() };
}

test("shows rows and refused lines, writes nothing", async () => {
  const { status, body } = await dryRun("m,a=1 f=1.5,n=9223372036854775807i 7\nm f=x 8\nm,b=2 f=2 9\n", "?precision=s");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    rowCount: 2,
    errorCount: 1,
    errors: [{ line: 2 }],
    tables: [
      {
        table: "m",
        rows: [
          ["7000000000", "1", null, "1.5", "9223372036854775807"],
          ["9000000000", null, "2", "2", null],
        ],
        rowCount: 2,
      },
    ],
  });
  const answer = await fetch(`${server.url}/v1/sql?sql=${encodeURIComponent("SELECT * FROM m")}`);
  expect(await answer.json()).toMatchObject({ code: 4001 });
});

test("sees what is there: a text for a number is refused before it is written", async () => {
  await fetch(`${server.url}/v1/influxdb/write`, { method: "POST", body: "known f=1 1" });
  const { body } = await dryRun('known f="text" 2');
  expect(body).toMatchObject({ errorCount: 1, rowCount: 0 });
});

test("an unknown unit is refused", async () => {
  expect((await dryRun("m f=1", "?precision=year")).status).toBe(400);
});
