/** A client that is cut off from the servers, or hears nothing of them, and comes back. Left out where no nats-server is installed. */
import { describe, expect, test } from "bun:test";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { bytesOf, failureName } from "../../../test/support/cluster/port-reads.ts";
import { TcpProxy } from "../../../test/support/cluster/tcp-proxy.ts";

describe.skipIf(NATS_SERVER === undefined)("a client behind a bad network", () => {
  test("follows on where it was, holds no lease that another has, and is told of a hole", async () => {
    const servers = await NatsServers.start();
    const proxy = new TcpProxy(Number(new URL(servers.addresses[0] as string).port));
    try {
      const near = await servers.connect();
      const far = await servers.connect({ servers: [proxy.address], callMillis: 1000 });
      const seen: number[] = [];
      const holders: string[] = [];
      const following = failureName(
        (async () => {
          for await (const list of far.log.follow(0, 0)) seen.push(...list.map(({ number }) => number));
        })(),
      );
      const watching = failureName(
        (async () => {
          for await (const { leases } of far.leases.watch()) holders.push(leases.get("lease.0")?.holder ?? "");
        })(),
      );
      const lease = await far.leases.take("lease.0", "far");
      if (lease === "held") throw new Error("nobody else takes it");
      let count = 0;
      const until = async (want: number): Promise<void> => {
        for (let i = 0; i < 1500 && seen.length < want; i++) await Bun.sleep(20);
        expect(seen).toEqual(Array.from({ length: want }, (_, i) => i + 1));
      };
      for (const state of ["cut", "silent"] as const) {
        for (let i = 0; i < 20; i++) count = await near.log.append(0, bytesOf(`${state} before ${i}`));
        await until(count);
        proxy.become(state);
        expect(["unknown", "unavailable"]).toContain(await failureName(far.log.append(1, bytesOf(state))));
        for (let i = 0; i < 20; i++) count = await near.log.append(0, bytesOf(`${state} after ${i}`));
        await Bun.sleep(1000);
        proxy.become("open");
        await until(count);
      }
      const its = await near.leases.take("lease.0", "near");
      if (its === "held") throw new Error("it ended long ago");
      expect(await far.leases.renew(lease, "far")).toBe("lost");
      for (let i = 0; i < 100 && holders.at(-1) !== near.identity; i++) await Bun.sleep(10);
      expect([holders.includes(far.identity), holders.at(-1)]).toEqual([true, near.identity]);
      proxy.become("cut");
      for (let i = 0; i < 5; i++) count = await near.log.append(0, bytesOf("hole"));
      await near.log.trim(0, count);
      proxy.become("open");
      expect([await following, seen.length]).toEqual(["trimmed", count - 5]);
      await far.close();
      expect(await watching).toBe("closed");
    } finally {
      proxy.stop();
      await servers.dispose();
    }
  }, 60_000);
});
