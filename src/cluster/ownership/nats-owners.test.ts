/** Owners over real servers of NATS, in real time. Where none is installed it is left out, which is said once. */
import { expect, test } from "bun:test";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { permissionsBlock } from "../nats/permissions.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import type { ShardHost } from "../shard/shard-host.ts";
import { DataNode } from "./data-node.ts";
import { FollowedDirectory } from "./followed-directory.ts";
import { FrontendMember } from "./frontend-member.ts";
import { assign } from "./ranking.ts";
import { systemTimers } from "./timers.ts";

const SHARDS = 8;

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const end = systemTimers.monotonicMillis() + 20_000; !holds(); ) {
    if (systemTimers.monotonicMillis() > end) throw new Error(`${what}: not in time`);
    await Bun.sleep(20);
  }
}

async function joined(port: ClusterPort, id: string, ousted: string[] = []): Promise<DataNode> {
  let epoch = 0;
  return await DataNode.join({
    port,
    facts: { id, address: `${id}:3001`, version: "1.0.0" },
    shards: SHARDS,
    openShard: (shard) => {
      const lag = { records: 0, memoryBytes: 1 };
      const host = { shard, epoch: ++epoch, applied: 1, lag, close: () => Promise.resolve() };
      return Promise.resolve(host as unknown as ShardHost); // Nobody asks it for rows.
    },
    timers: systemTimers,
    logger: recordingLogger().logger,
    onOusted: (why) => void ousted.push(why.message),
  });
}

function isSettled({ directory }: DataNode, ids: readonly string[]): boolean {
  return [...assign(SHARDS, ids)].every(([shard, id]) => directory.ownerOf(shard)?.nodeId === id);
}

test.skipIf(NATS_SERVER === undefined)(
  "nodes over NATS share shards, take those of one whose connection ends, and hand over when one stops",
  async () => {
    const servers = await NatsServers.start();
    const connect = (): Promise<ClusterPort> => servers.connect({ shards: SHARDS, leaseSeconds: 2 });
    const ports = [await connect(), await connect(), await connect()] as const;
    try {
      const ousted: string[] = [];
      const a = await joined(ports[0], "a", ousted);
      const b = await joined(ports[1], "b");
      await until("a and b share", () => isSettled(a, ["a", "b"]) && isSettled(b, ["a", "b"]));
      const c = await joined(ports[2], "c");
      await until("c has its share", () => isSettled(c, ["a", "b", "c"]));
      await b.stop();
      await until("a and c share", () => isSettled(c, ["a", "c"]));
      expect(c.directory.nodes().map(({ id }) => id)).toEqual(["a", "c"]);
      await ports[0].close();
      await until("c has all", () => isSettled(c, ["c"]));
      expect(ousted).toEqual(["cannot stay in the cluster as node a: the connection was closed"]);
      await c.stop();
    } finally {
      for (const port of ports) await port.close();
      await servers.dispose();
    }
  },
  60_000,
);

test.skipIf(NATS_SERVER === undefined)(
  "frontends over NATS know each other; one whose user may not hold its lease joins once it may",
  async () => {
    const before = permissionsBlock("frontend").replace(/^.*"lease\.\*".*\n/m, "");
    expect(before).not.toContain("lease");
    const users = [`{ user: now, password: "secret-v", permissions: ${permissionsBlock("frontend")} }`];
    const servers = await NatsServers.start({ users: [...users, `{ user: before, password: "secret-v", permissions: ${before} }`] });
    const ports: ClusterPort[] = [];
    const opened: FollowedDirectory[] = [];
    const { logger, entries } = recordingLogger();
    const join = async (id: string, user: string): Promise<FollowedDirectory> => {
      const credentials = { kind: "password", user, password: "secret-v" } as const;
      const port = await servers.connect({ shards: SHARDS, leaseSeconds: 2, credentials });
      ports.push(port);
      const { leases, identity } = port;
      const directory = FollowedDirectory.follow({ leases, timers: systemTimers, logger });
      opened.push(directory);
      const facts = { id, address: `${id}:3001`, httpAddress: `${id}:4000`, version: "1.0.0", startedAtMillis: 1 };
      await FrontendMember.join(facts, { leases, identity, timers: systemTimers, logger, directory }, () => undefined);
      return directory;
    };
    try {
      const directory = await join("a", "now");
      const known = (): readonly string[] => directory.frontends().map(({ id }) => id);
      await join("b", "now");
      await until("a knows b", () => Bun.deepEquals(known(), ["a", "b"]));
      await join("c", "before");
      const [told] = entries.filter(({ level }) => level === "error");
      expect(told?.message).toContain("let its user of NATS publish lease.*");
      expect(told?.fields["error"]).toContain("has no permission to publish lease.frontend-c");
      await ports[1]?.close();
      await until("b is gone", () => Bun.deepEquals(known(), ["a"]));
      await servers.reload(0, before, permissionsBlock("frontend"));
      await until("a knows c", () => Bun.deepEquals(known(), ["a", "c"]));
      expect(entries.filter(({ level }) => level === "error").length).toBe(1);
    } finally {
      for (const directory of opened) await directory.close();
      for (const port of ports) await port.close();
      await servers.dispose();
    }
  },
  60_000,
);
