/** What all `Leases` must do; run by `cluster-port-contract.ts`. */
import { expect } from "bun:test";
import type { Lease, LeaseChanges } from "../../src/cluster/port/leases.ts";
import { LEASE_VALUE_BYTES_MAX } from "../../src/cluster/port/limits.ts";
import { failureName } from "../support/cluster/port-reads.ts";
import { type It, LEASE_MILLIS, type Open } from "./cluster-port-fixture.ts";

/** Registers the tests. */
export function leasesContract(it: It, open: Open): void {
  oneHolds(it, open);
  watchersSee(it, open);
}

/** The lease, where it was given. */
function given(lease: Lease | "held" | "lost"): Lease {
  if (typeof lease === "string") throw new Error(`the lease is ${lease}`);
  return lease;
}

function oneHolds(it: It, open: Open): void {
  it("leases: one holds; another gets it once it ends", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const asked = fixture.monotonicMillis();
    const lease = given(await a.leases.take("lease.0", "a"));
    expect(a.leases.ttlMillis).toBe(LEASE_MILLIS);
    expect(lease.endsAtMillis).toBeGreaterThanOrEqual(asked);
    expect(lease.endsAtMillis).toBeLessThanOrEqual(fixture.monotonicMillis() + LEASE_MILLIS);
    expect(await b.leases.take("lease.0", "b")).toBe("held");
    expect(given(await b.leases.take("lease.1", "b")).name).toBe("lease.1");
    while ((await b.leases.take("lease.0", "b")) === "held") await fixture.sleep(20);
    expect(fixture.monotonicMillis()).toBeGreaterThanOrEqual(lease.endsAtMillis);
    expect(fixture.monotonicMillis()).toBeLessThan(lease.endsAtMillis + 10_000);
    expect(await a.leases.renew(lease, "a")).toBe("lost");
  });

  it("leases: renewals keep it, far beyond its time", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    let lease = given(await a.leases.take("node.n-1", "0"));
    for (let i = 1; i <= 6; i++) {
      await fixture.sleep(LEASE_MILLIS / 3);
      const renewed = given(await a.leases.renew(lease, String(i)));
      expect(renewed.number).toBeGreaterThan(lease.number);
      expect(renewed.endsAtMillis).toBeGreaterThan(lease.endsAtMillis);
      lease = renewed;
      expect(await b.leases.take("node.n-1", "b")).toBe("held");
    }
  });

  it("leases: a lease that ended is lost, also where nobody took it", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const lease = given(await port.leases.take("lease.0", "a"));
    await fixture.sleep(LEASE_MILLIS * 3);
    expect(await port.leases.renew(lease, "a")).toBe("lost");
    expect(given(await port.leases.take("lease.0", "a")).number).toBeGreaterThan(lease.number);
  });

  it("leases: who holds it may take it again, and an older number of its own still renews", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const lease = given(await port.leases.take("lease.0", "a"));
    const again = given(await port.leases.take("lease.0", "b"));
    expect(again.number).toBeGreaterThan(lease.number);
    expect(given(await port.leases.renew(lease, "c")).number).toBeGreaterThan(again.number);
  });

  it("leases: one that is released is free at once, and only for who holds it", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const lease = given(await a.leases.take("lease.0", "a"));
    await a.leases.release(lease);
    const its = given(await b.leases.take("lease.0", "b"));
    await a.leases.release(lease);
    expect(await a.leases.take("lease.0", "a")).toBe("held");
    expect(await a.leases.renew(lease, "a")).toBe("lost");
    expect(given(await b.leases.renew(its, "b")).number).toBeGreaterThan(its.number);
  });

  it("leases: of eight that want it, one gets it", async () => {
    const fixture = await open();
    const ports = await Promise.all(Array.from({ length: 4 }, () => fixture.connect()));
    const taken = await Promise.all(ports.map((port) => port.leases.take("lease.0", port.identity)));
    expect(taken.filter((lease) => lease !== "held")).toHaveLength(1);
  });

  it("leases: a name that is none is refused", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const none = ["lease.", "lease.*", "lease.>", "node.a.b", "node.a b", `node.${"x".repeat(65)}`, "frontend.", "frontend.a.b"] as const;
    for (const name of none) {
      expect(await failureName(port.leases.take(name, ""))).toBe("denied");
    }
    expect(given(await port.leases.take(`node.${"x".repeat(64)}`, "")).number).toBeGreaterThan(0);
  });

  it("leases: a value that is too long is refused", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    expect(await failureName(port.leases.take("lease.0", "x".repeat(LEASE_VALUE_BYTES_MAX + 1)))).toBe("too-large");
    expect(given(await port.leases.take("lease.0", "x".repeat(LEASE_VALUE_BYTES_MAX))).name).toBe("lease.0");
  });
}

function watchersSee(it: It, open: Open): void {
  it("leases: a watcher is told of all, then of what is taken, changed, released and ended, not of mere renewals", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const controller = new AbortController();
    const told: string[] = [];
    const text = ({ leases, changed }: LeaseChanges): string =>
      [...changed]
        .sort()
        .map((name) => `${name}=${leases.get(name)?.value ?? "-"}`)
        .join(" ");
    let one = given(await a.leases.take("lease.0", "v1"));
    const watching = (async () => {
      for await (const changes of b.leases.watch({ signal: controller.signal })) {
        told.push(text(changes));
        for (const { holder } of changes.leases.values()) expect(holder).toBe(a.identity);
      }
    })();
    const until = async (want: string): Promise<void> => {
      for (let i = 0; i < 2000 && told.at(-1) !== want; i++) await fixture.sleep(10);
      expect(told.at(-1)).toBe(want);
    };
    await until("lease.0=v1");
    one = given(await a.leases.renew(one, "v1"));
    one = given(await a.leases.renew(one, "v2"));
    await until("lease.0=v2");
    const node = given(await a.leases.take("node.x", "n"));
    await until("node.x=n");
    await a.leases.release(node);
    await until("node.x=-");
    await until("lease.0=-");
    controller.abort();
    await watching;
    expect(told).toEqual(["lease.0=v1", "lease.0=v2", "node.x=n", "node.x=-", "lease.0=-"]);
  });

  it("leases: one of a frontend, however long its name, is told of by that name", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const name = `frontend.${"x".repeat(64)}` as const;
    const lease = given(await a.leases.renew(given(await a.leases.take(name, "v1")), "v2"));
    expect([lease.name, await b.leases.take(name, "b")]).toEqual([name, "held"]);
    for await (const { leases } of b.leases.watch()) {
      expect([...leases].map(([key, { value, holder }]) => [key, value, holder])).toEqual([[name, "v2", a.identity]]);
      break;
    }
    await a.leases.release(lease);
    expect(given(await b.leases.take(name, "b")).name).toBe(name);
  });

  it("leases: a watcher of none is told so at once, and fails when its port is closed", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const counts: number[] = [];
    const ended = (async () => {
      for await (const { leases, changed } of port.leases.watch()) counts.push(leases.size, changed.size);
    })();
    const failure = failureName(ended);
    await fixture.sleep(300);
    expect(counts).toEqual([0, 0]);
    await port.close();
    expect(await failure).toBe("closed");
  });
}
