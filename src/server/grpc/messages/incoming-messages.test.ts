import { expect, test } from "bun:test";
import { once } from "node:events";
import { createZstdCompress, gzipSync, zstdCompressSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { BytesValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { MemoryPool, ServerMemory } from "../../../base/memory/server-memory.ts";
import { zstdContentSize } from "../../../format/zstd/frames.ts";
import { COMPRESSIONS, unfoldedBytes } from "./compression.ts";
import { type BodyFlow, formsOf, IncomingMessages } from "./incoming-messages.ts";
import { bytesOf, wrapped } from "./raw-message.ts";

function enveloped(message: Uint8Array, flags = 0, length: number = message.length): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.from(Buffer.concat([head, message]));
}

function inPieces(bytes: Uint8Array, size: number): readonly Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

function poolOf(bytesMax: number): MemoryPool {
  return new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "request_bodies", bytesMax);
}

/** What a client is let send on. */
class CountedFlow implements BodyFlow {
  bytesCounted = 0;
  bytesWanted = 0;

  counted(bytes: number): void {
    this.bytesCounted += bytes;
  }

  wanted(bytes: number): void {
    this.bytesWanted += bytes;
  }
}

/** What comes out, or the code and the text of the failure; all memory is given back. */
async function read(
  pieces: readonly Uint8Array[],
  headers: Record<string, string>,
  pool: MemoryPool = poolOf(1e6),
  bytesMax = 1000,
): Promise<readonly Buffer[] | string> {
  const flow = new CountedFlow();
  const messages = new IncomingMessages({ pool, bytesMax, waitMs: 0 }, formsOf(new Headers(headers)), flow);
  const before = pool.used;
  const out: Buffer[] = [];
  try {
    for (const piece of pieces) messages.data(piece);
    messages.end();
    for await (const message of messages) out.push(Buffer.from(message));
    return out;
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return `${Code[code]}: ${rawMessage}`;
  } finally {
    messages.release();
    expect(pool.used).toBe(before);
    const sent = pieces.reduce((sum, { length }) => sum + length, 0);
    expect([flow.bytesCounted, flow.bytesWanted]).toEqual([sent, sent]);
  }
}

const GRPC = { "content-type": "application/grpc" };

test("messages come out whole however they were cut", async () => {
  const messages = [Buffer.from("one"), Buffer.alloc(0), Buffer.alloc(700, 7), Buffer.from("four")].map((each) => enveloped(each));
  for (const size of [1, 2, 3, 5, 7, 64, 1000, 10_000]) {
    expect(await read(inPieces(Buffer.concat(messages), size), GRPC)).toEqual(messages);
    expect(await read(inPieces(Buffer.concat(messages), size), { "content-type": "application/connect+proto" })).toEqual(messages);
  }
  expect(await read(inPieces(Buffer.from("a body"), 2), { "content-type": "application/proto" })).toEqual([Buffer.from("a body")]);
});

test("one that is cut short, or too long by what its head claims, is refused before its memory is taken", async () => {
  expect(await read([enveloped(Buffer.from("abc"), 0, 4)], GRPC)).toBe("InvalidArgument: cannot read the message: it is cut short");
  const why = (length: number): string =>
    `ResourceExhausted: cannot take a message of ${length} bytes: at most 1000 are taken (grpc.max_recv_message_size)`;
  expect(await read([enveloped(Buffer.from("abc"), 0, 0xffff_ffff)], GRPC)).toBe(why(0xffff_ffff));
  expect(await read([Buffer.alloc(600), Buffer.alloc(600)], { "content-type": "application/json" })).toBe(why(1200));
});

test("what a packed message unfolds to counts, and a bomb is not unfolded", async () => {
  const packs = { gzip: gzipSync, zstd: zstdCompressSync };
  for (const [name, pack] of Object.entries(packs)) {
    const headers = { ...GRPC, "grpc-encoding": name };
    const fits = enveloped(pack(Buffer.alloc(900)), 1);
    expect(await read([fits], headers)).toEqual([fits]);
    expect(await read([fits], headers, poolOf(500))).toContain("ResourceExhausted: cannot take the message: messages of others fill");
    const bomb = enveloped(pack(Buffer.alloc(500_000)), 1);
    expect(await read([bomb], headers)).toContain("has 500000 bytes, and at most 1000 are taken");
  }
});

/** Frames as writers of streams leave them: without their size. */
async function withoutSize(pieces: readonly Buffer[]): Promise<Buffer> {
  const pack = createZstdCompress();
  const packed: Buffer[] = [];
  pack.on("data", (chunk: Buffer) => packed.push(chunk));
  const end = once(pack, "end");
  for (const piece of pieces) pack.write(piece);
  pack.end();
  await end;
  return Buffer.concat(packed);
}

test("zstd that does not say how long it is unfolds up to the limit, and is refused where it is cut", async () => {
  const zstd = COMPRESSIONS.find(({ name }) => name === "zstd");
  const texts = Array.from({ length: 40_000 }, (_, i) => Buffer.from(`line ${i} of a message\n`));
  const whole = Buffer.concat(texts);
  const packed = await withoutSize(texts);
  expect(zstdContentSize(packed)).toBeUndefined();
  const size = unfoldedBytes("zstd", packed, 1 << 30);
  expect([size >= whole.length, size < whole.length + 256 * 1024]).toEqual([true, true]);
  expect(await zstd?.decompress(packed, 1 << 30)).toEqual(new Uint8Array(whole));
  const small = await withoutSize([Buffer.from("ten bytes.")]);
  expect(unfoldedBytes("zstd", small, 1000)).toBeLessThanOrEqual(1000);
  expect(await zstd?.decompress(small, 1000)).toEqual(new Uint8Array(Buffer.from("ten bytes.")));
  expect(zstd?.decompress(packed, 1000)).rejects.toThrow("it has more than 1000 bytes, and at most 1000 are taken");
  for (const cut of [1, 5, packed.length >> 1, packed.length - 1])
    expect(() => unfoldedBytes("zstd", packed.subarray(0, cut), 1 << 30)).toThrow("it is no whole zstd");
});

test("a packed message that says less than it is fails while it is unfolded", async () => {
  const gzip = COMPRESSIONS.find(({ name }) => name === "gzip");
  const lie = gzipSync(Buffer.alloc(1_000_000));
  lie.writeUInt32LE(10, lie.length - 4);
  expect(gzip?.decompress(lie, 1000)).rejects.toThrow("it is no gzip of up to 10 bytes");
  for (const { compress, decompress } of COMPRESSIONS) {
    const bytes = crypto.getRandomValues(new Uint8Array(500));
    expect(await decompress(await compress(bytes), 1000)).toEqual(bytes);
    expect(decompress(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 0, 0, 0), 1000)).rejects.toThrow(ConnectError);
  }
});

test("messages beyond what is taken keep their client waiting, and those that are taken let it go on", async () => {
  const flow = new CountedFlow();
  const messages = new IncomingMessages({ pool: poolOf(1e6), bytesMax: 1000, waitMs: 0 }, formsOf(new Headers(GRPC)), flow);
  for (let i = 0; i < 3; i++) messages.data(enveloped(Buffer.alloc(95, i)));
  expect([flow.bytesCounted, flow.bytesWanted]).toEqual([300, 100]);
  await messages.next();
  expect(flow.bytesWanted).toBe(100);
  await messages.next();
  expect(flow.bytesWanted).toBe(200);
  messages.release();
  expect(flow.bytesWanted).toBe(300);
});

test("a message without room waits with its client until there is some, or for too long", async () => {
  const pool = poolOf(1000);
  const other = pool.account();
  other.take(900);
  const flow = new CountedFlow();
  const messages = new IncomingMessages({ pool, bytesMax: 700, waitMs: 5000 }, formsOf(new Headers(GRPC)), flow);
  const message = enveloped(Buffer.alloc(500, 1));
  for (const piece of inPieces(message, 100)) messages.data(piece);
  messages.end();
  expect([flow.bytesCounted, flow.bytesWanted]).toEqual([0, 0]);
  const next = messages.next();
  other.close();
  expect(Buffer.from((await next).value ?? [])).toEqual(Buffer.from(message));
  expect([flow.bytesCounted, flow.bytesWanted]).toEqual([505, 505]);
  messages.release();
  expect(pool.used).toBe(0);

  other.take(900);
  const late = new IncomingMessages({ pool, bytesMax: 700, waitMs: 40 }, formsOf(new Headers(GRPC)), new CountedFlow());
  late.data(message);
  expect(late.next()).rejects.toThrow("come back later");
});

test("a large message grows with what comes, and is whole", async () => {
  const bytes = Buffer.alloc(5_000_000, "abcdefg");
  const pool = poolOf(1e7);
  const messages = new IncomingMessages({ pool, bytesMax: 6e6, waitMs: 0 }, formsOf(new Headers(GRPC)), new CountedFlow());
  const whole = enveloped(bytes);
  messages.data(whole.subarray(0, 10));
  expect(pool.used).toBeLessThan(200_000);
  for (const piece of inPieces(whole.subarray(10), 70_000)) messages.data(piece);
  expect(Buffer.compare(Buffer.from((await messages.next()).value ?? []), whole)).toBe(0);
  messages.release();
  expect(pool.used).toBe(0);
});

test("messages of a raw method go by the library, but for those that are packed", async () => {
  const headers = { ...GRPC, "grpc-encoding": "gzip" };
  const pool = poolOf(1e6);
  const messages = new IncomingMessages({ pool, bytesMax: 1000, waitMs: 0 }, formsOf(new Headers(headers)), new CountedFlow());
  messages.goAside();
  const packed = enveloped(gzipSync(Buffer.from("packed")), 1);
  messages.data(Buffer.concat([enveloped(Buffer.from("plain")), packed]));
  expect(Buffer.from((await messages.next()).value ?? [])).toEqual(enveloped(Buffer.alloc(0)));
  const aside = messages.takeAside();
  expect(Buffer.from(aside?.bytes ?? []).toString()).toBe("plain");
  expect(Buffer.from((await messages.next()).value ?? [])).toEqual(packed);
  expect(messages.takeAside()).toBeUndefined();
  aside?.done(true);
  messages.release();
  expect(pool.used).toBe(0);
});

test("the field that a message is put into has its length, whatever that is", () => {
  for (const length of [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152]) {
    const message = Buffer.alloc(length, 1);
    expect(Buffer.compare(bytesOf(fromBinary(BytesValueSchema, wrapped(message))), message)).toBe(0);
  }
});

test("a body without heads goes to a raw method wrapped", async () => {
  const messages = new IncomingMessages(
    { pool: poolOf(1e6), bytesMax: 1000, waitMs: 0 },
    formsOf(new Headers({ "content-type": "application/proto" })),
    new CountedFlow(),
  );
  messages.goAside();
  messages.data(Buffer.from("a body"));
  messages.end();
  const { value } = await messages.next();
  expect(Buffer.from(bytesOf(fromBinary(BytesValueSchema, value ?? Buffer.alloc(0)))).toString()).toBe("a body");
  messages.release();
});
