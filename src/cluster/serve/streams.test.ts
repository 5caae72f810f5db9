/** How answers flow: at the reader's pace, as long as somebody reads, as long as the node lives. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { EngineHost } from "../../../test/support/cluster/engine-host.ts";
import { answerOf, fragmentOf, rowsHere, scanOf } from "../../../test/support/cluster/fragment-rows.ts";
import { ShardNode, type ShardNodeOptions } from "../../../test/support/cluster/shard-node.ts";
import { TcpProxy } from "../../../test/support/cluster/tcp-proxy.ts";
import { EngineFixture } from "../../../test/support/engine-fixture.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { snapshotStorage } from "../../../test/support/in-parts.ts";
import { localWorkers } from "../../../test/support/local-workers.ts";
import { planOf } from "../../../test/support/plan-run.ts";
import { systemClock } from "../../base/clock.ts";
import { StatusCode } from "../../base/status-code.ts";
import { opensJoined } from "../../engine/joined/joined-share.ts";
import type { Table } from "../../table/catalog.ts";
import type { ScanBatch, ScanRequest } from "../../table/scan.ts";
import { HttpTransport } from "../wire/http-transport.ts";
import { NodeShardClient } from "../wire/node-shard-client.ts";
import type { PartListener } from "./internal-listener.ts";
import type { ShardListenerOptions } from "./listener.ts";

const MIB = 1024 * 1024;

let fixture: EngineFixture;
let table: Table;
let opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  fixture = await EngineFixture.start();
  await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX, host STRING, rack STRING, v DOUBLE, PRIMARY KEY (host, rack))");
  const rows = Array.from({ length: 30_000 }, (_, i) => `(${i}, 'host-${i % 20_000}', 'r${i % 40}', ${i})`);
  await fixture.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
  table = fixture.machine.engine.table("public", "t") as Table;
});

afterEach(async () => {
  for (const close of opened.reverse()) await close();
  opened = [];
});

afterAll(() => fixture.machine.engine.close());

interface Setup {
  readonly node: ShardNode;
  readonly host: EngineHost;
  readonly client: NodeShardClient;
  /** A client that reaches the node by another port. */
  through(this: void, port: number): NodeShardClient;
  /** Ends the node as a crash does. */
  kill(this: void): Promise<void>;
  stop(this: void, graceMs: number): Promise<void>;
  readonly listener: PartListener;
}

function setUp(options: ShardNodeOptions = {}, listening: Partial<ShardListenerOptions> = {}, silenceMillis?: number): Setup {
  const node = new ShardNode(options);
  const host = new EngineHost(0, fixture.machine.engine);
  node.hosts.set(0, host);
  const listener = node.listen(listening);
  const transport = new HttpTransport({}, silenceMillis);
  const through = (port: number): NodeShardClient => {
    const owners = { ownerOf: () => ({ address: `127.0.0.1:${port}` }), nextChange: () => new Promise<void>(() => undefined) };
    return new NodeShardClient({ shards: 1, owners, transport, log: { last: async () => 0 }, clock: systemClock, ownerMillis: 500 });
  };
  const kill = (): Promise<void> => listener.stop(0);
  opened.push(async () => {
    transport.close();
    await kill();
  });
  return { node, host, client: through(listener.port), through, kill, stop: (graceMs) => listener.stop(graceMs), listener };
}

/** A table whose scan gives batches of 1 MiB for ever; `given` counts them. */
function endless(of: Table, waitMillis = 0): { readonly table: Table; readonly state: { given: number; ended: number } } {
  const state = { given: 0, ended: 0 };
  const values = new Float64Array(MIB / 8);
  const made: Table = Object.create(of);
  made.scan = async function* ({ signal }: ScanRequest): AsyncGenerator<ScanBatch> {
    try {
      for (;;) {
        if (waitMillis > 0) await Bun.sleep(waitMillis);
        if (signal?.aborted === true) return;
        state.given++;
        const runs = { starts: Uint32Array.of(0, values.length), series: Uint32Array.of(0) };
        yield { rowCount: values.length, vectors: [{ kind: "number", values, validity: undefined }], runs };
      }
    } finally {
      state.ended++;
    }
  };
  return { table: made, state };
}

const ofValues = (of: Table, more = {}) => fragmentOf(of, scanOf(of, { projection: ["v"] }), { wantsRuns: false, ...more });

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !condition(); i++) await Bun.sleep(10);
  expect(condition()).toBe(true);
}

test("a reader that stops holds little, and goes on where it was", async () => {
  const { host, client, node } = setUp();
  const { table: slow, state } = endless(table);
  host.wrap = () => slow;
  const pieces = client.fragment(ofValues(table), new AbortController().signal);
  await pieces.next();
  await Bun.sleep(300);
  const { given } = state;
  await Bun.sleep(500);
  expect(state.given).toBe(given);
  // What sockets of this machine hold, and not more than a piece or two besides.
  expect(given).toBeLessThan(16);
  for (let i = 0; i < 100; i++) expect((await pieces.next()).value?.kind).toBe("rows");
  expect(state.given).toBeGreaterThan(given);
  await pieces.return(undefined);
  await until(() => state.ended === 1);
  await until(() => node.running.list().length === 0);
  expect(node.pool.used).toBe(0);
});

test("leaving ends the work at once, also while nothing comes", async () => {
  const { host, client, node } = setUp();
  const { table: slow, state } = endless(table, 50);
  host.wrap = () => slow;
  const canceller = new AbortController();
  const left = failureOf(answerOf(client, ofValues(table), canceller.signal));
  await until(() => state.given > 2);
  canceller.abort();
  expect((await left).code).toBe(StatusCode.Cancelled);
  await until(() => state.ended === 1 && node.running.size === 0);
});

test("leaving while the shard has not seen enough ends the wait", async () => {
  const { client, node } = setUp();
  const canceller = new AbortController();
  const left = failureOf(answerOf(client, ofValues(table, { least: 9 }), canceller.signal));
  await until(() => node.running.size === 1);
  canceller.abort();
  expect((await left).code).toBe(StatusCode.Cancelled);
  await until(() => node.running.size === 0);
});

test("a slow node is told from a dead one: it says that it lives", async () => {
  const { host, client } = setUp({ reachMillis: 20_000 }, {}, 3000);
  const answer = answerOf(client, ofValues(table, { least: 1 }));
  await Bun.sleep(4500);
  host.apply(1);
  expect((await answer).rows.length).toBe(30_000);
}, 20_000);

test("a node that says nothing is taken for dead", async () => {
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const transport = new HttpTransport({}, 300);
  const owners = { ownerOf: () => ({ address: `127.0.0.1:${silent.port}` }), nextChange: () => new Promise<void>(() => undefined) };
  const client = new NodeShardClient({ shards: 1, owners, transport, log: { last: async () => 0 }, clock: systemClock, ownerMillis: 500 });
  const error = await failureOf(answerOf(client, ofValues(table)));
  expect(error).toMatchObject({ code: StatusCode.StorageUnavailable });
  expect(error.message).toContain("it said nothing for 0.3 s");
  silent.stop(true);
});

test("a reader that leaves a piece for too long is cut off, and the work ends", async () => {
  const { host, client, node } = setUp({}, { stallMillis: 200 });
  const { table: slow, state } = endless(table);
  host.wrap = () => slow;
  const pieces = client.fragment(ofValues(table), new AbortController().signal);
  await pieces.next();
  await until(() => state.ended === 1 && node.running.size === 0);
  const rest = (async () => {
    for await (const _ of pieces);
  })();
  expect((await failureOf(rest)).message).toContain("part of its rows had come already; run it again");
});

test("a node that dies within the rows fails the fragment; before the first it is asked again", async () => {
  const { host, client, kill } = setUp();
  const { table: slow, state } = endless(table);
  host.wrap = () => slow;
  const pieces = client.fragment(ofValues(table), new AbortController().signal);
  await pieces.next();
  await kill();
  const rest = (async () => {
    for await (const _ of pieces);
  })();
  const error = await failureOf(rest);
  expect(error).toMatchObject({ code: StatusCode.StorageUnavailable, retryAfterSeconds: 1 });
  expect(error.message).toContain("cannot read all of shard 0");
  expect(state.ended).toBe(1);
  const again = await failureOf(answerOf(client, ofValues(table)));
  expect(again.message).toStartWith("cannot reach shard 0: cannot ask node 127.0.0.1");
});

test("a shard that goes to another node within the rows says so, whatever it then throws", async () => {
  const { host, client, node } = setUp();
  const leaving: Table = Object.create(table);
  leaving.scan = async function* (request: ScanRequest): AsyncGenerator<ScanBatch> {
    yield* table.scan(request);
    node.hosts.delete(0);
    throw new TypeError("a file is closed");
  };
  host.wrap = () => leaving;
  const error = await failureOf(answerOf(client, ofValues(table)));
  expect(error).toMatchObject({ code: StatusCode.StorageUnavailable, retryAfterSeconds: 1 });
  expect(error.message).toBe("cannot read all of shard 0: it went to another node meanwhile; run it again");
});

test("a node that ends lets answers under way come to their end, and takes no more", async () => {
  const { client, node, host, stop } = setUp();
  const answer = answerOf(client, ofValues(table, { least: 1 }));
  await until(() => node.running.size === 1);
  const stopped = stop(5000);
  await Bun.sleep(50);
  expect((await failureOf(answerOf(client, ofValues(table)))).message).toContain("cannot reach shard 0");
  host.apply(1);
  expect((await answer).rows.length).toBe(30_000);
  await stopped;
});

test("a node that ends cuts off what takes too long", async () => {
  const { client, node, stop } = setUp();
  const answer = failureOf(answerOf(client, ofValues(table, { least: 1 })));
  await until(() => node.running.size === 1);
  await stop(100);
  expect(node.running.size).toBe(0);
  expect((await answer).message).toContain("cannot reach shard 0");
});

test("an answer that came whole leaves its connection to the next request, also one that says an error", async () => {
  const { listener, through } = setUp();
  const proxy = new TcpProxy(listener.port);
  opened.push(async () => proxy.stop());
  const client = through(proxy.port);
  for (let i = 0; i < 20; i++) {
    expect((await answerOf(client, ofValues(table))).rows.length).toBe(30_000);
    await failureOf(answerOf(client, ofValues(table, { tableId: 4711 })));
  }
  expect(proxy.connections).toBeLessThan(10); // More than one: the end of an answer may come behind the next request.
});

test("a connection that rested and was closed meanwhile is made anew", async () => {
  const { client, listener, node } = setUp();
  expect((await answerOf(client, ofValues(table))).rows.length).toBe(30_000);
  await listener.stop(0);
  const again = node.listen({ port: listener.port });
  opened.push(() => again.stop(0));
  expect((await answerOf(client, ofValues(table))).rows.length).toBe(30_000);
});

test("an error within the rows is the one that was thrown there", async () => {
  const { host, client } = setUp();
  const broken: Table = Object.create(table);
  broken.scan = async function* (request: ScanRequest): AsyncGenerator<ScanBatch> {
    yield* table.scan(request);
    throw new TypeError("a bug");
  };
  host.wrap = () => broken;
  const error = await failureOf(answerOf(client, ofValues(table)));
  expect(error).toMatchObject({ code: StatusCode.Internal, message: "a bug" });
  expect((error.cause as Error).stack).toContain("streams.test.ts");
});

test("many series come once each, under numbers that begin at 0", async () => {
  const { client } = setUp();
  const { rows, series } = await answerOf(client, fragmentOf(table, scanOf(table, { order: "series-time" })));
  expect(series).toBe(20_000);
  expect(rows).toEqual([...(await rowsHere(table, { order: "series-time" }))]);
});

test("large scans may use the node's threads", async () => {
  const storage = snapshotStorage(fixture.machine.store);
  const workers = localWorkers(opensJoined((snapshot) => storage.open(snapshot)));
  const { client } = setUp({ workers });
  const sql = "SELECT rack, sum(v), count(*) FROM t GROUP BY rack";
  const { plan } = planOf(sql, fixture.machine.engine);
  const { rows, end } = await answerOf(client, fragmentOf(table, plan, { wantsRuns: false, wantsMetrics: true }));
  const here = await fixture.sql(sql);
  expect([...rows].sort()).toEqual(here.rows.map((row) => ` ${row.join(" ")}`).sort());
  expect(end?.metrics?.some(({ parts }) => parts !== undefined && parts > 1)).toBe(true);
});

test("more than may run wait; more than may wait are refused", async () => {
  const { host, client, node } = setUp({ running: { runningMax: 1, waitingMax: 1, turnMillis: 60_000 } });
  const first = answerOf(client, ofValues(table, { least: 1 }));
  await until(() => node.running.size === 1);
  const second = answerOf(client, ofValues(table, { least: 1 }));
  await until(() => node.running.waitingCount === 1);
  expect((await failureOf(answerOf(client, ofValues(table)))).code).toBe(StatusCode.RateLimited);
  host.apply(1);
  expect((await first).rows.length).toBe(30_000);
  expect((await second).rows.length).toBe(30_000);
  expect([node.running.size, node.running.waitingCount]).toEqual([0, 0]);
});

test("who waits too long for a turn is refused", async () => {
  const { host, client, node } = setUp({ running: { runningMax: 1, waitingMax: 1, turnMillis: 100 } });
  const first = answerOf(client, ofValues(table, { least: 1 }));
  await until(() => node.running.size === 1);
  expect((await failureOf(answerOf(client, ofValues(table)))).code).toBe(StatusCode.RateLimited);
  host.apply(1);
  await first;
  expect((await answerOf(client, ofValues(table))).rows.length).toBe(30_000);
});

test("hundreds of answers are under way at once", async () => {
  const { host, client, node } = setUp();
  const all = Array.from({ length: 400 }, () => answerOf(client, ofValues(table, { least: 1 })));
  await until(() => node.running.size === 400);
  host.wrap = (own) => endlessOnce(own);
  host.apply(1);
  for (const { rows } of await Promise.all(all)) expect(rows.length).toBe(1);
});

/** A table of one row. */
function endlessOnce(of: Table): Table {
  const made: Table = Object.create(of);
  made.scan = async function* (): AsyncGenerator<ScanBatch> {
    const runs = { starts: Uint32Array.of(0, 1), series: Uint32Array.of(0) };
    yield { rowCount: 1, vectors: [{ kind: "number", values: Float64Array.of(7), validity: undefined }], runs };
  };
  return made;
}
