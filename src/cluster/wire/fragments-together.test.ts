/** Fragments over shards of one owner: one request, an answer each, and what becomes of those that it does not answer. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { EngineHost } from "../../../test/support/cluster/engine-host.ts";
import { filledTable, fragmentOf, scanOf } from "../../../test/support/cluster/fragment-rows.ts";
import { inProcessShardClient } from "../../../test/support/cluster/in-process-shard-client.ts";
import { ShardNode } from "../../../test/support/cluster/shard-node.ts";
import type { EngineFixture } from "../../../test/support/engine-fixture.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Table } from "../../table/catalog.ts";
import type { ScanBatch } from "../../table/scan.ts";
import type { ShardService } from "../serve/shard-service.ts";
import { ALIVE, writeFrame, writeHead } from "./frames.ts";
import { NodeShardClient } from "./node-shard-client.ts";
import { NotAnswered } from "./node-transport.ts";
import type { FragmentPiece } from "./shard-request.ts";

const ROWS = 50;
const SHARDS = 5;

let fixture: EngineFixture;
let table: Table;
let owned: Map<number, string>;
let change: PromiseWithResolvers<void>;
let nodes: Map<string, Pick<ShardService, "fragment" | "call">>;
/** Requests that came to nodes. */
let came: string[];

const owners = {
  ownerOf: (shard: number) => {
    const address = owned.get(shard);
    return address === undefined ? undefined : { address };
  },
  nextChange: () => change.promise,
};

/** Tells that owners have changed. */
function changed(): void {
  const { resolve } = change;
  change = Promise.withResolvers();
  resolve();
}

beforeAll(async () => {
  ({ fixture, table } = await filledTable(ROWS));
});

beforeEach(() => {
  owned = new Map();
  change = Promise.withResolvers();
  nodes = new Map();
  came = [];
});

afterAll(() => fixture.machine.engine.close());

/** A node that has some shards, and owns them. */
function node(address: string, shards: readonly number[]): { readonly node: ShardNode; readonly hosts: readonly EngineHost[] } {
  const made = new ShardNode({ reachMillis: 200 });
  const hosts = shards.map((shard) => new EngineHost(shard, fixture.machine.engine));
  for (const host of hosts) {
    made.hosts.set(host.shard, host);
    owned.set(host.shard, address);
  }
  const { service } = made;
  nodes.set(address, {
    fragment: (...asked) => {
      came.push(address);
      return service.fragment(...asked);
    },
    call: (...asked) => service.call(...asked),
  });
  return { node: made, hosts };
}

const client = () => inProcessShardClient(SHARDS, nodes, owners, { last: async () => 0 }, { ownerMillis: 1000 });
const requests = (shards: readonly number[] = [0, 1, 2]) => shards.map((shard) => fragmentOf(table, scanOf(table), { shard }));
const never = new AbortController().signal;

/** How many rows an answer has. */
async function rowsOf(answer: AsyncIterable<FragmentPiece> | undefined): Promise<number> {
  let rows = 0;
  for await (const piece of answer ?? []) if (piece.kind === "rows") rows += piece.batch.rowCount;
  return rows;
}

const allRows = (answers: readonly AsyncIterable<FragmentPiece>[]) => Promise.all(answers.map(rowsOf));

/** A scan that does what is said before it begins. */
function before(host: EngineHost | undefined, work: () => void | Promise<void>): void {
  if (host === undefined) throw new Error("a host");
  host.wrap = (own) => {
    const changed: Table = Object.create(own);
    changed.scan = async function* (...asked): AsyncGenerator<ScanBatch> {
      await work();
      yield* own.scan(...asked);
    };
    return changed;
  };
}

test("shards of one owner are one request, and each has its answer", async () => {
  node("a", [0, 2, 4]);
  node("b", [1, 3]);
  expect(await allRows(client().fragments(requests([0, 1, 2, 3, 4]), never))).toEqual([ROWS, ROWS, ROWS, ROWS, ROWS]);
  expect(came.sort()).toEqual(["a", "b"]);
});

test("shards without an owner wait for one by themselves", async () => {
  node("a", [0, 2]);
  const rows = allRows(client().fragments(requests(), never));
  await Bun.sleep(30);
  node("b", [1]);
  changed();
  expect(await rows).toEqual([ROWS, ROWS, ROWS]);
  expect(came.sort()).toEqual(["a", "b"]);
});

test("all begin at once, though they come one after the other", async () => {
  const { hosts } = node("a", [0, 1, 2]);
  const last = Promise.withResolvers<void>();
  before(hosts[0], () => last.promise);
  before(hosts[2], () => last.resolve());
  expect(await allRows(client().fragments(requests(), never))).toEqual([ROWS, ROWS, ROWS]);
});

test("who has the end of an answer and asks for no more lets the next one come", async () => {
  node("a", [0, 1]);
  const [first, second] = client().fragments(requests([0, 1]), never);
  const other = rowsOf(second);
  for (let piece = await first?.next(); piece?.done === false && piece.value.kind !== "end"; piece = await first?.next());
  expect(await other).toBe(ROWS);
});

test("who leaves an answer lets the next one come", async () => {
  node("a", [0, 1]);
  const [first, second] = client().fragments(requests([0, 1]), never);
  const other = rowsOf(second);
  await first?.next();
  await first?.return(undefined);
  expect(await other).toBe(ROWS);
});

test("a shard that its node has no more is asked elsewhere, the others are not asked again", async () => {
  const { node: first } = node("a", [0, 1, 2]);
  first.hosts.delete(1);
  const rows = allRows(client().fragments(requests(), never));
  await Bun.sleep(30);
  node("b", [1]);
  changed();
  expect(await rows).toEqual([ROWS, ROWS, ROWS]);
  expect(came).toEqual(["a", "b"]);
});

test("a shard that is behind is asked again by itself", async () => {
  const { hosts } = node("a", [0, 1, 2]);
  const asked = requests().map((request) => (request.shard === 1 ? { ...request, least: 3 } : request));
  const rows = allRows(client().fragments(asked, never));
  await Bun.sleep(300); // The node refused it by then.
  hosts[1]?.apply(3);
  expect(await rows).toEqual([ROWS, ROWS, ROWS]);
  expect(came).toEqual(["a", "a"]);
});

test("what fails in one shard is its own", async () => {
  const { hosts } = node("a", [0, 1, 2]);
  before(hosts[1], () => {
    throw new DbError(StatusCode.StorageUnavailable, "a file is damaged");
  });
  const [first, second, third] = client().fragments(requests(), never);
  const error = failureOf(rowsOf(second));
  expect(await allRows([first, third].filter((answer) => answer !== undefined))).toEqual([ROWS, ROWS]);
  expect((await error).message).toBe("a file is damaged");
});

test("a node that goes away: what came whole stays, the rest runs elsewhere", async () => {
  const { hosts } = node("a", [0, 1, 2]);
  before(hosts[1], async () => {
    await Bun.sleep(30);
    nodes.delete("a");
    node("b", [1, 2]);
    changed();
  });
  expect(await allRows(client().fragments(requests(), never))).toEqual([ROWS, ROWS, ROWS]);
  expect(came).toEqual(["a", "b", "b"]);
});

test("a request that all of them went away with three times is not given to a fourth node", async () => {
  let times = 0;
  for (const shard of [0, 1]) owned.set(shard, "a");
  const transport = {
    async *ask(): AsyncGenerator<Uint8Array> {
      times++;
      const out = new ByteWriter();
      writeHead(out);
      writeFrame(ALIVE, out);
      yield out.copy();
      throw new NotAnswered("the connection ended", true);
    },
  };
  const parts = { shards: 2, owners, transport, log: { last: async () => 0 }, clock: systemClock, ownerMillis: 60_000 };
  const answers = new NodeShardClient(parts).fragments(requests([0, 1]), never);
  for (const [shard, failure] of (await Promise.all(answers.map((answer) => failureOf(rowsOf(answer))))).entries()) {
    expect(failure.message).toBe(`cannot reach shard ${shard}: 3 nodes went away while they worked on it; the connection ended`);
  }
  expect(times).toBe(5); // Once together, twice each.
});

test("a node that nobody reads from is asked again by each, for as long as by itself", async () => {
  for (const shard of [0, 1]) owned.set(shard, "gone");
  const [first, second] = client().fragments(requests([0, 1]), never);
  const rows = allRows([first, second].filter((answer) => answer !== undefined));
  await Bun.sleep(300);
  node("gone", [0, 1]);
  expect(await rows).toEqual([ROWS, ROWS]);
});

test("the signal ends all of them, also those that wait for their turn", async () => {
  const { node: there, hosts } = node("a", [0, 1, 2]);
  const ending = new AbortController();
  before(hosts[0], () => new Promise((resolve) => ending.signal.addEventListener("abort", () => resolve())));
  const left = client()
    .fragments(requests(), ending.signal)
    .map((answer) => failureOf(rowsOf(answer)));
  await Bun.sleep(30);
  ending.abort(new DbError(StatusCode.DeadlineExceeded, "too late"));
  for (const error of await Promise.all(left)) expect(error.message).toBe("too late");
  for (let i = 0; i < 100 && there.running.list().length > 0; i++) await Bun.sleep(10);
  expect(there.running.list()).toEqual([]);
  expect(there.pool.used).toBe(0);
});
