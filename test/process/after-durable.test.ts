/**
 * What fails in a real server once a record is on disk ends the process with one line in its log, on whatever thread it happens; the next
 * start has every acknowledged row.
 */
import { afterEach, expect } from "bun:test";
import { FAIL_POINTS_VARIABLE } from "../../src/base/process/fail-point.ts";
import { standalone } from "../support/cluster/standalone.ts";
import { TestServer } from "../support/server-process.ts";

const { test } = standalone("its log fails, and its threads");

const TEST_MS_MAX = 60_000;
const LAST_WORDS = "a broken invariant: stopping, since the state in memory can no longer be trusted";

let server: TestServer | undefined;

afterEach(async () => {
  await server?.end();
  server = undefined;
});

/** Writes on a connection of its own each, some at a time, until one breaks. Returns the numbers that were acknowledged. */
async function writeUntilBroken(base: string): Promise<number[]> {
  const acknowledged: number[] = [];
  let next = 0;
  let isBroken = false;
  const writer = async (): Promise<void> => {
    while (!isBroken) {
      const i = next++;
      const init = { method: "POST", body: `cpu,host=h${i % 7} v=${i}i ${i + 1}`, keepalive: false };
      const status = await fetch(`${base}/v1/influxdb/write`, init).then(
        (answer) => answer.status,
        () => undefined,
      );
      if (status === 204) acknowledged.push(i);
      else isBroken = true;
    }
  };
  await Promise.all(Array.from({ length: 4 }, writer));
  return acknowledged;
}

async function valuesOf(base: string): Promise<Set<number>> {
  const answer = await fetch(`${base}/v1/sql?format=csv&sql=${encodeURIComponent("SELECT v FROM cpu")}`);
  expect(answer.status).toBe(200);
  return new Set((await answer.text()).trim().split("\n").map(Number));
}

test.each([
  ["the main thread", 1, "write.durable=error:20", "the rows of a write become visible"],
  ["the main thread, before the sync", 1, "write.appended=error:20", "a record is appended to the log"],
  ["an ingest thread", 2, "thread.durable=error:20", "the owner is told of a write"],
])(
  "a failure on %s ends the process with one line, and all that was acknowledged is there",
  async (_, threads, armed, what) => {
    const config = `[ingest]\nthreads = ${threads}\n`;
    server = await TestServer.start({ config, env: { [FAIL_POINTS_VARIABLE]: armed } });
    const acknowledged = await writeUntilBroken(server.url);
    expect((await server.running.ended()).status).toBe(1);
    const lines = server.log().split("\n");
    expect(lines.filter((line) => line.includes(LAST_WORDS))).toHaveLength(1);
    expect(lines.find((line) => line.includes(LAST_WORDS))).toContain(what);
    await server.restart({ config });
    const values = await valuesOf(server.url);
    expect(acknowledged.filter((i) => !values.has(i))).toEqual([]);
  },
  TEST_MS_MAX,
);
