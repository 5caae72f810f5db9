import { expect, test } from "bun:test";
import { ROUGH } from "../../../test/support/cluster/chaos.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { errorOf } from "../../../test/support/failure-of.ts";
import { MetaLog } from "./meta-log.ts";
import { putEntry } from "./put-entry.ts";

const LONG: string = "an entry of several messages ".repeat(30);

function put(cluster: MemoryCluster, client: string, text: string, last = 0): Promise<void> {
  const sleep = (millis: number): Promise<void> => cluster.sleep(client, millis);
  return putEntry(memoryPort(cluster, client), "manifest.0", text, last, sleep);
}

test("an entry is put once, however often; another in its place is refused", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: 200 });
  await put(cluster, "a", LONG);
  await put(cluster, "b", LONG);
  expect((await errorOf(put(cluster, "c", "x"))).message).toBe("cannot begin the list manifest.0: somebody else has begun it");
  const log = new MetaLog(memoryPort(cluster, "d"), "manifest.0", { sleep: (millis) => cluster.sleep("d", millis) });
  expect((await log.read(0)).map(({ text }) => text)).toEqual([LONG]);
});

test.each(Array.from({ length: 20 }, (_, i) => i + 1))(
  "seed %i: where answers are lost, it is there once when the call ends well",
  async (seed) => {
    const cluster = new MemoryCluster({ seed, rates: ROUGH, messageBytesMax: 200 });
    for (let tries = 0; tries < 20; tries++) {
      const ended = await put(cluster, `client-${tries}`, LONG).then(
        () => true,
        () => false,
      );
      if (!ended) continue;
      cluster.rates = { slow: 0, requestLost: 0, answerLost: 0, doubled: 0, refused: 0 };
      const log = new MetaLog(memoryPort(cluster, "reader"), "manifest.0", { sleep: (millis) => cluster.sleep("reader", millis) });
      expect((await log.read(0)).map(({ text }) => text)).toEqual([LONG]);
      return;
    }
    throw new Error("it never ended well");
  },
);
