/** /debug/prof/cpu of a server with several threads: each is in it under a frame of its own. */
import { expect } from "bun:test";
import { standalone } from "../support/cluster/standalone.ts";
import { TestServer } from "../support/server-process.ts";

const { test } = standalone("ingest threads");

/** Enough new connections to meet both threads. */
const CONNECTIONS = 30;

test("ingest threads are in a CPU profile, beside the main one", async () => {
  await using server = await TestServer.start({ config: "[ingest]\nthreads = 2\n" });
  const lines = Array.from({ length: 2000 }, (_, i) => `m,host=h${i} f=${i} ${i + 1}`).join("\n");
  let isOver = false;
  const writing = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) {
      const headers = { connection: "close" };
      const answer = await fetch(`${server.url}/v1/influxdb/write`, { method: "POST", body: lines, headers });
      expect(await answer.text().then(() => answer.status)).toBe(204);
    }
  });
  const response = await fetch(`${server.url}/debug/prof/cpu?seconds=2&frequency=500&output=text`, { method: "POST" });
  const text = await response.text();
  isOver = true;
  await Promise.all(writing);
  expect(text.split("\n")[0]).toStartWith("CPU of all threads but those of flushes, merges and long calls: cpu in nanoseconds, over 2.");
  for (const thread of ["main", "ingest-1"]) expect(text).toMatch(new RegExp(`thread ${thread}$`, "m"));
});
