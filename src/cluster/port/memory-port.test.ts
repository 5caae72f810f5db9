/** The port in memory (`test/support/cluster`) keeps the contract, also while everything goes wrong: what its users are tested with. */
import { clusterPortContract } from "../../../test/contract/cluster-port-contract.ts";
import { LEASE_MILLIS, type PortFixture, STREAM_BYTES } from "../../../test/contract/cluster-port-fixture.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";

clusterPortContract("memoryPort", async (): Promise<PortFixture> => {
  const cluster = new MemoryCluster({ leaseTtlMillis: LEASE_MILLIS, streamBytesMax: STREAM_BYTES });
  let clients = 0;
  return {
    connect: () => Promise.resolve(memoryPort(cluster, `client-${++clients}`)),
    sleep: (millis) => cluster.time.sleep(millis),
    monotonicMillis: () => cluster.time.monotonicMillis(),
    dispose: () => Promise.resolve(),
  };
});
