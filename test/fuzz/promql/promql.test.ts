/** The short form of the fuzz of PromQL. The long form is `bun run test:fuzz promql`. */
import { expect, test } from "bun:test";
import { fuzzInProcess } from "./in-process.ts";
import { fuzzOverHttp } from "./over-http.ts";
import { SEEDS } from "./seeds.ts";

const TEST_MS_MAX = 120_000;
const SHORT = { seed: 1, hangMillis: Number.POSITIVE_INFINITY, say: (): void => undefined };

test(
  "queries and their mutations give a result or an error of the query, and no memory stays",
  async () => {
    const report = await fuzzInProcess({ ...SHORT, queries: SEEDS.length + 300 });
    expect(report.failures).toEqual([]);
    expect(report.count("moment Success")).toBeGreaterThan(SEEDS.length);
  },
  TEST_MS_MAX,
);

test(
  "a server answers queries and their mutations with documented statuses",
  async () => {
    const report = await fuzzOverHttp({ ...SHORT, queries: SEEDS.length + 100 });
    expect(report.failures).toEqual([]);
    expect(report.count("query 200")).toBeGreaterThan(10);
  },
  TEST_MS_MAX,
);
