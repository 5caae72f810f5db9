/**
 * What users of the port may rely on whatever goes wrong: requests and answers slow, lost, doubled; elections; clients cut off and stopped.
 * One seed is one run; time is virtual.
 */
import { expect, test } from "bun:test";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { bytesOf, failureName, textOf } from "../../../test/support/cluster/port-reads.ts";
import type { ClusterPort } from "./cluster-port.ts";
import type { Lease, LeaseName } from "./leases.ts";
import { MESSAGE_BYTES_MAX } from "./limits.ts";
import { PortError, portFailureOf } from "./port-error.ts";

const SEEDS: readonly number[] = Array.from({ length: 20 }, (_, i) => i + 1);
const CLIENTS: readonly string[] = ["a", "b", "c", "d"];

/** A cluster in trouble, and one client of each name. */
function rough(seed: number): { cluster: MemoryCluster; ports: ClusterPort[]; random: Random; end: () => void } {
  const cluster = new MemoryCluster({ seed, rates: ROUGH, leaseTtlMillis: 3000 });
  const ports = CLIENTS.map((name) => memoryPort(cluster, name));
  return { cluster, ports, random: seededRandom(seed + 1000), end: startChaos(cluster, CLIENTS) };
}

/** As the call, again while nobody answers it. */
async function insist<T>(cluster: MemoryCluster, port: ClusterPort, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (portFailureOf(error) !== "unavailable") throw error;
    }
    await cluster.sleep(port.identity, 100);
  }
}

test.each(SEEDS)(
  "seed %i: many append behind one another: one wins each number, all read one order, each entry is there once",
  async (seed) => {
    const { cluster, ports, end } = rough(seed);
    const entries = 12;
    const writer = async (port: ClusterPort): Promise<number[]> => {
      const won: number[] = [];
      for (let i = 0; i < entries; i++) {
        const text = `${port.identity}${i}`;
        for (let isIn = false; !isIn; ) {
          const known = await insist(cluster, port, () => port.ordered.read("catalog", 0));
          const own = known.find(({ bytes }) => textOf(bytes) === text);
          if (own !== undefined) won.push(own.number);
          isIn = own !== undefined;
          if (isIn) break;
          try {
            const number = await port.ordered.append("catalog", bytesOf(text), known.at(-1)?.number ?? 0);
            if (number !== "refused") {
              won.push(number);
              isIn = true;
            }
          } catch (error) {
            expect(["unavailable", "unknown"]).toContain(portFailureOf(error) as string);
          }
        }
        await cluster.sleep(port.identity, 50);
      }
      return won;
    };
    const follow = async (port: ClusterPort): Promise<string[]> => {
      const seen: string[] = [];
      for await (const list of port.ordered.follow("catalog", 0)) {
        seen.push(...list.map(({ number, bytes }) => `${number} ${textOf(bytes)}`));
        if (seen.length >= CLIENTS.length * entries) break;
      }
      return seen;
    };
    const [won, orders] = await Promise.all([Promise.all(ports.map(writer)), Promise.all(ports.map(follow))]);
    end();
    const all = won.flat().sort((x, y) => x - y);
    expect(all).toEqual(Array.from({ length: CLIENTS.length * entries }, (_, i) => i + 1));
    for (const order of orders) expect(order).toEqual(orders[0] as string[]);
  },
);

test.each(SEEDS)(
  "seed %i: what the log acknowledged is there under its number, and every follower sees all once, in order",
  async (seed) => {
    const { cluster, ports, random, end } = rough(seed);
    const acknowledged = new Map<number, string>();
    let isWriting = true;
    const lane = async (port: ClusterPort): Promise<void> => {
      const one = async (text: string): Promise<void> => {
        try {
          acknowledged.set(await port.log.append(0, bytesOf(text)), text);
        } catch (error) {
          expect(["unavailable", "unknown"]).toContain(portFailureOf(error) as string);
        }
      };
      for (let i = 0; i < 20; i++) {
        await Promise.all(Array.from({ length: 1 + random.below(4) }, (_, k) => one(`${port.identity}-${i}-${k}`)));
        await cluster.sleep(port.identity, random.below(500));
      }
    };
    const follower = async (port: ClusterPort): Promise<Map<number, string>> => {
      const seen = new Map<number, string>();
      const controller = new AbortController();
      let at = 0;
      // A node that goes away and comes back, now and then.
      while (isWriting || at < cluster.stream("LOG0").lastNumber) {
        for await (const list of port.log.follow(0, at, { signal: controller.signal })) {
          for (const { number, bytes } of list) {
            expect(number).toBe(at + 1);
            at = number;
            seen.set(number, textOf(bytes));
          }
          if (random.below(10) === 0 || (!isWriting && at >= cluster.stream("LOG0").lastNumber)) break;
        }
      }
      return seen;
    };
    const writing = Promise.all(ports.map(lane)).then(async () => {
      await cluster.time.sleep(60_000); // Late ones come.
      end();
      isWriting = false;
      while (
        portFailureOf(
          await memoryPort(cluster, "z")
            .log.append(0, bytesOf("end"))
            .catch((error: unknown) => error),
        ) !== undefined
      ) {
        await cluster.time.sleep(1000);
      }
    });
    const seen = await Promise.all(ports.map(follower));
    await writing;
    for (const [number, text] of acknowledged) expect(seen[0]?.get(number)).toBe(text);
    for (const its of seen) expect([...its]).toEqual([...(seen[0] as Map<number, string>)]);
  },
);

test.each(SEEDS)("seed %i: never do two believe in one lease, and who does has it", async (seed) => {
  const { cluster, ports, random, end } = rough(seed);
  const names: readonly LeaseName[] = ["lease.0", "lease.1"];
  const believed = ports.map(() => new Map<LeaseName, Lease>());
  let isOver = false;
  let held = 0;
  const check = (): void => {
    for (const name of names) {
      const now = cluster.time.monotonicMillis();
      const holders = ports.filter((_, i) => (believed[i]?.get(name)?.endsAtMillis ?? 0) > now).map(({ identity }) => identity);
      expect(holders.length).toBeLessThanOrEqual(1);
      if (holders.length === 0) continue;
      held++;
      expect(cluster.leases.get(name)?.holder).toBe(holders[0] as string);
    }
    if (!isOver) cluster.time.after(37, check);
  };
  cluster.time.after(1, check);
  const member = async (port: ClusterPort, mine: Map<LeaseName, Lease>): Promise<void> => {
    while (!isOver) {
      for (const name of names) {
        const lease = mine.get(name);
        try {
          if (lease !== undefined && random.below(20) === 0) {
            mine.delete(name); // Who releases does not believe in it any more.
            await port.leases.release(lease);
            continue;
          }
          const next = lease === undefined ? await port.leases.take(name, "v") : await port.leases.renew(lease, "v");
          if (typeof next === "string") mine.delete(name);
          else mine.set(name, next);
        } catch (error) {
          if (!(error instanceof PortError)) throw error;
        }
      }
      await cluster.sleep(port.identity, 500 + random.below(500));
    }
  };
  cluster.time.after(300_000, () => {
    end();
    isOver = true;
  });
  await Promise.all(ports.map((port, i) => member(port, believed[i] as Map<LeaseName, Lease>)));
  expect(held).toBeGreaterThan(1000);
});

test("a stream that went back is noticed by who knows a later number, once, and by its followers", async () => {
  const cluster = new MemoryCluster();
  const port = memoryPort(cluster, "a");
  for (let i = 0; i < 5; i++) await port.log.append(0, bytesOf(String(i)));
  const seen: number[] = [];
  const following = failureName(
    (async () => {
      for await (const list of port.log.follow(0, 0)) seen.push(...list.map(({ number }) => number));
    })(),
  );
  await cluster.time.sleep(500);
  cluster.stream("LOG0").goBack(2);
  expect(await failureName(port.log.append(0, bytesOf("x")))).toBe("went-back");
  expect(await port.log.append(0, bytesOf("y"))).toBe(4);
  expect([await following, seen]).toEqual(["went-back", [1, 2, 3, 4, 5]]);
});

test("a stream that is gone fails everybody by name", async () => {
  const cluster = new MemoryCluster();
  const port = memoryPort(cluster, "a");
  await port.log.append(0, bytesOf("x"));
  const following = failureName(
    (async () => {
      for await (const list of port.log.follow(0, 0)) expect(list).toHaveLength(1);
    })(),
  );
  await cluster.time.sleep(500);
  cluster.deleteStream("LOG0");
  expect(await failureName(port.log.append(0, bytesOf("x")))).toBe("vanished");
  expect(await failureName(port.log.last(0))).toBe("vanished");
  expect(await following).toBe("vanished");
});

test("a follower that was cut off while another owner trimmed is told, not led past the hole", async () => {
  const cluster = new MemoryCluster();
  const [a, b] = [memoryPort(cluster, "a"), memoryPort(cluster, "b")];
  await a.log.append(0, bytesOf("1"));
  const seen: number[] = [];
  const following = failureName(
    (async () => {
      for await (const list of b.log.follow(0, 0)) seen.push(...list.map(({ number }) => number));
    })(),
  );
  await cluster.time.sleep(500);
  cluster.cut("b", 10_000);
  for (let i = 2; i <= 5; i++) await a.log.append(0, bytesOf(String(i)));
  await a.log.trim(0, 3);
  expect([await following, seen]).toEqual(["trimmed", [1]]);
});

test("more under way than a port may have is refused, and nothing of it is stored", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: MESSAGE_BYTES_MAX, streamBytesMax: 2 ** 31 });
  const port = memoryPort(cluster, "a");
  cluster.elect(60_000);
  const record = new Uint8Array(MESSAGE_BYTES_MAX);
  const appends = Array.from({ length: 134 }, () => failureName(port.log.append(0, record)));
  const failures = await Promise.all(appends);
  expect(failures.slice(128)).toEqual(Array.from({ length: 6 }, () => "unavailable"));
  expect(cluster.stream("LOG0").lastNumber).toBe(0);
});
