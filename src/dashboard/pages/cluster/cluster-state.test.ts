import { expect, test } from "bun:test";
import { clusterState } from "./cluster-state.ts";

const FRONTEND = {
  peer_type: "FRONTEND",
  peer_hostname: "a",
  peer_addr: "a:4000",
  version: "1",
  uptime: "5s",
  memory_usage_bytes: 7,
  node_status: null,
};
const DATANODE = {
  peer_type: "DATANODE",
  peer_hostname: "d1",
  peer_addr: "d1:3001",
  version: "1",
  uptime: "5s",
  memory_usage_bytes: null,
  node_status: '{"shards":2,"draining":true}',
};

test("nodes and shards are read", () => {
  const served = { shard: 0, peer_addr: "d1:3001", is_leader: "Yes", regions: 4 };
  const { isCluster, nodes, shards, troubles } = clusterState([FRONTEND, DATANODE], [served]);
  expect(isCluster).toBe(true);
  expect(nodes).toMatchObject([
    { name: "a", role: "frontend", memoryBytes: 7, isDraining: false },
    { name: "d1", role: "datanode", shards: 2, isDraining: true },
  ]);
  expect(nodes[0]?.shards).toBeUndefined();
  expect(nodes[1]?.memoryBytes).toBeUndefined();
  expect(shards).toEqual([{ shard: 0, address: "d1:3001", isServed: true, regions: 4 }]);
  expect(troubles).toEqual([]);
});

test("a shard that nobody serves, and a cluster without data nodes, are told", () => {
  const lost = { shard: 1, peer_addr: null, is_leader: "No", regions: 4 };
  expect(clusterState([FRONTEND, DATANODE], [lost]).troubles).toEqual(["Shard 1 is not served now: queries that need it wait."]);
  expect(clusterState([FRONTEND], [lost]).troubles).toEqual([expect.stringContaining("No data node lives")]);
});

test("words of a node that are no JSON are passed over", () => {
  expect(clusterState([{ ...DATANODE, node_status: "busy" }], []).nodes[0]).toMatchObject({ name: "d1", isDraining: false });
});

test("a server that runs alone is no cluster", () => {
  expect(clusterState([{ ...FRONTEND, peer_type: "STANDALONE" }], [])).toMatchObject({ isCluster: false, troubles: [] });
});
