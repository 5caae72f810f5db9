/** Memory for bodies: taken before they are there, as they are sent and as they unfold, and given back whatever happens. */
import { afterAll, expect, test } from "bun:test";
import net from "node:net";
import zlib from "node:zlib";
import { type HttpFixture, startFixture } from "../../../../test/support/http-fixture.ts";
import { DbError } from "../../../base/error.ts";
import { ServerMemory } from "../../../base/memory/server-memory.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { DecodeResult } from "../../../ingest/influx/types.ts";
import { SeriesDictionary } from "../../../table/series-dictionary.ts";
import { decompress, expectedBytes } from "./decompress.ts";
import type { HttpServerOptions } from "../options.ts";

const LIMIT = 100_000;
const fixtures: HttpFixture[] = [];
afterAll(async () => {
  for (const { server } of fixtures) await server.stop(50);
});

async function start(changes: Partial<HttpServerOptions> = {}): Promise<{ readonly fixture: HttpFixture; readonly memory: ServerMemory }> {
  const memory = new ServerMemory(Number.POSITIVE_INFINITY);
  const fixture = await startFixture({ memory, inFlightBytesMax: LIMIT, inFlightWaitMs: 100, ...changes });
  fixtures.push(fixture);
  return { fixture, memory };
}

async function post(
  { url }: HttpFixture,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Promise<[number, string]> {
  const response = await fetch(`${url}/v1/influxdb/write`, { method: "POST", body, headers });
  return [response.status, await response.text()];
}

const REFUSED: [number, string] = [429, "Request body memory limit exceeded: Request memory limit exceeded"];
const lines = (bytes: number): string => "cpu v=1\n".repeat(Math.ceil(bytes / 8));

test.each(["gzip", "zstd", "br", "deflate"] as const)("a %s body is counted as what it unfolds to", async (coding) => {
  const { fixture, memory } = await start();
  const encode = { gzip: zlib.gzipSync, zstd: zlib.zstdCompressSync, br: zlib.brotliCompressSync, deflate: zlib.deflateSync }[coding];
  const gate = Promise.withResolvers<void>();
  fixture.db.onAdmit = () => gate.promise;
  const fits = post(fixture, encode(lines(90_000)), { "content-encoding": coding });
  while (memory.bytesOf("request_bodies") !== 90_000) await Bun.sleep(1);
  gate.resolve();
  expect(await fits).toEqual([204, ""]);
  expect(await post(fixture, encode(lines(250_000)), { "content-encoding": coding })).toEqual(REFUSED);
  expect(memory.bytesOf("request_bodies")).toBe(0);
});

test("what a body says it unfolds to is believed only for the memory that is set aside", async () => {
  const text = Buffer.from(lines(50_000));
  const two = Buffer.concat([zlib.gzipSync(text), zlib.gzipSync(Buffer.from("cpu v=1\n"))]);
  expect(expectedBytes(two, "gzip")).toBe(8); // The size of the last member alone.
  const lie = zlib.gzipSync(text);
  lie.writeUInt32LE(0xffff_ffff, lie.length - 4);
  expect(expectedBytes(lie, "gzip")).toBe(lie.length * 16);
  expect(expectedBytes(zlib.zstdCompressSync(text), "zstd")).toBe(50_000);
  expect(expectedBytes(new Uint8Array(3), "gzip")).toBe(48);
  expect(expectedBytes(new Uint8Array(0), "br")).toBe(1);
  const { fixture } = await start();
  expect(await post(fixture, two, { "content-encoding": "gzip" })).toEqual([204, ""]);
  expect(fixture.bodies.at(-1)?.length).toBe(50_008);
});

test("the right size is enough for each decoder", async () => {
  for (const bytes of [40, 100, 16_384, 200_000]) {
    const text = Buffer.from(Array.from({ length: bytes }, (_, i) => (i * i) & 127));
    for (const [coding, packed] of [
      ["gzip", zlib.gzipSync(text)],
      ["zstd", zlib.zstdCompressSync(text)],
    ] as const) {
      expect(expectedBytes(packed, coding)).toBe(bytes);
      const room = { bytes, bytesMax: bytes, grow: () => Promise.reject(new Error("it was enough")) };
      expect(await decompress(packed, coding, room)).toEqual(new Uint8Array(text));
    }
  }
});

test("a body without a length is counted as it comes in", async () => {
  const { fixture, memory } = await start({ inFlightBytesMax: 3 * 1024 * 1024, bodyBytesMax: 0 });
  const streamed = (bytes: number): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start(controller) {
        for (let left = bytes; left > 0; left -= 100_000) controller.enqueue(Buffer.from(lines(100_000)));
        controller.close();
      },
    });
  expect(await post(fixture, streamed(4_000_000))).toEqual([204, ""]);
  expect((await post(fixture, streamed(8_000_000)))[0]).toBe(429);
  expect(memory.bytesOf("request_bodies")).toBe(0);
});

test("requests wait their turn for a while, then they are told to come back; nothing of those that left stays", async () => {
  const { fixture, memory } = await start();
  const gate = Promise.withResolvers<void>();
  fixture.db.onAdmit = () => gate.promise;
  const working = post(fixture, lines(80_000));
  while (memory.bytesOf("request_bodies") === 0) await Bun.sleep(1);
  const left = net.connect(fixture.server.port, "127.0.0.1", () => {
    left.write(`POST /v1/influxdb/write HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n${lines(100)}`);
  });
  await Bun.sleep(10);
  left.destroy();
  expect(await post(fixture, lines(40_000))).toEqual(REFUSED);
  const waiting = post(fixture, lines(40_000));
  await Bun.sleep(10);
  gate.resolve();
  expect((await working)[0]).toBe(204);
  expect((await waiting)[0]).toBe(204);
  expect(memory.bytesOf("request_bodies")).toBe(0);
});

test("a client that leaves in the middle of its body gives its share back", async () => {
  const { fixture, memory } = await start();
  const socket = net.connect(fixture.server.port, "127.0.0.1", () => {
    socket.write(`POST /v1/influxdb/write HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n${lines(1000)}`);
  });
  while (memory.bytesOf("request_bodies") === 0) await Bun.sleep(1);
  socket.destroy();
  while (memory.bytesOf("request_bodies") > 0) await Bun.sleep(1);
  expect((await post(fixture, lines(90_000)))[0]).toBe(204);
});

test("the limit, what is in use and what was refused are shown", async () => {
  const { fixture } = await start({ inFlightWaitMs: 0 });
  expect(await post(fixture, lines(200_000))).toEqual(REFUSED);
  const text = await (await fetch(`${fixture.url}/metrics`)).text();
  expect(text).toContain("greptime_servers_request_memory_limit_bytes 100000");
  expect(text).toContain("greptime_servers_request_memory_in_use_bytes 0");
  expect(text).toContain('greptime_servers_request_memory_rejected_total{reason="too_large"} 1');
});

test.each(["identity", "gzip"])("the memory of a large %s body is freed with its answer, unless that is an error", async (coding) => {
  const bodies: Uint8Array[] = [];
  const made: DecodeResult = {
    batch: { dictionary: new SeriesDictionary(), tables: [] },
    rowCount: 1,
    lineCount: 1,
    errorCount: 0,
    errors: [],
  };
  const decode = (bytes: Uint8Array): DecodeResult => {
    bodies.push(bytes);
    return made;
  };
  const influx = {
    enabled: true,
    defaultMergeMode: "last_non_null",
    timeColumn: "t",
    createDecoder: () => ({ memoryBytes: 0, decode }),
  } as const;
  const { fixture } = await start({ influx, inFlightBytesMax: 0 });
  const sent = coding === "gzip" ? zlib.gzipSync(lines(200_000)) : lines(200_000);
  expect(await post(fixture, sent, { "content-encoding": coding })).toEqual([204, ""]);
  fixture.db.onWrite = () => Promise.reject(new DbError(StatusCode.StorageUnavailable, "cannot write the log: the disk is gone"));
  expect((await post(fixture, sent, { "content-encoding": coding }))[0]).toBe(503);
  expect(bodies.map(({ length }) => length)).toEqual([0, 200_000]);
});

test("a body that unfolds to more than it was expected to grows with its room, up to the most there can be", async () => {
  for (const bytes of [5_000, 300_000, 5_000_000]) {
    const text = Buffer.from(lines(bytes));
    for (const [coding, packed] of [
      ["gzip", zlib.gzipSync(text)],
      ["deflate", zlib.deflateRawSync(text)],
      ["zstd", zlib.zstdCompressSync(text)],
      ["br", zlib.brotliCompressSync(text)],
    ] as const) {
      const grown: number[] = [];
      const room = (bytesMax: number) => ({ bytes: 100, bytesMax, grow: (to: number) => Promise.resolve(grown.push(to) < 100) });
      expect(await decompress(packed, coding, room(bytes))).toEqual(new Uint8Array(text));
      expect(grown.at(-1)).toBeLessThanOrEqual(bytes);
      expect(await decompress(packed, coding, room(bytes - 1))).toEqual({ kind: "too-large" });
      expect(await decompress(packed, coding, { ...room(bytes), grow: () => Promise.resolve(false) })).toEqual({ kind: "no-room" });
      expect(await decompress(packed.subarray(0, packed.length - 5), coding, room(bytes))).toMatchObject({ kind: "broken" });
    }
  }
});
