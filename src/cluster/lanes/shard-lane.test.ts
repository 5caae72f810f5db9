import { expect, test } from "bun:test";
import { laneOf } from "../../../test/support/cluster/lane-fixture.ts";
import { LaneFollower, originsOf } from "../../../test/support/cluster/lane-follower.ts";
import { appendRows, LaneTable, type LaneRow, rowsOf } from "../../../test/support/cluster/lane-rows.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { PortError } from "../port/port-error.ts";
import { LaneMemory } from "./lane-memory.ts";
import type { ShardLane } from "./shard-lane.ts";

/** What the log holds, message by message: the numbers of records as `segment:number`. */
function logOf(cluster: MemoryCluster): string[] {
  const first = firstSegment(cluster);
  return cluster.stream("LOG0").messages.map(({ bytes }) =>
    originsOf(bytes)
      .map(({ segment, number }) => `${segment - first + 1}:${number}`)
      .join(" "),
  );
}

function firstSegment(cluster: MemoryCluster): number {
  return Math.min(...cluster.stream("LOG0").messages.flatMap(({ bytes }) => originsOf(bytes).map(({ segment }) => segment)));
}

function followed(cluster: MemoryCluster): { readonly follower: LaneFollower; readonly rows: readonly string[] } {
  const follower = new LaneFollower();
  follower.take(cluster.stream("LOG0").messages);
  return { follower, rows: rowsOf(follower).map(({ tag, id }) => `${tag} ${id}`) };
}

function row(tag: string, id: number): LaneRow {
  return { tag, id };
}

/** A port whose appends fail as `fail` says: with what it returns, once the message is stored if that is `unknown`. */
function failing(
  port: ClusterPort,
  fail: (call: number) => "unknown" | "denied" | "cancelled" | undefined,
): Pick<ClusterPort, "log" | "messageBytesMax"> {
  let calls = 0;
  const append: ClusterPort["log"]["append"] = async (shard, record, options) => {
    const failure = fail(++calls);
    if (failure === undefined) return port.log.append(shard, record, options);
    if (failure === "unknown") await port.log.append(shard, record, options);
    throw new PortError(failure, `cannot append: ${failure}`);
  };
  return portWith(port, append);
}

/** The port with another way to append to logs. */
function portWith(port: ClusterPort, append: ClusterPort["log"]["append"]): Pick<ClusterPort, "log" | "messageBytesMax"> {
  const { log, messageBytesMax } = port;
  const own: ClusterPort["log"] = {
    append,
    last: (...call) => log.last(...call),
    follow: (...call) => log.follow(...call),
    trim: (...call) => log.trim(...call),
    lift: (...call) => log.lift(...call),
  };
  return { log: own, messageBytesMax };
}

async function settled(cluster: MemoryCluster, appends: readonly Promise<void>[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(appends);
  await cluster.time.sleep(0);
  return outcomes.map((outcome) => (outcome.status === "fulfilled" ? "ok" : `${(outcome.reason as { code: number }).code}`));
}

test("records gather while four messages are under way", async () => {
  const cluster = new MemoryCluster();
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const append = (_shard: number, message: Uint8Array): Promise<number> => {
    const number = sent.push(
      originsOf(message)
        .map(({ number: its }) => its)
        .join(" "),
    );
    return new Promise((resolve) => answers.push(() => resolve(number)));
  };
  const lane = laneOf(cluster, "a", { port: portWith(memoryPort(cluster, "a"), append) });
  const table = new LaneTable(1);
  const done: number[] = [];
  const write = (id: number): void => void appendRows(lane, table, [row(`t${id % 3}`, id)]).then(() => done.push(id));
  for (let id = 1; id <= 9; id++) write(id);
  expect(sent).toEqual(["1", "2", "3", "4"]);
  for (const i of [1, 2, 3]) answers[i]?.();
  await cluster.time.sleep(1);
  expect([done, sent.length]).toEqual([[], 4]); // Acknowledged in order.
  answers[0]?.();
  await cluster.time.sleep(1);
  expect([done, sent.slice(4)]).toEqual([[1, 2, 3, 4], ["5 6 7 8 9"]]);
  answers[4]?.();
  await cluster.time.sleep(1);
  expect(done).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect([lane.counts.records, lane.counts.messages, lane.counts.resends, lane.heldBytes]).toEqual([9, 5, 0, 0]);
});

test("no message is longer than its port takes, and a record that is goes in parts, with nothing between them", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: 500 });
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  const long = Array.from({ length: 1000 }, (_, i) => row(`t${i}`, i));
  const appends = [appendRows(lane, table, [row("a", 5000)]), appendRows(lane, table, long), appendRows(lane, table, [row("b", 5001)])];
  expect(await settled(cluster, appends)).toEqual(["ok", "ok", "ok"]);
  const { rows } = followed(cluster);
  expect(rows).toEqual(["a 5000", ...long.map(({ tag, id }) => `${tag} ${id}`), "b 5001"]);
  expect(cluster.stream("LOG0").messages.length).toBeGreaterThan(10);
});

test("a record that no number of parts can hold is refused, and what it defined is defined again", async () => {
  const cluster = new MemoryCluster({ messageBytesMax: 200 });
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  const long = Array.from({ length: 10_000 }, (_, i) => row(`t${i}`, i));
  const [failure] = await Promise.allSettled([appendRows(lane, table, long)]);
  expect(failure).toMatchObject({ status: "rejected", reason: { code: StatusCode.InvalidArguments } });
  await appendRows(lane, table, [row("t7", 1)]);
  expect(followed(cluster).rows).toEqual(["t7 1"]);
});

test("after an answer that was lost everything unanswered goes again, each record with all that it uses, under its number", async () => {
  const cluster = new MemoryCluster();
  const port = failing(memoryPort(cluster, "a"), (call) => (call === 2 ? "unknown" : undefined));
  const lane = laneOf(cluster, "a", { port });
  const table = new LaneTable(1);
  await appendRows(lane, table, [row("x", 1), row("y", 2)]);
  const appends = [3, 4, 5].map((id) => appendRows(lane, table, [row("x", id), row("y", id + 10)]));
  expect(await settled(cluster, appends)).toEqual(["ok", "ok", "ok"]);
  await appendRows(lane, table, [row("x", 6)]);
  const log = logOf(cluster);
  expect(log.slice(0, 4).toSorted()).toEqual(["1:1", "1:2", "1:3", "1:4"]);
  expect(log.slice(4)).toEqual(["2:2 3:3 4:4", "5:5"]);
  const { rows } = followed(cluster);
  expect(rows.toSorted()).toEqual(["x 1", "x 3", "x 4", "x 5", "x 6", "y 13", "y 14", "y 15", "y 2"]);
  expect(lane.counts.resends).toBe(3);
});

test("what is appended while others go again comes behind them, in a segment of its own", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  await appendRows(lane, table, [row("x", 1)]);
  cluster.elect(9000);
  const appends = [2, 3].map((id) => appendRows(lane, table, [row("x", id)]));
  await cluster.time.sleep(6000);
  appends.push(...[4, 5].map((id) => appendRows(lane, table, [row("x", id)])));
  expect(await settled(cluster, appends)).toEqual(["ok", "ok", "ok", "ok"]);
  expect(logOf(cluster)).toEqual(["1:1", "2:2 3:3", "4:4 4:5"]);
  expect(followed(cluster).rows).toEqual(["x 1", "x 2", "x 3", "x 4", "x 5"]);
});

test("records for which nobody was there in time are given up, and those behind them go on under a new writer", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a", { waitMillis: 10_000 });
  const table = new LaneTable(1);
  await appendRows(lane, table, [row("x", 1)]);
  cluster.elect(19_500);
  const lost = settled(cluster, [appendRows(lane, table, [row("x", 2)])]);
  await cluster.time.sleep(9000);
  const later = settled(cluster, [appendRows(lane, table, [row("x", 3), row("y", 4)])]);
  expect(await lost).toEqual([`${StatusCode.StorageUnavailable}`]);
  await cluster.time.sleep(1000);
  const last = settled(cluster, [appendRows(lane, table, [row("y", 5)])]);
  await cluster.time.sleep(20_000);
  expect([await later, await last]).toEqual([[`${StatusCode.StorageUnavailable}`], ["ok"]]);
  const { follower, rows } = followed(cluster);
  expect(rows).toEqual(["x 1", "y 5"]);
  expect(new Set(follower.origins.map(({ writer }) => writer)).size).toBe(2);
  expect(follower.origins.at(-1)?.number).toBe(1);
  expect(lane.heldBytes).toBe(0);
});

test("an answer that comes too late after its segment began is not believed", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  await appendRows(lane, table, [row("x", 1)]);
  await cluster.time.sleep(50_000);
  const append = appendRows(lane, table, [row("x", 2)]);
  cluster.stop("a", 45_000);
  await append;
  expect(logOf(cluster)).toEqual(["1:1", "1:2", "2:2"]);
  expect(followed(cluster).rows).toEqual(["x 1", "x 2"]);
});

test("a segment ends after a minute, and with endSegment", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  for (const [id, wait] of [59_000, 2000, 0, 0].entries()) {
    if (id === 3) lane.endSegment();
    await appendRows(lane, table, [row("x", id)]);
    await cluster.time.sleep(wait);
  }
  expect(logOf(cluster)).toEqual(["1:1", "1:2", "2:3", "3:4"]);
});

test("a lane that was silent for long goes on as a new writer", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  await appendRows(lane, table, [row("x", 1)]);
  await cluster.time.sleep(599_000);
  await appendRows(lane, table, [row("x", 2)]);
  await cluster.time.sleep(601_000);
  await appendRows(lane, table, [row("x", 3)]);
  const { follower, rows } = followed(cluster);
  const [first, second, third] = follower.origins;
  expect([first?.writer === second?.writer, second?.number, third?.writer === second?.writer, third?.number]).toEqual([true, 2, false, 1]);
  expect(rows).toEqual(["x 1", "x 2", "x 3"]);
});

test("entries of one table with other registries do not share a segment", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  await appendRows(lane, table, [row("x", 1), row("y", 2)]);
  table.renew();
  await appendRows(lane, table, [row("y", 3)]);
  await appendRows(lane, table, [row("x", 4), row("y", 5)]);
  await appendRows(lane, table, [row("x", 6)]);
  expect(logOf(cluster)).toEqual(["1:1", "2:2", "3:3", "3:4"]);
  expect(followed(cluster).rows).toEqual(["x 1", "y 2", "y 3", "x 4", "y 5", "x 6"]);
});

test("a full log makes records wait, and then fails them with when to come again; nothing of them is there", async () => {
  const cluster = new MemoryCluster({ streamBytesMax: 400 });
  const lane = laneOf(cluster, "a");
  const table = new LaneTable(1);
  const appended: number[] = [];
  for (let id = 1; ; id++) {
    const [outcome] = await Promise.allSettled([appendRows(lane, table, [row("x", id)])]);
    if (outcome?.status === "rejected") {
      expect(outcome.reason).toMatchObject({ code: StatusCode.RateLimited, retryAfterSeconds: 2 });
      break;
    }
    appended.push(id);
  }
  expect(appended.length).toBeGreaterThan(1);
  const waits = appendRows(lane, table, [row("y", 100)]);
  await cluster.time.sleep(20_000);
  expect(followed(cluster).rows).toEqual(appended.map((id) => `x ${id}`));
  cluster.stream("LOG0").remove("log.0", () => true);
  await waits;
  expect(followed(cluster).rows).toEqual(["y 100"]);
});

test.each(["denied", "cancelled"] as const)("a log that takes nothing (%s) fails what is under way, loudly", async (failure) => {
  const cluster = new MemoryCluster();
  let broken = true;
  const lane = laneOf(cluster, "a", { port: failing(memoryPort(cluster, "a"), () => (broken ? failure : undefined)) });
  const table = new LaneTable(1);
  const appends = [1, 2].map((id) => appendRows(lane, table, [row("x", id)]));
  expect(await settled(cluster, appends)).toEqual([`${StatusCode.StorageUnavailable}`, `${StatusCode.StorageUnavailable}`]);
  expect(lane.failure()).toBe(`cannot append: ${failure}`);
  broken = false;
  await appendRows(lane, table, [row("x", 3)]);
  expect(lane.failure()).toBeUndefined();
  expect(followed(cluster).rows).toContain("x 3");
});

test("a closed lane waits for what is under way, then fails it, and takes nothing", async () => {
  const cluster = new MemoryCluster();
  const table = new LaneTable(1);
  const lane = laneOf(cluster, "a");
  const append = appendRows(lane, table, [row("x", 1)]);
  await lane.close();
  await append;
  expect(await failureOf(appendRows(lane, table, [row("x", 2)]))).toMatchObject({ code: StatusCode.StorageUnavailable });
  expect(lane.failure()).toContain("shutting down");
  const other = laneOf(cluster, "b");
  cluster.cut("b", 60_000);
  const lost = failureOf(appendRows(other, table, [row("x", 3)]));
  const began = cluster.time.monotonicMillis();
  await other.close();
  expect(cluster.time.monotonicMillis() - began).toBeLessThan(11_000);
  expect(await lost).toMatchObject({ code: StatusCode.StorageUnavailable });
  expect(other.heldBytes).toBe(0);
});

/** Lets lanes hold more than they may, by an election. */
function fill(cluster: MemoryCluster, lane: ShardLane): Promise<string[]> {
  cluster.elect(4000);
  const table = new LaneTable(1);
  return settled(
    cluster,
    Array.from({ length: 6 }, (_, i) => appendRows(lane, table, [row("x", i)])),
  );
}

test("who is admitted waits while the lane holds much, and is refused in the end; more than it may hold is refused at once", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a", { bytesMax: 400, stallMillis: 2000 });
  await lane.admit();
  const outcomes = fill(cluster, lane);
  expect(await failureOf(lane.admit())).toMatchObject({ code: StatusCode.RateLimited, retryAfterSeconds: 1 });
  const controller = new AbortController();
  const left = failureOf(lane.admit(controller.signal));
  controller.abort();
  expect(await left).toMatchObject({ code: StatusCode.Cancelled });
  await cluster.time.sleep(8000);
  await lane.admit();
  expect((await outcomes).filter((outcome) => outcome === `${StatusCode.RateLimited}`).length).toBeGreaterThan(0);
  await lane.admit();
  expect([lane.counts.waits, followed(cluster).rows.length]).toEqual([2, (await outcomes).filter((outcome) => outcome === "ok").length]);
});

test("those who wait are let in one after the other, as long as there is room", async () => {
  const cluster = new MemoryCluster();
  const lane = laneOf(cluster, "a", { bytesMax: 2000, stallMillis: 60_000 });
  const table = new LaneTable(1);
  cluster.elect(8000);
  let most = 0;
  const order: number[] = [];
  const writes = Array.from({ length: 60 }, async (_, i) => {
    await cluster.time.sleep(i);
    await lane.admit();
    order.push(i);
    const append = appendRows(lane, table, [row("x", i)]);
    most = Math.max(most, lane.heldBytes);
    await append;
  });
  expect(await settled(cluster, writes)).toEqual(writes.map(() => "ok"));
  expect(order).toEqual(order.toSorted((x, y) => x - y));
  expect(most).toBeLessThanOrEqual(2000);
  expect(followed(cluster).rows).toEqual(writes.map((_, i) => `x ${i}`));
});

test("who is admitted waits for memory of other lanes, and for the owner of the shard", async () => {
  const cluster = new MemoryCluster();
  const memory = new LaneMemory(1200);
  let lag: string | undefined = "it is far behind";
  const [lane, other] = [laneOf(cluster, "a", { memory }), laneOf(cluster, "b", { memory, lag: () => lag, stallMillis: 1000 })];
  expect(await failureOf(other.admit())).toMatchObject({ message: expect.stringContaining("it is far behind") });
  lag = undefined;
  const outcomes = fill(cluster, lane);
  expect(await failureOf(other.admit())).toMatchObject({ message: expect.stringContaining("bytes wait for the logs of shards") });
  await outcomes;
  await other.admit();
  expect(memory.bytes).toBe(0);
});
