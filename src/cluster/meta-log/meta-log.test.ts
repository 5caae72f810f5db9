import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { metaStoreContract } from "../../../test/contract/meta-store-contract.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { bytesOf } from "../../../test/support/cluster/port-reads.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { corruptionOf } from "../../base/error.ts";
import { Fenced } from "../../storage/meta-store/meta-store.ts";
import { type OwnedMetaStore, openOwnedMetaStore } from "../../storage/meta-store/owned-meta-store.ts";
import { MetaLog } from "./meta-log.ts";
import { decodePart, encodePart, type Part, PART_OVERHEAD_BYTES } from "./part.ts";

/** Messages so small that most entries have several parts. */
const SMALL = 200;

function logOf(cluster: MemoryCluster, client: string): MetaLog {
  return new MetaLog(memoryPort(cluster, client), "manifest.0", { sleep: (millis) => cluster.sleep(client, millis) });
}

for (const messageBytesMax of [1024 * 1024, SMALL]) {
  metaStoreContract(`openOwnedMetaStore over MetaLog, messages of ${messageBytesMax} bytes,`, async () => {
    const cluster = new MemoryCluster({ messageBytesMax });
    const store = await openOwnedMetaStore(logOf(cluster, "a"), "a");
    return { store, reopen: () => openOwnedMetaStore(logOf(cluster, "b"), "b"), dispose: () => undefined };
  });
}

test("an entry of many messages comes back as it was, under the number of its last", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: SMALL });
  const log = logOf(cluster, "a");
  const long = "é\u{1f600}".repeat(200);
  expect([await log.append(long, 0), await log.append("", 7), await log.append("x", 8)]).toEqual([7, 8, 9]);
  expect(await logOf(cluster, "b").read(0)).toEqual([
    { number: 7, text: long },
    { number: 8, text: "" },
    { number: 9, text: "x" },
  ]);
  expect(await logOf(cluster, "b").read(7)).toHaveLength(2);
  expect([await log.append("y", 7), await log.append("y", 0)]).toEqual(["refused", "refused"]);
});

test("a trim keeps all parts of the entry that it names", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: SMALL });
  const log = logOf(cluster, "a");
  const long = "x".repeat(1000);
  const first = (await log.append(long, 0)) as number;
  const second = (await log.append(long, first)) as number;
  log.trim(second);
  await cluster.time.sleep(100);
  expect(cluster.stream("MANIFEST").firstNumber).toBe(first + 1);
  const other = logOf(cluster, "b");
  expect(await other.read(0)).toEqual([{ number: second, text: long }]);
  other.trim(second);
  await cluster.time.sleep(100);
  expect(await other.read(0)).toHaveLength(1);
});

test("parts that an attempt left behind are passed over, and stop nobody", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: SMALL });
  const log = logOf(cluster, "a");
  const last = (await log.append("whole", 0)) as number;
  const stream = cluster.stream("MANIFEST");
  const part = (attempt: string, index: number): Uint8Array =>
    encodePart({ attempt: attempt.repeat(16), index, count: 3, bytes: bytesOf(`${index}`) });
  const left = [part("aa", 0), part("aa", 1), part("bb", 2), part("cc", 0), part("cc", 2), part("cc", 1), part("dd", 0), part("dd", 1)];
  for (const message of left) stream.append("manifest.0", message);
  expect(await log.read(0)).toEqual([{ number: last, text: "whole" }]);
  const next = (await log.append("behind", last)) as number;
  expect(next).toBe(last + left.length + 1);
  expect(await log.read(0)).toEqual([
    { number: last, text: "whole" },
    { number: next, text: "behind" },
  ]);
});

test("a message that is none is refused by its number, whatever bit of it is wrong", () => {
  const part: Part = { attempt: "0123456789abcdef".repeat(2), index: 1, count: 3, bytes: bytesOf("some bytes") };
  const message = encodePart(part);
  expect(decodePart(message)).toEqual(part);
  for (let bit = 0; bit < message.length * 8; bit++) {
    const broken = message.slice();
    broken[bit >> 3] = (broken[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(decodePart(broken)).toBeString();
  }
  for (let length = 0; length < message.length; length++) expect(decodePart(message.subarray(0, length))).toBeString();
  expect(encodePart({ ...part, bytes: new Uint8Array(0) })).toHaveLength(PART_OVERHEAD_BYTES);
});

test("damage names the list and the message", async () => {
  const cluster = new MemoryCluster();
  cluster.stream("MANIFEST").append("manifest.0", bytesOf("no part, though long enough for one"));
  const error = await failureOf(logOf(cluster, "a").read(0));
  expect([error.message, corruptionOf(error)?.file]).toEqual([
    "cannot read message 1 of manifest.0: it is of version 110, only 1 is known",
    "manifest.0, message 1",
  ]);
});

test("the frozen message of version 1 reads as it did", () => {
  const frozen = new Uint8Array(readFileSync(join(import.meta.dir, "fixtures", "v1.bin")));
  const part: Part = { attempt: "000102030405060708090a0b0c0d0e0f", index: 2, count: 5, bytes: bytesOf('{"owner":"a"}') };
  expect(decodePart(frozen)).toEqual(part);
  expect(encodePart(part)).toEqual(frozen);
});

test("while nobody serves the list, calls wait; then they fail", async () => {
  const cluster = new MemoryCluster();
  const log = logOf(cluster, "a");
  cluster.elect(9000);
  expect(await log.append("x", 0).catch(() => "no answer")).toBeOneOf([1, "no answer"]);
  cluster.elect(600_000);
  expect((await failureOf(log.read(0))).message).toMatch(/do not answer|no leader/);
});

test.each(Array.from({ length: 12 }, (_, i) => i + 1))(
  "seed %i: owners come and go in all troubles: what was answered is there",
  async (seed) => {
    const cluster = new MemoryCluster({ seed, rates: ROUGH, messageBytesMax: SMALL });
    const random = seededRandom(seed);
    const names = ["n0", "n1", "n2"];
    const end = startChaos(cluster, names);
    /** The last value of each key that was answered, and those that may have come after it. */
    const known = new Map<string, { value: number | undefined; maybe: Set<number> }>();
    let step = 0;
    const opened = async (name: string): Promise<OwnedMetaStore> => {
      for (;;) {
        try {
          return await openOwnedMetaStore(logOf(cluster, name), name);
        } catch (error) {
          if (!(error instanceof Error) || !("code" in error)) throw error;
        }
      }
    };
    const owners = [await opened("n0")];
    for (let round = 0; round < 150; round++) {
      if (random.below(25) === 0) owners.push(await opened(names[random.below(3)] as string));
      const owner = owners[owners.length - 1 - random.below(Math.min(2, owners.length))] as OwnedMetaStore;
      const key = `k${random.below(5)}`;
      const value = ++step;
      const entry = known.get(key) ?? { value: undefined, maybe: new Set<number>() };
      known.set(key, entry);
      const changes = [
        { key, value },
        { key: "long", value: "x".repeat(random.below(600)) },
      ];
      const error = await owner.commit(changes).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) Object.assign(entry, { value, maybe: new Set() });
      else if (!(error instanceof Fenced)) entry.maybe.add(value);
      if (error instanceof Fenced) expect(owner).not.toBe(owners.at(-1) as OwnedMetaStore);
    }
    end();
    await cluster.time.sleep(60_000);
    const last = await opened("last");
    for (const [key, { value, maybe }] of known) expect([value, ...maybe]).toContain(last.get(key) as number | undefined);
  },
);
