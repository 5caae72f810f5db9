import { afterAll, describe, expect, test } from "bun:test";
import zlib from "node:zlib";
import { rawExchange, startFixture } from "../../../../test/support/http-fixture.ts";

const LIMIT = 1_000_000;
const { server, url, bodies, db } = await startFixture({ bodyBytesMax: LIMIT });
afterAll(() => server.stop(50));

const PATH = "/v1/influxdb/write";
const TOO_LARGE = "Failed to buffer the request body: length limit exceeded";

const CODECS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array<ArrayBuffer>>> = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zlib.zstdCompressSync,
};

/** Posts a body and compares status and text. */
async function check(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  want: { status: number; text?: string | RegExp },
): Promise<void> {
  const response = await fetch(url + PATH, { method: "POST", body, headers });
  const text = await response.text();
  expect(response.status).toBe(want.status);
  if (typeof want.text === "string") expect(text).toBe(want.text);
  else if (want.text !== undefined) expect(text).toMatch(want.text);
}

/** A body without Content-Length. */
function streamOf(bytes: Uint8Array, piece: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(at, at + piece));
      at += piece;
      if (at >= bytes.length) controller.close();
    },
  });
}

/** Bytes that no coding shortens, the same in every run. */
function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const head = (headers: string): string => `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

describe("codings", () => {
  const lines = Buffer.from("cpu v=1\n".repeat(100));
  for (const [coding, encode] of Object.entries(CODECS)) {
    test(`${coding} is decoded, whole or chunked, small or large`, async () => {
      await check(encode(lines), { "content-encoding": coding }, { status: 204, text: "" });
      expect(bodies.at(-1)).toBe(lines.toString());
      await check(streamOf(encode(lines), 7), { "content-encoding": coding }, { status: 204 });
      expect(bodies.at(-1)).toBe(lines.toString());
      const large = noise(60_000).toHex();
      await check(encode(Buffer.from(large)), { "content-encoding": coding.toUpperCase() }, { status: 204 });
      expect(bodies.at(-1)).toBe(large);
    });

    test(`a ${coding} body that is cut short or no ${coding} is refused, and nothing is decoded`, async () => {
      const before = bodies.length;
      const whole = encode(noise(5000));
      const want = { status: 400, text: new RegExp(`^\\{"error":"cannot decode the ${coding} body: `) };
      await check(whole.slice(0, whole.length - 9), { "content-encoding": coding }, want);
      await check("cpu v=1 this is no such thing", { "content-encoding": coding }, want);
      expect(bodies.length).toBe(before);
    });

    test(`a ${coding} bomb is 413`, async () => {
      const before = bodies.length;
      await check(encode(Buffer.alloc(30 * LIMIT)), { "content-encoding": coding }, { status: 413, text: TOO_LARGE });
      await check(encode(Buffer.alloc(LIMIT + 1)), { "content-encoding": coding }, { status: 413, text: TOO_LARGE });
      expect(bodies.length).toBe(before);
    });
  }

  test("deflate without its zlib header is decoded as well", async () => {
    await check(zlib.deflateRawSync(lines), { "content-encoding": "deflate" }, { status: 204 });
    expect(bodies.at(-1)).toBe(lines.toString());
  });

  test("an unknown coding and identity are passed through", async () => {
    for (const coding of ["identity", "snappy", "gzip, gzip"]) {
      await check("cpu v=2", { "content-encoding": coding }, { status: 204 });
      expect(bodies.at(-1)).toBe("cpu v=2");
    }
  });

  test("an empty body is empty in any coding", async () => {
    await check("", { "content-encoding": "gzip" }, { status: 204 });
  });
});

describe("the limit", () => {
  test("a body of just the limit is taken, one more byte is not", async () => {
    await check("a".repeat(LIMIT), {}, { status: 204 });
    await check("a".repeat(LIMIT + 1), {}, { status: 413, text: TOO_LARGE });
    await check(streamOf(new Uint8Array(LIMIT + 1).fill(97), 100_000), {}, { status: 413, text: TOO_LARGE });
  });

  test("a Content-Length over the limit is refused before a byte of the body is there", async () => {
    const answer = await rawExchange(server.port, head("Content-Length: 99999999999"));
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toContain(TOO_LARGE);
  });
});

describe("connections", () => {
  test("a chunked body in slow pieces is put together", async () => {
    const answer = await rawExchange(server.port, head("Transfer-Encoding: chunked"), 150, (socket) => {
      setTimeout(() => socket.write(chunk("cpu v=3\nmem")), 10);
      setTimeout(() => socket.write(`${chunk(" v=4\n")}0\r\n\r\n`), 30);
    });
    expect(answer).toStartWith("HTTP/1.1 204");
    expect(bodies.at(-1)).toBe("cpu v=3\nmem v=4\n");
  });

  test("pipelined requests are answered in order", async () => {
    const one = `${head("Content-Length: 7")}cpu v=5`;
    const answer = await rawExchange(server.port, `${one}GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n${one}`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 204", "HTTP/1.1 200", "HTTP/1.1 204"]);
  });

  test("a body that its client abandons is not decoded and nothing is written", async () => {
    const before = { bodies: bodies.length, writes: db.writes.length };
    for (const start of [`${head("Content-Length: 100")}cpu v=6\n`, `${head("Transfer-Encoding: chunked")}${chunk("cpu v=6\n")}`]) {
      await rawExchange(server.port, start, 500, (socket) => setTimeout(() => socket.destroy(), 20));
    }
    expect({ bodies: bodies.length, writes: db.writes.length }).toEqual(before);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test("broken chunk framing closes the connection and nothing is written", async () => {
    const before = db.writes.length;
    const answer = await rawExchange(server.port, `${head("Transfer-Encoding: chunked")}${chunk("cpu v=7\n")}ZZ\r\n`);
    expect(answer).not.toContain("204");
    expect(db.writes.length).toBe(before);
  });
});
