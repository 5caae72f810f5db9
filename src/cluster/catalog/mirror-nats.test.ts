/** Mirrors over real servers of NATS. Where none is installed this is left out. */
import { expect, test } from "bun:test";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import type { MetaChange } from "../../storage/meta-store/meta-store.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { CatalogMirror } from "./catalog-mirror.ts";

const CHANGES_BETWEEN = 20;
const put = (key: string, value: number): MetaChange => ({ key: `database/${key}`, value });

function opened(port: ClusterPort, shards?: number): Promise<CatalogMirror> {
  return CatalogMirror.open(port, {
    shards,
    clock: systemClock,
    sleep: (millis) => Bun.sleep(millis),
    logger: silentLogger,
    changesBetween: CHANGES_BETWEEN,
    onLost: (why) => {
      throw why;
    },
  });
}

test.skipIf(NATS_SERVER === undefined)("processes that change it at once over NATS: one order, snapshots, trims, a late one", async () => {
  const servers = await NatsServers.start();
  try {
    const ports = [await servers.connect(), await servers.connect(), await servers.connect()] as const;
    const [a, b] = await Promise.all([opened(ports[0], 2), opened(ports[1], 2)]);
    const told = [a, b].map((mirror) => {
      const { port, version } = mirror.catalogue();
      const changes: string[] = [];
      port.listen((each) => changes.push(JSON.stringify(each)));
      return { port, mirror, changes, version };
    });
    const counts = await Promise.all(
      told.map(async ({ port, mirror }, who) => {
        let taken = 0;
        for (let n = 0; n < 50; n++) if ((await port.commit([put(`x${who}${n}`, n)], mirror.version)) === "taken") taken++;
        return taken;
      }),
    );
    const total = counts.reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThanOrEqual(50);
    expect(await a.refresh()).toBe(1 + total);
    expect(await b.refresh()).toBe(1 + total);
    expect(told[0]?.changes).toEqual(told[1]?.changes as string[]);
    while (1 + total >= 2 * CHANGES_BETWEEN) {
      const [first] = await ports[2].ordered.read("catalog", 0);
      if ((first?.number ?? 1) > 1) break;
      await Bun.sleep(20);
    }
    const late = await opened(ports[2]);
    expect([late.version, late.shards]).toEqual([1 + total, 2]);
    expect(late.catalogue().entries.list("")).toEqual(a.catalogue().entries.list(""));
    for (const mirror of [a, b, late]) await mirror.close();
    for (const port of ports) await port.close();
  } finally {
    await servers.dispose();
  }
});
