/** What was acknowledged survives the deaths of real servers. Left out where none is installed (`nats-port.test.ts` says so). */
import { describe, expect, test } from "bun:test";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { bytesOf, failureName, textOf } from "../../../test/support/cluster/port-reads.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import type { Lease } from "../port/leases.ts";
import { portFailureOf } from "../port/port-error.ts";

/** Appends of one client, four at a time, until `end` is called. */
function lane(port: ClusterPort, shard: number): { acknowledged: Map<number, string>; failures: string[]; end: () => Promise<void> } {
  const acknowledged = new Map<number, string>();
  const failures: string[] = [];
  let isOver = false;
  let count = 0;
  const one = async (): Promise<void> => {
    while (!isOver) {
      const text = `${port.identity} ${count++} ${"x".repeat(2000)}`;
      try {
        acknowledged.set(await port.log.append(shard, bytesOf(text)), text);
      } catch (error) {
        failures.push(portFailureOf(error) ?? String(error));
        await Bun.sleep(50);
      }
    }
  };
  const running = Promise.all([one(), one(), one(), one()]);
  return {
    acknowledged,
    failures,
    async end() {
      isOver = true;
      await running;
    },
  };
}

/** Follows a shard until its record `end` has come. @returns all that it saw; numbers follow each other */
async function followed(port: ClusterPort, shard: number): Promise<Map<number, string>> {
  const seen = new Map<number, string>();
  for await (const list of port.log.follow(shard, 0)) {
    for (const { number, bytes } of list) {
      expect(number).toBe(seen.size + 1);
      seen.set(number, textOf(bytes));
    }
    if ([...list].some(({ bytes }) => textOf(bytes) === "end")) break;
  }
  return seen;
}

/** Appends the last record, whatever it takes. */
async function finish(port: ClusterPort, shard: number): Promise<void> {
  for (;;) {
    try {
      await port.log.append(shard, bytesOf("end"));
      return;
    } catch (error) {
      expect(["unavailable", "unknown"]).toContain(portFailureOf(error) as string);
      await Bun.sleep(200);
    }
  }
}

/** Everything that was acknowledged is where it was said to be. */
function expectKept(acknowledged: ReadonlyMap<number, string>, seen: ReadonlyMap<number, string>): void {
  for (const [number, text] of acknowledged) expect(seen.get(number)).toBe(text);
}

describe.skipIf(NATS_SERVER === undefined)("servers that die", () => {
  test("kill -9 of the only server, twice, while records are appended: nothing acknowledged is lost, followers go on", async () => {
    const servers = await NatsServers.start();
    try {
      const [a, b, reader] = [await servers.connect(), await servers.connect(), await servers.connect()];
      const lanes = [lane(a, 0), lane(b, 0)];
      const following = followed(reader, 0);
      for (let i = 0; i < 2; i++) {
        await Bun.sleep(700);
        await servers.kill(0);
        await Bun.sleep(300);
        await servers.startOne(0);
      }
      await Bun.sleep(2500);
      for (const { end } of lanes) await end();
      await finish(a, 0);
      const [live, fresh] = [await following, await followed(await servers.connect(), 0)];
      expect(live).toEqual(fresh);
      for (const { acknowledged, failures } of lanes) {
        expectKept(acknowledged, live);
        expect(acknowledged.size).toBeGreaterThan(20);
        expect(failures.filter((failure) => failure !== "unknown" && failure !== "unavailable")).toEqual([]);
      }
    } finally {
      await servers.dispose();
    }
  }, 60_000);

  test("a server that comes back with an old disk is found out: by followers, by who appends, by who asks", async () => {
    const servers = await NatsServers.start();
    try {
      const [writer, asker, reader] = [await servers.connect(), await servers.connect(), await servers.connect()];
      const append = async (count: number): Promise<void> => {
        for (let i = 0; i < count; i++) await writer.log.append(0, bytesOf("x"));
      };
      await append(5);
      await writer.ordered.append("catalog", bytesOf("a"), 0);
      await servers.kill(0);
      await servers.keepDisk(0);
      await servers.startOne(0);
      await patient(() => append(5));
      await patient(() => writer.ordered.append("catalog", bytesOf("b"), 1));
      const last = await patient(() => asker.log.last(0));
      let seen = 0;
      const following = failureName(
        (async () => {
          for await (const list of reader.log.follow(0, 0)) seen += list.length;
        })(),
      );
      while (seen < last) await Bun.sleep(20);
      await servers.kill(0);
      await servers.restoreDisk(0);
      await servers.startOne(0);
      expect(await answered(() => asker.log.last(0))).toBe("went-back");
      expect(await answered(() => asker.ordered.read("catalog", 2))).toBe("went-back");
      expect(await answered(() => writer.log.append(0, bytesOf("x")))).toBe("went-back");
      expect([await following, seen]).toEqual(["went-back", last]);
      expect(await patient(() => writer.log.append(0, bytesOf("x")))).toBe(7);
    } finally {
      await servers.dispose();
    }
  }, 60_000);

  test("three servers: the leader is killed, another stopped, then all are killed: records, entries and leases hold", async () => {
    const servers = await NatsServers.start({ servers: 3 });
    try {
      const ports = await Promise.all([0, 1, 2].map(() => patient(() => servers.connect({ leaseSeconds: 3 }))));
      const [a, b, reader] = ports as [ClusterPort, ClusterPort, ClusterPort];
      const lanes = [lane(a, 0), lane(b, 0)];
      const following = followed(reader, 0);
      const counters = Promise.all([a, b].map((port) => countUp(port, 15)));
      const holder = keeps(b);
      const watching = watched(a);
      for (let i = 0; i < 3; i++) {
        await Bun.sleep(1500);
        if (i === 1) servers.stop(1);
        else await servers.kill(i);
        await Bun.sleep(3000);
        if (i === 1) servers.goOn(1);
        else await servers.startOne(i);
      }
      await Promise.all([0, 1, 2].map((i) => servers.kill(i)));
      await Promise.all([0, 1, 2].map((i) => servers.startOne(i)));
      await Bun.sleep(4000);
      for (const { end } of lanes) await end();
      await finish(a, 0);
      const [live, fresh] = [await following, await followed(await patient(() => servers.connect()), 0)];
      expect(live).toEqual(fresh);
      for (const { acknowledged } of lanes) expectKept(acknowledged, live);
      const won = (await counters).flat().sort((x, y) => x - y);
      expect(won).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
      expect(await holder.end()).toBeGreaterThan(3);
      await Bun.sleep(6000);
      expect(await watching.end()).toEqual(["b", ""]);
      const told = lanes.map(({ acknowledged, failures }) => `${acknowledged.size} acknowledged, ${failures.length} not`);
      expect(told).toHaveLength(2);
    } finally {
      await servers.dispose();
    }
  }, 120_000);
});

/** How a call fails that is answered, at last. */
async function answered(call: () => Promise<unknown>): Promise<string> {
  for (;;) {
    const failure = await failureName(call());
    if (failure !== "unavailable" && failure !== "unknown") return failure;
    await Bun.sleep(200);
  }
}

/** A cluster that has just started may have no leaders yet. */
async function patient<T>(call: () => Promise<T>): Promise<T> {
  for (let round = 0; ; round++) {
    try {
      return await call();
    } catch (error) {
      if (round > 60) throw error;
      await Bun.sleep(500);
    }
  }
}

/** Adds `count` entries to the catalogue, each behind all others. @returns their numbers */
async function countUp(port: ClusterPort, count: number): Promise<number[]> {
  const won: number[] = [];
  for (let i = 0; i < count; ) {
    const text = `${port.identity} ${i}`;
    try {
      const known = await port.ordered.read("catalog", 0);
      const own = known.find(({ bytes }) => textOf(bytes) === text);
      const number = own?.number ?? (await port.ordered.append("catalog", bytesOf(text), known.at(-1)?.number ?? 0));
      if (number !== "refused") {
        won.push(number);
        i++;
      }
    } catch (error) {
      expect(["unavailable", "unknown"]).toContain(portFailureOf(error) as string);
    }
    await Bun.sleep(200);
  }
  return won;
}

/** Watches `lease.0`. `end` says whether it was held at some time, and by whom it is at the end. */
function watched(port: ClusterPort): { end: () => Promise<string[]> } {
  const controller = new AbortController();
  let wasHeld = "";
  let last = "";
  const running = (async () => {
    for await (const { leases } of port.leases.watch({ signal: controller.signal })) {
      last = leases.get("lease.0")?.value ?? "";
      if (last !== "") wasHeld = last;
    }
  })();
  return {
    async end() {
      controller.abort();
      await running;
      return [wasHeld, last];
    },
  };
}

/** Holds a lease, or takes it again. `end` says how often it was renewed. */
function keeps(port: ClusterPort): { end: () => Promise<number> } {
  let isOver = false;
  let renewals = 0;
  const running = (async () => {
    let lease: Lease | undefined;
    while (!isOver) {
      try {
        const next = lease === undefined ? await port.leases.take("lease.0", "b") : await port.leases.renew(lease, "b");
        if (typeof next === "string") lease = undefined;
        else {
          lease = next;
          renewals++;
        }
      } catch (error) {
        expect(["unavailable", "unknown"]).toContain(portFailureOf(error) as string);
      }
      await Bun.sleep(500);
    }
  })();
  return {
    async end() {
      isOver = true;
      await running;
      return renewals;
    },
  };
}
