import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../../../../test/support/server-process.ts";
import { INT64, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { encodeArrowBatch, encodeArrowEnd, encodeArrowSchema } from "../../../format/arrow/encode-stream.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, h STRING PRIMARY KEY, v INT DEFAULT 7, w DOUBLE)");
}, 60_000);
afterAll(async () => {
  await server.end();
});

async function sql(statement: string): Promise<string> {
  const response = await fetch(`${server.url}/v1/sql?format=csv`, { method: "POST", body: new URLSearchParams({ sql: statement }) });
  return await response.text();
}

/** A stream of rows of a time, a host, and a whole number under some name. */
function stream(name: string, rows: readonly (readonly Scalar[])[]): Uint8Array<ArrayBuffer> {
  const headers = [
    { name: "ts", type: TIMESTAMP_MILLISECOND },
    { name: "h", type: STRING },
    { name, type: INT64 },
  ];
  const vectors = headers.map(({ type }, i) =>
    vectorOf(
      type,
      rows.map((row) => row[i]),
    ),
  );
  const batch = encodeArrowBatch(headers, { rowCount: rows.length, vectors }, "zstd");
  return new Uint8Array(Buffer.concat([encodeArrowSchema(headers), batch, encodeArrowEnd()]));
}

async function write(query: string, body: Uint8Array<ArrayBuffer> | string): Promise<readonly [number, string]> {
  const response = await fetch(`${server.url}/v1/arrow/write?${query}`, { method: "POST", body });
  return [response.status, await response.text()];
}

test("rows go into a table by name of column, cast to its types; columns that are missing have their defaults", async () => {
  const rows = [
    [1n, "a", 5],
    [2n, "b", undefined],
  ] as const;
  expect(await write("table=t", stream("w", rows))).toEqual([200, '{"code":0,"output":[{"affectedrows":2}]}']);
  expect(await write("table=t&db=public", stream("v", [[3n, "c", 300]]))).toEqual([200, '{"code":0,"output":[{"affectedrows":1}]}']);
  expect(await sql("SELECT h, v, w FROM t ORDER BY ts")).toBe("a,7,5.0\r\nb,7,\r\nc,300,\r\n");
});

test("what cannot be written is refused, and nothing of it is there", async () => {
  const check = async (query: string, body: Uint8Array<ArrayBuffer> | string, code: number, want: string): Promise<void> => {
    const [status, text] = await write(query, body);
    expect([status, text]).toEqual([400, expect.stringContaining(`"code":${code}`)]);
    expect(text).toContain(want);
  };
  const whole = stream("v", [[9n, "x", 1]]);
  await check("", whole, 1004, "the parameter table is missing");
  await check("table=none", whole, 4001, "none");
  await check("table=t&db=nowhere", whole, 4004, "nowhere");
  await check("table=t", stream("strange", [[9n, "x", 1]]), 4002, "strange");
  await check("table=t", stream("v", [[9n, "x", 2 ** 40]]), 3001, "1099511627776");
  await check("table=t", "", 1004, "no schema");
  await check("table=t", "no arrow at all", 1004, "");
  for (let length = 1; length < whole.length - 8; length += 9) expect((await write("table=t", whole.slice(0, length)))[0]).toBe(400);
  expect(await sql("SELECT count(*) FROM t WHERE h = 'x'")).toBe("0\r\n");
});
