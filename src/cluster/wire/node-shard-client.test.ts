/** Who is asked, and when again. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { EngineHost } from "../../../test/support/cluster/engine-host.ts";
import { answerOf, filledTable, fragmentOf, scanOf } from "../../../test/support/cluster/fragment-rows.ts";
import { inProcessShardClient } from "../../../test/support/cluster/in-process-shard-client.ts";
import { ShardNode } from "../../../test/support/cluster/shard-node.ts";
import type { EngineFixture } from "../../../test/support/engine-fixture.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { systemClock } from "../../base/clock.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { DbError } from "../../base/error.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Table } from "../../table/catalog.ts";
import { PortError } from "../port/port-error.ts";
import { ALIVE, FRAME, writeFrame, writeHead } from "./frames.ts";
import { NodeShardClient } from "./node-shard-client.ts";
import { type NodeTransport, NotAnswered } from "./node-transport.ts";
import { encodeAnswer } from "./requests.ts";
import type { ShardCall } from "./shard-request.ts";

const ROWS = 50;
const MOMENT = { shard: 0, catalogVersion: 0, least: 0 };

let fixture: EngineFixture;
let table: Table;

/** Owners that a test names. */
class Owners {
  address: string | undefined;
  private change: PromiseWithResolvers<void> = Promise.withResolvers<void>();

  ownerOf(): { readonly address: string } | undefined {
    return this.address === undefined ? undefined : { address: this.address };
  }

  nextChange(): Promise<void> {
    return this.change.promise;
  }

  set(address: string | undefined): void {
    this.address = address;
    const { resolve } = this.change;
    this.change = Promise.withResolvers<void>();
    resolve();
  }
}

let owners: Owners;
let nodes: Map<string, ShardNode["service"]>;
let asked: ShardNode[];

beforeAll(async () => {
  ({ fixture, table } = await filledTable(ROWS));
});

beforeEach(() => {
  owners = new Owners();
  nodes = new Map();
  asked = [];
});

afterAll(() => fixture.machine.engine.close());

/** A node, which owns the shard if `owns`. */
function node(address: string, owns: boolean): { readonly node: ShardNode; readonly host: EngineHost } {
  const made = new ShardNode({ reachMillis: 200 });
  const host = new EngineHost(0, fixture.machine.engine);
  if (owns) made.hosts.set(0, host);
  nodes.set(address, made.service);
  asked.push(made);
  return { node: made, host };
}

const clientOf = (ownerMillis = 2000) => inProcessShardClient(1, nodes, owners, { last: async () => 0 }, { ownerMillis });
const fragment = (more = {}) => fragmentOf(table, scanOf(table), more);

test("without an owner it waits for one", async () => {
  const rows = answerOf(clientOf(), fragment());
  await Bun.sleep(50);
  node("a", true);
  owners.set("a");
  expect((await rows).rows.length).toBe(ROWS);
});

test("without an owner for long it gives up", async () => {
  const error = await failureOf(answerOf(clientOf(100), fragment()));
  expect(error).toMatchObject({
    code: StatusCode.StorageUnavailable,
    message: "cannot reach shard 0: no node owns it",
    retryAfterSeconds: 1,
  });
});

test("a node that does not own the shard any more sends it to the next one", async () => {
  node("a", false);
  node("b", true);
  owners.set("a");
  const rows = answerOf(clientOf(), fragment());
  await Bun.sleep(50);
  owners.set("b");
  expect((await rows).rows.length).toBe(ROWS);
});

test("nobody where the owner should be: it asks again", async () => {
  owners.set("gone");
  const rows = answerOf(clientOf(), fragment());
  await Bun.sleep(50);
  node("gone", true);
  expect((await rows).rows.length).toBe(ROWS);
});

test("a shard that is far behind is refused there, and asked again", async () => {
  const { host } = node("a", true);
  owners.set("a");
  const rows = answerOf(clientOf(), fragment({ least: 3 }));
  await Bun.sleep(450); // The node refused it by then.
  host.apply(3);
  expect((await rows).rows.length).toBe(ROWS);
});

test("a shard that stays behind fails the fragment, and says so", async () => {
  node("a", true);
  owners.set("a");
  const error = await failureOf(answerOf(clientOf(500), fragment({ least: 3 })));
  expect(error.message).toBe("cannot reach shard 0: shard 0 has not seen record 3 and version 0 of the catalogue within 0.2 s");
});

test("a node that has not heard of the catalogue's version is asked again", async () => {
  let version = 4;
  const reach = async (wanted: number): Promise<void> => {
    if (wanted > version) throw new DbError(StatusCode.StorageUnavailable, `the catalogue is at version ${version}`);
  };
  const made = new ShardNode({ catalog: { reach } });
  made.hosts.set(0, new EngineHost(0, fixture.machine.engine));
  nodes.set("a", made.service);
  owners.set("a");
  const rows = answerOf(clientOf(), fragment({ catalogVersion: 5 }));
  await Bun.sleep(50);
  version = 5;
  expect((await rows).rows.length).toBe(ROWS);
  const error = await failureOf(answerOf(clientOf(100), fragment({ catalogVersion: 6 })));
  expect(error.message).toBe("cannot reach shard 0: the catalogue is at version 5");
});

test("a shard that is lost while it catches up runs elsewhere", async () => {
  const { node: first, host } = node("a", true);
  node("b", true).host.apply(3);
  owners.set("a");
  const rows = answerOf(clientOf(), fragment({ least: 3 }));
  await Bun.sleep(50);
  first.hosts.delete(0);
  host.lose(new DbError(StatusCode.StorageUnavailable, "the shard is another's"));
  owners.set("b");
  expect((await rows).rows.length).toBe(ROWS);
});

test("a shard that is lost before the first row runs elsewhere", async () => {
  const { node: first, host } = node("a", true);
  node("b", true);
  owners.set("a");
  host.wrap = (own) => {
    const broken: Table = Object.create(own);
    // oxlint-disable-next-line require-yield
    broken.scan = async function* () {
      first.hosts.delete(0);
      owners.set("b");
      throw new DbError(StatusCode.StorageUnavailable, "the shard is another's");
    };
    return broken;
  };
  expect((await answerOf(clientOf(), fragment())).rows.length).toBe(ROWS);
});

test("an error that is not of a lost shard is told at once", async () => {
  const { host } = node("a", true);
  owners.set("a");
  host.wrap = (own) => {
    const broken: Table = Object.create(own);
    // oxlint-disable-next-line require-yield
    broken.scan = async function* () {
      throw new DbError(StatusCode.StorageUnavailable, "a file is damaged");
    };
    return broken;
  };
  expect((await failureOf(answerOf(clientOf(60_000), fragment()))).message).toBe("a file is damaged");
});

test("leaving ends the wait for an owner", async () => {
  const canceller = new AbortController();
  const left = failureOf(answerOf(clientOf(60_000), fragment(), canceller.signal));
  await Bun.sleep(20);
  canceller.abort(new DbError(StatusCode.DeadlineExceeded, "too late"));
  expect((await left).message).toBe("too late");
});

/** A client of nodes that do what a test says, by how often they were asked. */
function clientOver(
  ask: (time: number) => AsyncGenerator<Uint8Array>,
  ownerMillis = 2000,
): { client: NodeShardClient; times: () => number } {
  let times = 0;
  owners.set("a");
  const transport: NodeTransport = { ask: () => ask(++times) };
  const parts = { shards: 1, owners, transport, log: { last: async () => 0 }, clock: systemClock, ownerMillis };
  return { client: new NodeShardClient(parts), times: () => times };
}

function bytesOf(...frames: readonly Parameters<typeof writeFrame>[0][]): Uint8Array {
  const out = new ByteWriter();
  writeHead(out);
  for (const frame of frames) writeFrame(frame, out);
  return out.copy();
}

const FLUSH: ShardCall = { ...MOMENT, kind: "flush", tableId: 1 as never };
const TRUNCATE: ShardCall = { ...MOMENT, kind: "truncate", tableId: 1 as never, ranges: undefined };

test.each([FLUSH, TRUNCATE])("$kind is asked again where it had not begun", async (call) => {
  const { client, times } = clientOver(async function* (time) {
    if (time === 1) throw new NotAnswered("nobody is there", false);
    yield bytesOf(ALIVE, { kind: FRAME.answer, payload: encodeAnswer(call.kind, null as never) });
  });
  expect(await client.call(call)).toBeNull();
  expect(times()).toBe(2);
});

test("what may be done twice is asked again when an answer was lost; what may not is not", async () => {
  const ask = async function* (time: number): AsyncGenerator<Uint8Array> {
    if (time === 1) {
      yield bytesOf(ALIVE);
      throw new NotAnswered("the connection ended", true);
    }
    yield bytesOf({ kind: FRAME.answer, payload: encodeAnswer("flush", null) });
  };
  expect(await clientOver(ask).client.call(FLUSH)).toBeNull();
  const { client, times } = clientOver(ask);
  expect((await failureOf(client.call(TRUNCATE))).message).toBe(
    "cannot truncate in shard 0: the connection ended; nobody knows whether it was done",
  );
  expect(times()).toBe(1);
});

test("an answer without its end is no answer", async () => {
  for (const bytes of [bytesOf(), bytesOf(ALIVE), bytesOf(ALIVE).subarray(0, 7)]) {
    const { client } = clientOver(async function* () {
      yield bytes;
    }, 300);
    expect((await failureOf(client.call(FLUSH))).message).toContain("node a ended its answer");
  }
});

test("a request that three nodes went away with is not given to a fourth", async () => {
  const { client, times } = clientOver(async function* () {
    yield bytesOf(ALIVE);
    throw new NotAnswered("the connection ended", true);
  }, 60_000);
  expect((await failureOf(client.call(FLUSH))).message).toBe(
    "cannot reach shard 0: 3 nodes went away while they worked on it; the connection ended",
  );
  expect(times()).toBe(3);
});

test.each([
  ["hangs is left", true, ["a", "b"]],
  ["says that it works is not", false, ["a"]],
] as const)("while another one owns the shard, a node that %s", async (_, hangs, want) => {
  const asked: string[] = [];
  owners.set("a");
  const answer = bytesOf({ kind: FRAME.answer, payload: encodeAnswer("flush", null) });
  const transport: NodeTransport = {
    async *ask({ address }, signal) {
      asked.push(address);
      if (address === "b") return yield answer;
      if (hangs) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throwIfCancelled(signal);
      yield bytesOf();
      for (let i = 0; i < 8; i++) {
        await Bun.sleep(500);
        throwIfCancelled(signal);
        yield bytesOf(ALIVE).subarray(4);
      }
      yield answer.subarray(4);
    },
  };
  const parts = { shards: 1, owners, transport, log: { last: async () => 0 }, clock: systemClock };
  const call = new NodeShardClient(parts).call(FLUSH);
  await Bun.sleep(50);
  owners.set("b");
  expect(await call).toBeNull();
  expect(asked).toEqual([...want]);
});

test("the newest record is asked for again while servers elect", async () => {
  let times = 0;
  const last = async (shard: number): Promise<number> => {
    if (++times < 3) throw new PortError("unavailable", "cannot read the log: there is no leader");
    return shard + 40;
  };
  const parts = { shards: 4, owners, transport: { ask: async function* () {} } as NodeTransport, log: { last }, clock: systemClock };
  expect(await new NodeShardClient(parts).newest(2)).toBe(42);
  const failing = async (): Promise<number> => {
    throw new PortError("vanished", "cannot read the log: it is gone");
  };
  expect((await failureOf(new NodeShardClient({ ...parts, log: { last: failing } }).newest(2))).message).toContain("it is gone");
});
