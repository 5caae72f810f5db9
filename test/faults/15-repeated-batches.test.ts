/**
 * Fault 15: connections that are cut, bodies that trickle, and batches that clients send again because they heard no answer. A repeated
 * batch changes nothing; one that was cut off is not there, or is there whole. Cut and slow bodies: `test/process/bad-input.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execute, queryRows, writeLines } from "../support/http-client.ts";
import { openRequest } from "../support/raw-request.ts";
import { TestServer } from "../support/server-process.ts";

const ROWS = 1000;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

function linesOf(batch: number, table = "again"): string {
  return Array.from({ length: ROWS }, (_, i) => `${table},host=h${i % 7},batch=b${batch} v=${i}i ${batch * ROWS + i}`).join("\n");
}

async function countOf(table = "again"): Promise<readonly unknown[] | undefined> {
  return (await queryRows(server.url, `SELECT count(*), sum(v) FROM ${table}`)).rows[0];
}

const want = (batches: number): readonly number[] => [batches * ROWS, (batches * ROWS * (ROWS - 1)) / 2];

describe("a batch that is sent again", () => {
  test("changes nothing: in memory, beside files, after a kill, all at once", async () => {
    await writeLines(server.url, linesOf(0));
    await writeLines(server.url, linesOf(0));
    expect(await countOf()).toEqual(want(1));
    await execute(server.url, "ADMIN flush_table('again')");
    await writeLines(server.url, linesOf(0));
    expect(await countOf()).toEqual(want(1));
    await execute(server.url, "ADMIN flush_table('again')");
    expect(await countOf()).toEqual(want(1));
    await writeLines(server.url, linesOf(0));
    await server.kill();
    await server.restart();
    expect(await countOf()).toEqual(want(1));
    await Promise.all(Array.from({ length: 8 }, () => writeLines(server.url, linesOf(1))));
    expect(await countOf()).toEqual(want(2));
    await execute(server.url, "ADMIN flush_table('again')");
    await execute(server.url, "ADMIN compact_table('again')");
    expect(await countOf()).toEqual(want(2));
  });
});

describe("a connection that is cut", () => {
  test("anywhere in a request leaves the batch whole or absent, and the batch sent again makes it whole", async () => {
    const lines = linesOf(0, "cut");
    const steps = 20;
    for (let n = 0; n <= steps; n++) {
      const request = await openRequest(server.url, "POST /v1/influxdb/write", { "content-length": String(lines.length) });
      request.write(lines.slice(0, Math.floor((lines.length * n) / steps)));
      if (n % 2 === 0) await queryRows(server.url, "SELECT 1"); // A turn, in which the server has seen it.
      request.close();
    }
    const tables = (await queryRows(server.url, "SHOW TABLES")).rows.flat();
    const allowed: readonly (readonly unknown[] | undefined)[] = [[0, null], want(1)]; // A table may be made and its rows on their way.
    if (tables.includes("cut")) expect(allowed).toContainEqual(await countOf("cut"));
    await writeLines(server.url, lines);
    expect(await countOf("cut")).toEqual(want(1));
    expect(server.log()).not.toMatch(/"level":"error"/);
  });
});
