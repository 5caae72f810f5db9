import { newClusterContract } from "../../../test/contract/new-cluster-contract.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryNewCluster } from "../../../test/support/cluster/memory-new-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";

const cluster = new MemoryCluster();
let clients = 0;
newClusterContract("memoryNewCluster", () => ({
  open: async () => memoryNewCluster(cluster, `restore-${++clients}`),
  connect: async () => memoryPort(cluster, "node"),
}));
