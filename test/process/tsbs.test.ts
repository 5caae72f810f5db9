/** Time Series Benchmark Suite: its sample data over HTTP, and its 75 queries against results that were computed elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execute, queryRows, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { batchesOf, HAS_KIT, kitLines, kitQueries, measurementCounts, type TsbsQuery } from "./tsbs-kit.ts";
import { differences } from "./tsbs-result.ts";

const BATCH_LINES = 5000;
const CONNECTIONS = 2;
const TEST_MS_MAX = 60_000;

describe.skipIf(!HAS_KIT)(HAS_KIT ? "TSBS" : "TSBS (skipped: ../shared/tsbs is not beside the repository)", () => {
  let server: TestServer;
  let queries: readonly TsbsQuery[];
  let cpuBatches: readonly Uint8Array[];

  beforeAll(async () => {
    queries = await kitQueries();
    cpuBatches = batchesOf(await kitLines("cpu-only-10x24h"), BATCH_LINES);
    server = await TestServer.start();
  }, TEST_MS_MAX);

  afterAll(async () => {
    await server.end();
  });

  async function load(batches: readonly Uint8Array[], db: string): Promise<void> {
    const rest = batches.values(); // shared: each connection takes the next batch
    const connection = async (): Promise<void> => {
      for (const batch of rest) await writeLines(server.url, batch, { query: { db } });
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  }

  async function checkAllQueries(): Promise<void> {
    const wrong: string[] = [];
    for (const query of queries) {
      const found = differences(query, await queryRows(server.url, query.sql));
      wrong.push(...found.map((difference) => `${query.type} ${query.n}: ${difference}`));
    }
    expect(wrong).toEqual([]);
  }

  test(
    "the nine measurements of devops have the rows of the file",
    async () => {
      const lines = await kitLines("devops-5x1h");
      await execute(server.url, "CREATE DATABASE devops");
      await load(batchesOf(lines, BATCH_LINES), "devops");
      const counts = measurementCounts(lines);
      expect(counts.size).toBe(9);
      for (const [table, count] of counts) {
        const { rows } = await queryRows(server.url, `SELECT count(*), count(greptime_timestamp) FROM ${table}`, {
          query: { db: "devops" },
        });
        expect(rows, table).toEqual([[count, count]]);
      }
    },
    TEST_MS_MAX,
  );

  test(
    "all queries are right on rows in memory",
    async () => {
      expect(queries).toHaveLength(75);
      await load(cpuBatches, "public");
      await checkAllQueries();
    },
    TEST_MS_MAX,
  );

  test(
    "and after a kill, on rows replayed from the log",
    async () => {
      await server.kill();
      await server.restart();
      await checkAllQueries();
    },
    TEST_MS_MAX,
  );

  test(
    "and on files",
    async () => {
      await execute(server.url, "ADMIN flush_table('cpu')");
      await checkAllQueries();
    },
    TEST_MS_MAX,
  );

  test(
    "and when the newer half is written again: files and memory hold the same rows",
    async () => {
      await load(cpuBatches.slice(cpuBatches.length / 2), "public");
      await checkAllQueries();
    },
    TEST_MS_MAX,
  );

  test(
    "and after a kill with rows both in files and in the log",
    async () => {
      await server.kill();
      await server.restart();
      await checkAllQueries();
      const { rows } = await queryRows(server.url, "SELECT count(*) FROM cpu");
      expect(rows).toEqual([[86_400]]);
    },
    TEST_MS_MAX,
  );

  test(
    "and after a clean stop, which flushes; the other database kept its rows too",
    async () => {
      expect((await server.stop()).status).toBe(0);
      await server.restart();
      await checkAllQueries();
      const { rows } = await queryRows(server.url, "SELECT count(*) FROM postgresl", { query: { db: "devops" } });
      expect(rows).toEqual([[1800]]);
    },
    TEST_MS_MAX,
  );
});
