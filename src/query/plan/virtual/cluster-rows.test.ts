/** What `information_schema` says of a cluster. */
import { beforeEach, expect, test } from "bun:test";
import { FIXTURE_NOW, QueryFixture, runSql } from "../../../../test/support/query-fixture.ts";
import { ALL_TIME } from "../../../table/scan.ts";
import { placementOf } from "../../../table/shards/placement.ts";
import { shardsOf } from "../../../table/shards/shards-of.ts";
import type { QueryContext } from "../../query-context.ts";
import { type ClusterFacts, NO_FACTS } from "../../system-facts.ts";

const START = Number(FIXTURE_NOW / 1_000_000n) - 90_000;
const NODE = { version: "1.2.3", startMillis: START, isDraining: false } as const;
const FACTS: ClusterFacts = {
  nodes: [
    { ...NODE, id: "front", role: "frontend", address: "10.0.0.1:4000", memoryBytes: 77, cpuMillicores: 2000, totalMemoryBytes: 1000 },
    { ...NODE, id: "b", role: "datanode", address: "10.0.0.3:3001", isDraining: true },
    { ...NODE, id: "a", role: "datanode", address: "10.0.0.2:3001" },
  ],
  shards: Array.from({ length: 8 }, (_, shard) => ({
    shard,
    nodeId: shard === 7 ? undefined : shard < 5 ? "a" : "b",
    isServed: shard !== 7 && shard !== 6,
  })),
};

let fixture: QueryFixture;
let context: QueryContext;
beforeEach(async () => {
  fixture = new QueryFixture();
  await fixture.sql("CREATE TABLE t (host STRING, v DOUBLE, ts TIMESTAMP(3), TIME INDEX (ts), PRIMARY KEY (host)) WITH (spread = '3')");
  await fixture.sql(
    "CREATE TABLE p (greptime_timestamp TIMESTAMP(3), v DOUBLE, TIME INDEX (greptime_timestamp)) " +
      "ENGINE = metric WITH (physical_metric_table = '')",
  );
  context = { ...fixture.context, system: { ...NO_FACTS, commit: "0123456789ab", cluster: () => FACTS } };
});

/** Rows with whole numbers as numbers: none here is larger than a double. */
async function rowsOf(query: string, asked: QueryContext): Promise<readonly (readonly unknown[])[]> {
  return (await runSql(query, asked)).rows.map((row) => row.map((value) => (typeof value === "bigint" ? Number(value) : value)));
}

test("every machine that is known is a row", async () => {
  const columns =
    "peer_id, peer_type, peer_addr, peer_hostname, total_cpu_millicores, memory_usage_bytes, version, git_commit, uptime, node_status";
  const rows = await rowsOf(`SELECT ${columns} FROM information_schema.cluster_info`, context);
  expect(rows).toEqual([
    [-1, "FRONTEND", "10.0.0.1:4000", "front", 2000, 77, "1.2.3", "01234567", "1m 30s", undefined],
    [2, "DATANODE", "10.0.0.3:3001", "b", 0, undefined, "1.2.3", "01234567", "1m 30s", '{"shards":1,"draining":true}'],
    [1, "DATANODE", "10.0.0.2:3001", "a", 0, undefined, "1.2.3", "01234567", "1m 30s", '{"shards":5,"draining":false}'],
  ]);
});

test("a table has a region on each shard that it lies on, at the shard's owner", async () => {
  const table = context.catalog.table("public", "t");
  if (table === undefined) throw new Error("it was made");
  const shards = shardsOf(placementOf(table.schema, 8), [], ALL_TIME);
  expect(shards).toHaveLength(3);
  const rows = await rowsOf(
    "SELECT region_id, peer_id, peer_addr, is_leader, status FROM information_schema.region_peers WHERE table_name = 't'",
    context,
  );
  const want = shards.map((shard) => {
    const region = table.schema.id * 2 ** 32 + shard;
    const status = shard < 6 ? ["Yes", "ALIVE"] : ["No", "DOWNGRADED"];
    if (shard === 7) return [region, undefined, undefined, ...status];
    return [region, shard < 5 ? 1 : 2, shard < 5 ? "10.0.0.2:3001" : "10.0.0.3:3001", ...status];
  });
  expect(rows).toEqual(want);
  const shown = await rowsOf("SHOW REGION FROM t", context);
  expect(shown.map(([, region]) => region)).toEqual(want.map(([region]) => region));
});

test("tables of the metric engine lie on all shards", async () => {
  const rows = await rowsOf("SELECT count(*) FROM information_schema.region_peers WHERE table_name = 'p'", context);
  expect(rows).toEqual([[8]]);
});

test("a process that is no part of a cluster has one of everything", async () => {
  expect(await rowsOf("SELECT count(*) FROM information_schema.region_peers WHERE table_name = 't'", fixture.context)).toEqual([[1]]);
});
