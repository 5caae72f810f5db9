/** Messages with rows on their way into the log: streams that wait for a disk, and messages that would hold the thread. */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { create } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "bun:test";
import { columnsBody, rowsBody } from "../../../../bench/macro/native-bodies.ts";
import { GreptimeDatabase, type GreptimeRequest, GreptimeRequestSchema } from "../../../../proto/gen/greptime/v1/database_pb.js";
import { FakeDb } from "../../../../test/support/fake-db.ts";
import { GrpcClient } from "../../../../test/support/grpc-fixture.ts";
import { startWire, type WireFixture } from "../../../../test/support/wire-fixture.ts";
import { DbError } from "../../../base/error.ts";
import { MemoryPool, ServerMemory } from "../../../base/memory/server-memory.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { startGrpcServer } from "../server.ts";
import { greptimeDatabase, type GreptimeDatabaseParts } from "./greptime-database.ts";

/** Writes that a stream has on their way at most, as pending-writes.ts has it. */
const WRITES_MAX = 8;
const LARGE_ROWS = 25_000;
const ROWS = 1000;

function start(changes: Partial<GreptimeDatabaseParts> = {}): Promise<WireFixture> {
  return startWire("http", undefined, ({ memory: _wires, ...shared }) => {
    const memory = new ServerMemory(Number.POSITIVE_INFINITY);
    const writing = { autoCreateTable: true, influx: { defaultMergeMode: "last_non_null" } };
    const services = [greptimeDatabase({ ...shared, memory, ...writing, ...changes }).service];
    const bytesMax = 64 * 1024 * 1024;
    const room = { pool: new MemoryPool(memory, "request_bodies", 4 * bytesMax), bytesMax, waitMs: 100 };
    return startGrpcServer({ ...shared, services, room, sendBytesMax: bytesMax, pages: { allowedHosts: [], origins: [] } });
  });
}

/** A request whose member is bytes as they are: an unknown field, which the library writes and does not read. */
function requestOf(no: number, body: Uint8Array): GreptimeRequest {
  const $unknown = [{ no, wireType: 2, data: new BinaryWriter().bytes(body).finish() }];
  return Object.assign(create(GreptimeRequestSchema), { $unknown });
}

const rows = (body: number, rowCount: number): GreptimeRequest => requestOf(6, rowsBody(body, rowCount));

/** The same rows many times: members that are repeated may come in parts. */
const large = (): Buffer => Buffer.concat(new Array<Uint8Array>(LARGE_ROWS / ROWS).fill(rowsBody(0, ROWS)));

/** Sends messages as a stream. @returns the rows of the answer, or the failure */
async function stream({ port }: WireFixture, messages: AsyncIterable<GreptimeRequest>): Promise<number | string> {
  using client = new GrpcClient(port);
  try {
    const { response } = await createClient(GreptimeDatabase, client.transport).handleRequests(messages);
    return response.case === "affectedRows" ? response.value.value : "nothing";
  } catch (thrown) {
    return ConnectError.from(thrown).rawMessage;
  }
}

async function failureOf(work: Promise<unknown>): Promise<ConnectError> {
  const [outcome] = await Promise.allSettled([work]);
  return ConnectError.from(outcome?.status === "rejected" ? outcome.reason : new Error("the work should fail"));
}

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isSo(); i++) await Bun.sleep(2);
  expect(isSo()).toBe(true);
}

describe("a stream", () => {
  test("decodes messages while earlier ones are synced, a bounded number, and answers when all are durable", async () => {
    const db = new FakeDb();
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    db.onWrite = () => {
      begun++;
      return gate.promise;
    };
    const server = await start({ db });
    try {
      let isAnswered = false;
      const answer = stream(
        server,
        (async function* () {
          for (let i = 0; i < 20; i++) yield rows(i, 2);
        })(),
      ).finally(() => {
        isAnswered = true;
      });
      await until(() => begun === WRITES_MAX);
      await Bun.sleep(20);
      expect([begun, isAnswered]).toEqual([WRITES_MAX, false]);
      gate.resolve();
      expect(await answer).toBe(40);
      expect(db.writes.length).toBe(20);
    } finally {
      await server.stop();
    }
  });

  test("ends with a write that fails, though its client sends nothing more", async () => {
    const db = new FakeDb();
    const failing = Promise.withResolvers<void>();
    let begun = 0;
    db.onWrite = () => (begun++ === 1 ? failing.promise : Promise.resolve());
    const server = await start({ db });
    const client = Promise.withResolvers<void>();
    try {
      const answer = stream(
        server,
        (async function* () {
          yield rows(0, 1);
          yield rows(1, 1);
          await client.promise;
        })(),
      );
      await until(() => begun === 2);
      failing.reject(new DbError(StatusCode.StorageUnavailable, "the disk is gone"));
      expect(await answer).toContain("the disk is gone");
    } finally {
      client.resolve();
      await server.stop();
    }
  });

  test("tells of the write that failed first, not of the message that cannot be read behind it", async () => {
    const db = new FakeDb();
    const failing = Promise.withResolvers<void>();
    db.onWrite = () => failing.promise;
    const server = await start({ db });
    try {
      const answer = stream(
        server,
        (async function* () {
          yield rows(0, 1);
          yield requestOf(6, Uint8Array.of(0x0a, 0x01, 0x0a));
        })(),
      );
      await Bun.sleep(30);
      failing.reject(new DbError(StatusCode.StorageUnavailable, "the disk is gone"));
      expect(await answer).toContain("the disk is gone");
    } finally {
      await server.stop();
    }
  });
});

describe("a large message", () => {
  test("is written in several records, and small ones are answered before it", async () => {
    const server = await start();
    using client = new GrpcClient(server.port);
    try {
      const database = createClient(GreptimeDatabase, client.transport);
      const order: string[] = [];
      const sent = database.handle(requestOf(6, large())).then(({ response }) => {
        order.push("large");
        return response.value;
      });
      const metered = async (): Promise<void> => {
        while (!order.includes("large")) {
          await database.handle(rows(1_000_000, 1));
          order.push("small");
        }
      };
      const [value] = await Promise.all([sent, metered()]);
      expect(value).toMatchObject({ value: LARGE_ROWS });
      expect(order.indexOf("large")).toBeGreaterThan(0);
    } finally {
      await server.stop();
    }
  });

  test("is refused whole where its last value is none", async () => {
    const db = new FakeDb();
    const fake = await start({ db });
    using client = new GrpcClient(fake.port);
    try {
      const { handle } = createClient(GreptimeDatabase, client.transport);
      const body = large();
      expect((await handle(requestOf(6, body))).response.value).toMatchObject({ value: LARGE_ROWS });
      expect(db.writes.length).toBeGreaterThan(1);
      db.writes.length = 0;
      body[body.length - 1] = 0xff; // of the counter: its varint does not end
      expect((await failureOf(handle(requestOf(6, body)))).rawMessage).toContain("cannot read row_inserts");
      expect(db.writes).toEqual([]);
    } finally {
      await fake.stop();
    }
  });

  test("is one of few bytes that unfolds to many cells, too", async () => {
    const db = new FakeDb();
    const fake = await start({ db });
    using client = new GrpcClient(fake.port);
    try {
      const rowCount = 40_000;
      const mask = new Uint8Array(rowCount / 8).fill(0xff);
      const insert = new BinaryWriter().tag(1, 2).string("nulls").tag(4, 0).uint32(rowCount);
      const times = new BinaryWriter().tag(17, 2).bytes(new Uint8Array(rowCount)).finish();
      insert
        .tag(3, 2)
        .bytes(new BinaryWriter().tag(1, 2).string("ts").tag(2, 0).int32(2).tag(3, 2).bytes(times).tag(5, 0).int32(16).finish());
      for (let i = 0; i < 40; i++)
        insert
          .tag(3, 2)
          .bytes(new BinaryWriter().tag(1, 2).string(`c${i}`).tag(2, 0).int32(1).tag(4, 2).bytes(mask).tag(5, 0).int32(10).finish());
      const body = new BinaryWriter().tag(1, 2).bytes(insert.finish()).finish();
      await createClient(GreptimeDatabase, client.transport).handle(requestOf(2, body));
      expect(db.writes.length).toBeGreaterThan(5);
      expect(db.writes.reduce((sum, write) => sum + write.rowCount, 0)).toBe(rowCount);
      db.writes.length = 0;
      await createClient(GreptimeDatabase, client.transport).handle(requestOf(2, columnsBody(0, 1000)));
      expect(db.writes.length).toBe(1);
    } finally {
      await fake.stop();
    }
  });
});
