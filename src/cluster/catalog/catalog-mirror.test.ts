/** What a mirror promises while nothing goes wrong, and what it says where it cannot go on. */
import { afterEach, expect, test } from "bun:test";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { errorOf } from "../../../test/support/failure-of.ts";
import { DbError } from "../../base/error.ts";
import { silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { CatalogAnswer, CatalogPort } from "../../engine/schema/catalog-port.ts";
import { type MetaChange, SHARDS_KEY } from "../../storage/meta-store/meta-store.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { PortError } from "../port/port-error.ts";
import { CatalogMirror } from "./catalog-mirror.ts";

/** Changes between two snapshots. */
const CHANGES_BETWEEN = 100;

/** A process of a cluster with a mirror, and what it was told. */
interface Process {
  readonly port: ClusterPort;
  readonly mirror: CatalogMirror;
  readonly lost: Error[];
}

/** Followers that are left would run on under the tests that come. */
const open: CatalogMirror[] = [];
afterEach(async () => {
  for (const mirror of open.splice(0)) await mirror.close();
});

async function started(cluster: MemoryCluster, name: string, shards?: number, port = memoryPort(cluster, name)): Promise<Process> {
  const lost: Error[] = [];
  const mirror = await CatalogMirror.open(port, {
    shards,
    clock: cluster.time,
    sleep: (millis) => cluster.sleep(name, millis),
    logger: silentLogger,
    changesBetween: CHANGES_BETWEEN,
    onLost: (why) => lost.push(why),
  });
  open.push(mirror);
  return { port, mirror, lost };
}

/** A port that never answers at once. */
interface PromisedPort extends Pick<CatalogPort, "close"> {
  commit(...call: Parameters<CatalogPort["commit"]>): Promise<CatalogAnswer>;
}

/** An engine's side: what it was told, by the version that it then has. */
function engineOf({ mirror }: Process): { port: PromisedPort; told: Map<number, readonly MetaChange[]> } {
  const told = new Map<number, readonly MetaChange[]>();
  const { port, version } = mirror.catalogue();
  let at = version;
  port.listen((changes) => told.set(++at, changes));
  return { port: { commit: async (...call) => port.commit(...call), close: () => port.close() }, told };
}

const put = (key: string, value: number | string): MetaChange => ({ key: `database/${key}`, value });

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await errorOf(work);
  if (!(error instanceof DbError)) throw error;
  return Object.entries(StatusCode).find(([, code]) => code === error.code)?.[0] ?? "";
}

test("the first makes the cluster, and all others must say the same number of shards or none", async () => {
  const cluster = new MemoryCluster();
  expect(String(await errorOf(started(cluster, "early")))).toContain("nobody has made the cluster");
  const [a, b] = await Promise.all([started(cluster, "a", 16), started(cluster, "b", 16)]);
  const c = await started(cluster, "c");
  expect([a, b, c].map(({ mirror }) => [mirror.shards, mirror.version])).toEqual([
    [16, 1],
    [16, 1],
    [16, 1],
  ]);
  expect(String(await errorOf(started(cluster, "d", 4)))).toContain("cluster.shards = 4, and the cluster was made with 16");
  expect(c.mirror.catalogue().entries.get(SHARDS_KEY)).toBe(16);
});

test("of two that make it at once with other numbers one is refused", async () => {
  const cluster = new MemoryCluster();
  const made = await Promise.allSettled([started(cluster, "a", 2), started(cluster, "b", 3)]);
  expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a change is in force here when it is answered, is told to all engines in one turn, and soon elsewhere", async () => {
  const cluster = new MemoryCluster();
  const [a, b] = [await started(cluster, "a", 1), await started(cluster, "b")];
  const [first, second, other] = [engineOf(a), engineOf(a), engineOf(b)];
  const changes = [put("x", 1), put("y", 2), { key: "database/gone", value: undefined }];
  expect(await first.port.commit(changes, 1)).toBe("taken");
  expect([a.mirror.version, [...first.told], [...second.told]]).toEqual([2, [[2, changes]], [[2, changes]]]);
  await b.mirror.reach(2);
  expect([...other.told]).toEqual([[2, changes]]);
  expect(await other.port.commit([put("x", 3)], 1)).toBe("outdated");
  expect(await other.port.commit([{ key: "database/x", value: undefined }], 2)).toBe("taken");
  const late = await started(cluster, "late");
  expect(late.mirror.catalogue().entries.list("database/")).toEqual([{ key: "database/y", value: 2 }]);
  expect(late.mirror.version).toBe(3);
});

test("of those who change one version at once one is taken, also within one process", async () => {
  const cluster = new MemoryCluster();
  const [a, b] = [await started(cluster, "a", 1), await started(cluster, "b")];
  const engines = [engineOf(a), engineOf(a), engineOf(b)];
  const answers = await Promise.all(engines.map(({ port }, i) => port.commit([put("x", i)], 1)));
  expect(answers.toSorted()).toEqual(["outdated", "outdated", "taken"]);
  for (const { told } of engines) expect([...told]).toEqual([[2, [put("x", answers.indexOf("taken"))]]]);
});

test("whoever refreshes has what others were answered before", async () => {
  const cluster = new MemoryCluster({ rates: { slow: 0, requestLost: 0, answerLost: 0, doubled: 0, refused: 0 } });
  const [a, b] = [await started(cluster, "a", 1), await started(cluster, "b")];
  const engine = engineOf(a);
  for (let version = 1; version < 30; version++) {
    await engine.port.commit([put("x", version)], version);
    const refreshed = await Promise.all([b.mirror.refresh(), b.mirror.refresh(), b.mirror.refresh()]);
    expect(Math.min(...refreshed)).toBeGreaterThanOrEqual(version + 1);
  }
});

test("a change above the servers' largest message is one version, whatever it takes", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: 300 });
  const [a, b] = [await started(cluster, "a", 1), await started(cluster, "b")];
  const [mine, theirs] = [engineOf(a), engineOf(b)];
  const long = Array.from({ length: 20 }, (_, i) => put(`x${i}`, "é".repeat(50)));
  expect(await mine.port.commit(long, 1)).toBe("taken");
  await b.mirror.reach(2);
  expect(theirs.told.get(2)).toEqual(long);
  expect(await theirs.port.commit([put("y", 1)], 2)).toBe("taken");
  expect(cluster.stream("CATALOG").lastNumber).toBeGreaterThan(10);
  expect((await started(cluster, "c")).mirror.version).toBe(3);
});

test("what half a long change left behind is passed over, and stops nobody", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: 300 });
  const a = await started(cluster, "a", 1);
  const { ordered, messageBytesMax } = memoryPort(cluster, "dies");
  let appends = 0;
  const dying: ClusterPort["ordered"] = {
    append: (...call) => (appends++ < 4 ? ordered.append(...call) : new Promise(() => undefined)),
    read: (...call) => ordered.read(...call),
    follow: (...call) => ordered.follow(...call),
    trim: (...call) => ordered.trim(...call),
  };
  const dies = await started(cluster, "dies", undefined, { ...memoryPort(cluster, "dies"), ordered: dying, messageBytesMax });
  const answer = codeOf(
    engineOf(dies).port.commit(
      Array.from({ length: 20 }, (_, i) => put(`x${i}`, "é".repeat(50))),
      1,
    ),
  );
  await cluster.time.sleep(1000);
  expect([cluster.stream("CATALOG").lastNumber, a.mirror.version]).toEqual([5, 1]);
  const between = await started(cluster, "between");
  expect(await engineOf(a).port.commit([put("y", 1)], 1)).toBe("taken");
  await between.mirror.reach(2);
  expect([between.mirror.version, (await started(cluster, "late")).mirror.version]).toEqual([2, 2]);
  await dies.mirror.close();
  expect(await answer).toBe("StorageUnavailable");
});

test("every so many changes there is a snapshot, two are kept, and the list begins behind the older", async () => {
  const cluster = new MemoryCluster();
  const a = await started(cluster, "a", 1);
  const { port } = engineOf(a);
  for (let version = 1; version <= 3 * CHANGES_BETWEEN + 10; version++) {
    await port.commit([version % 7 === 0 ? { key: `database/${version - 1}`, value: undefined } : put(String(version), version)], version);
  }
  await cluster.time.sleep(1000);
  expect(cluster.stream("MANIFEST").messages.map(({ subject }) => subject)).toEqual(["manifest.1048576", "manifest.1048576"]);
  expect(cluster.stream("CATALOG").firstNumber).toBe(2 * CHANGES_BETWEEN + 1);
  const late = await started(cluster, "late");
  expect(late.mirror.version).toBe(a.mirror.version);
  expect(late.mirror.catalogue().entries.list("")).toEqual(a.mirror.catalogue().entries.list(""));
});

test("a snapshot that cannot be written is written with a later change", async () => {
  const cluster = new MemoryCluster();
  const port = memoryPort(cluster, "a");
  let fails = 2;
  const failing: ClusterPort["ordered"] = {
    append: async (name, ...call) => {
      if (name !== "catalog" && fails-- > 0) throw new PortError("unknown", "no answer came");
      return port.ordered.append(name, ...call);
    },
    read: (...call) => port.ordered.read(...call),
    follow: (...call) => port.ordered.follow(...call),
    trim: (...call) => port.ordered.trim(...call),
  };
  const a = await started(cluster, "a", 1, { ...port, ordered: failing, messageBytesMax: port.messageBytesMax });
  const engine = engineOf(a);
  for (let version = 1; version < CHANGES_BETWEEN + 5; version++) {
    await engine.port.commit([put("x", version)], version);
    await cluster.time.sleep(10);
  }
  expect(fails).toBeLessThan(0);
  expect(cluster.stream("MANIFEST").messages.length).toBe(1);
  expect((await started(cluster, "b")).mirror.version).toBe(CHANGES_BETWEEN + 5);
});

test("a mirror whose next change was let go says so once, and refuses everything", async () => {
  const cluster = new MemoryCluster();
  const [a, b] = [await started(cluster, "a", 1), await started(cluster, "b")];
  const [mine, theirs] = [engineOf(a), engineOf(b)];
  cluster.stop("b", 60_000);
  for (let version = 1; version <= 20; version++) await mine.port.commit([put("x", version)], version);
  cluster.stream("CATALOG").remove("catalog", (number) => number < 15);
  const waiting = codeOf(b.mirror.reach(5));
  await cluster.time.sleep(70_000);
  expect(b.lost.length).toBe(1);
  expect(await waiting).toBe("StorageUnavailable");
  expect(await codeOf(theirs.port.commit([put("x", 1)], b.mirror.version))).toBe("StorageUnavailable");
  expect(await codeOf(b.mirror.refresh())).toBe("StorageUnavailable");
  expect(a.lost).toEqual([]);
});

test("a list that lost what was acknowledged ends the mirror", async () => {
  const cluster = new MemoryCluster();
  const a = await started(cluster, "a", 1);
  const { port } = engineOf(a);
  for (let version = 1; version <= 5; version++) await port.commit([put("x", version)], version);
  cluster.stream("CATALOG").goBack(3);
  expect(await codeOf(port.commit([put("x", 7)], 6))).toBe("StorageUnavailable");
  await cluster.time.sleep(5000);
  expect(a.lost.length).toBe(1);
});

test("what is waited for is asked for where the follower stands still", async () => {
  const cluster = new MemoryCluster();
  const a = await started(cluster, "a", 1);
  const port = memoryPort(cluster, "b");
  const { ordered, messageBytesMax } = port;
  const still: ClusterPort["ordered"] = {
    append: (...call) => ordered.append(...call),
    read: (...call) => ordered.read(...call),
    follow: (_name, _after, options) => ordered.follow("manifest.7", 0, options),
    trim: (...call) => ordered.trim(...call),
  };
  const b = await started(cluster, "b", undefined, { ...port, ordered: still, messageBytesMax });
  await engineOf(a).port.commit([put("x", 1)], 1);
  await cluster.time.sleep(5000);
  expect(b.mirror.version).toBe(1);
  await b.mirror.reach(2);
  expect(b.mirror.version).toBe(2);
  expect(await engineOf(b).port.commit([put("x", 2)], 2)).toBe("taken");
});

test("a damaged change ends all mirrors, and lets none start", async () => {
  const cluster = new MemoryCluster();
  const a = await started(cluster, "a", 1);
  await memoryPort(cluster, "broken").ordered.append("catalog", new Uint8Array(40), 1);
  await cluster.time.sleep(5000);
  expect(String(a.lost)).toContain("message 2 of catalog");
  expect(String(await errorOf(started(cluster, "b")))).toContain("message 2 of catalog");
});

test("closing answers those who wait, and tells nobody of anything any more", async () => {
  const cluster = new MemoryCluster();
  const [a, b] = [await started(cluster, "a", 1), await started(cluster, "b")];
  const [mine, theirs, closed] = [engineOf(a), engineOf(b), engineOf(b)];
  await closed.port.close();
  expect(await codeOf(closed.port.commit([], 1))).toBe("StorageUnavailable");
  await mine.port.commit([put("x", 1)], 1);
  await b.mirror.reach(2);
  expect([theirs.told.size, closed.told.size]).toEqual([1, 0]);
  cluster.elect(60_000);
  const waiting = [theirs.port.commit([put("x", 2)], 2), b.mirror.reach(9), b.mirror.refresh()].map(codeOf);
  await cluster.time.sleep(10);
  await b.mirror.close();
  expect(await Promise.all(waiting)).toEqual(["StorageUnavailable", "StorageUnavailable", "StorageUnavailable"]);
  expect(b.lost).toEqual([]);
  const signal = AbortSignal.abort();
  expect(await codeOf(a.mirror.reach(9, signal))).toBe("Cancelled");
});

test("an election is waited for, and one that is too long is said; what was not answered may come", async () => {
  const cluster = new MemoryCluster();
  const a = await started(cluster, "a", 1);
  const engine = engineOf(a);
  cluster.elect(9000);
  expect(await engine.port.commit([put("x", 1)], 1)).toBe("taken");
  cluster.elect(60_000);
  expect(await codeOf(engine.port.commit([put("x", 2)], 2))).toBe("StorageUnavailable");
  expect(await codeOf(a.mirror.refresh())).toBe("StorageUnavailable");
  await cluster.time.sleep(60_000);
  const { version } = a.mirror;
  expect(await engine.port.commit([put("x", 3)], version)).toBe("taken");
  expect(a.lost).toEqual([]);
});
