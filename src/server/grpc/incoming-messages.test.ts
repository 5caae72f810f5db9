import { expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { BytesValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { MemoryPool, ServerMemory } from "../../base/memory/server-memory.ts";
import { COMPRESSIONS } from "./compression.ts";
import { formsOf, IncomingMessages } from "./incoming-messages.ts";
import { bytesOf, wrapped } from "./raw-message.ts";

const signal = new AbortController().signal;

function enveloped(message: Uint8Array, flags = 0, length: number = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

function inPieces(bytes: Uint8Array, size: number): readonly Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

async function* streamOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function poolOf(bytesMax: number): MemoryPool {
  return new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "request_bodies", bytesMax);
}

/** What comes out, or the code and the text of the failure; all memory is given back. */
async function readAll(
  pieces: readonly Uint8Array[],
  headers: Record<string, string>,
  pool: MemoryPool = poolOf(1e6),
  bytesMax = 1000,
): Promise<readonly Buffer[] | string> {
  const messages = new IncomingMessages({ pool, bytesMax, waitMs: 0 }, formsOf(new Headers(headers), signal));
  const before = pool.used;
  const out: Buffer[] = [];
  try {
    for await (const message of messages.read(streamOf(pieces))) out.push(Buffer.from(message));
    return out;
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return `${Code[code]}: ${rawMessage}`;
  } finally {
    messages.release();
    expect(pool.used).toBe(before);
  }
}

const GRPC = { "content-type": "application/grpc" };

test("messages come out whole however they were cut, in a field of another where they are no JSON", async () => {
  const bodies = [Buffer.from("one"), Buffer.alloc(0), Buffer.alloc(700, 7), Buffer.alloc(127, 8), Buffer.from("four")];
  for (const size of [1, 2, 3, 5, 7, 64, 1000, 10_000]) {
    for (const type of ["application/grpc", "application/grpc-web+proto", "application/connect+proto"]) {
      const read = await readAll(inPieces(Buffer.concat(bodies.map((each) => enveloped(each))), size), { "content-type": type });
      expect(read).toEqual(bodies.map((each) => enveloped(wrapped(each))));
    }
    const asJson = await readAll(inPieces(enveloped(Buffer.from("{}")), size), { "content-type": "application/connect+json" });
    expect(asJson).toEqual([enveloped(Buffer.from("{}"))]);
  }
  const body = Buffer.from("a body");
  expect(await readAll(inPieces(body, 2), { "content-type": "application/proto" })).toEqual([Buffer.from(wrapped(body))]);
  expect(await readAll(inPieces(body, 2), { "content-type": "application/json" })).toEqual([body]);
});

test("one that is cut short, or too long by what its head claims, is refused before its memory is taken", async () => {
  expect(await readAll([enveloped(Buffer.from("abc"), 0, 4)], GRPC)).toBe("InvalidArgument: cannot read the message: it is cut short");
  const why = (length: number): string =>
    `ResourceExhausted: cannot take a message of ${length} bytes: at most 1000 are taken (grpc.max_recv_message_size)`;
  expect(await readAll([enveloped(Buffer.from("abc"), 0, 0xffff_ffff)], GRPC)).toBe(why(0xffff_ffff));
  expect(await readAll([Buffer.alloc(600), Buffer.alloc(600)], { "content-type": "application/json" })).toBe(why(1200));
});

test("what a packed message unfolds to counts, and a bomb is not unfolded", async () => {
  const packs = { gzip: gzipSync, zstd: zstdCompressSync };
  for (const [name, pack] of Object.entries(packs)) {
    const headers = { ...GRPC, "grpc-encoding": name };
    const fits = enveloped(pack(Buffer.alloc(900)), 1);
    expect(await readAll([fits], headers)).toEqual([fits]);
    expect(await readAll([fits], headers, poolOf(500))).toContain("ResourceExhausted: cannot take the message: messages of others fill");
    const bomb = enveloped(pack(Buffer.alloc(500_000)), 1);
    expect(await readAll([bomb], headers)).toContain("has 500000 bytes, and at most 1000 are taken");
  }
});

test("a packed message that says less than it is fails while it is unfolded", async () => {
  const gzip = COMPRESSIONS.find(({ name }) => name === "gzip");
  const lie = gzipSync(Buffer.alloc(1_000_000));
  lie.writeUInt32LE(10, lie.length - 4);
  expect(gzip?.decompress(lie, 1000)).rejects.toThrow("it is no gzip of 10 bytes");
  for (const { compress, decompress } of COMPRESSIONS) {
    const bytes = crypto.getRandomValues(new Uint8Array(500));
    expect(await decompress(await compress(bytes), 1000)).toEqual(bytes);
    expect(decompress(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 0, 0, 0), 1000)).rejects.toThrow(ConnectError);
  }
});

test("the field that a message is put into has its length, whatever that is", () => {
  for (const length of [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152]) {
    const message = Buffer.alloc(length, 1);
    expect(Buffer.compare(bytesOf(fromBinary(BytesValueSchema, wrapped(message))), message)).toBe(0);
  }
});
