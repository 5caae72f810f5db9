/** The client against `node:http2`: whole bodies through small windows, and failures with their reasons. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { seededRandom } from "../random.ts";
import { callHeaders } from "./drive-calls.ts";
import { FLAG, FRAME, frame, framed, numberPayload } from "./frames.ts";
import { writeHeaders } from "./header-block.ts";
import { Http2Connection } from "./http2-connection.ts";
import type { Failure } from "./load-socket.ts";
import { MessageHeads } from "./message-heads.ts";

type Answer = (stream: ServerHttp2Stream, body: Buffer) => void;

/** What the next calls are answered with, by path. */
const answers: Record<string, Answer> = {
  /** The messages of the request, as they came. */
  "/echo": (stream, body) => end(stream, body, { "grpc-status": "0" }),
  "/wrong": (stream) => end(stream, undefined, { "grpc-status": "3", "grpc-message": "no such table: a%20b" }),
  "/silent": (stream) => end(stream, undefined, {}),
  "/lost": (stream) => {
    stream.respond({ ":status": 404 });
    stream.end();
  },
  "/bye": (stream) => (stream.session as ServerHttp2Session).goaway(2, 0, Buffer.from("out of order")),
};

function end(stream: ServerHttp2Stream, body: Buffer | undefined, trailers: Record<string, string>): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(body);
}

let server: Http2Server;
let port = 0;

beforeAll(async () => {
  server = createServer({ settings: { initialWindowSize: 40_000 } });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    const pieces: Buffer[] = [];
    stream.on("error", () => undefined);
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("end", () => answers[String(headers[":path"])]?.(stream, Buffer.concat(pieces)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.close();
});

async function call(path: string, messages: readonly Uint8Array[], connection: Http2Connection) {
  const got: { head: Buffer; length: number }[] = [];
  const heads = new MessageHeads(64, (head, length) => got.push({ head: Buffer.from(head), length }));
  const made = connection.open((bytes) => heads.take(bytes));
  const { frameBytes } = connection;
  for (const [i, message] of messages.entries()) {
    const headers = i === 0 ? callHeaders(path) : undefined;
    made.send(framed(message, { frameBytes, headers, isLast: i === messages.length - 1 }));
  }
  return { failure: await made.ended, got };
}

test("messages of any size come whole through windows smaller than they are, both ways, several calls at a time", async () => {
  const random = seededRandom(20_261_124);
  const connection = await Http2Connection.connect(port);
  const calls = Array.from({ length: 12 }, (_, i) =>
    Array.from({ length: 1 + random.below(5) }, () => {
      const size = i % 3 === 0 ? random.below(20) : random.below(300_000);
      return Uint8Array.from({ length: size }, () => random.below(256));
    }),
  );
  const done = await Promise.all(calls.map((messages) => call("/echo", messages, connection)));
  for (const [i, { failure, got }] of done.entries()) {
    expect(failure).toBeUndefined();
    expect(got).toEqual((calls[i] ?? []).map((message) => ({ head: Buffer.from(message.subarray(0, 64)), length: message.length })));
  }
  connection.close();
});

test("gives windows back: more comes than they hold", async () => {
  const connection = await Http2Connection.connect(port);
  const message = new Uint8Array(5 * 1024 * 1024).fill(7);
  for (let i = 0; i < 5; i++) {
    const { failure, got } = await call("/echo", [message], connection);
    expect([failure, got.map(({ length }) => length)]).toEqual([undefined, [message.length]]);
  }
  connection.close();
}, 30_000);

test("calls fail with the reason that the server gives", async () => {
  const failureOf = async (path: string): Promise<Failure> => {
    const connection = await Http2Connection.connect(port);
    const { failure } = await call(path, [new Uint8Array(10)], connection);
    connection.close();
    return failure;
  };
  expect(await failureOf("/wrong")).toBe("grpc-status 3: no such table: a b");
  expect(await failureOf("/silent")).toBe("the answer has no grpc-status");
  expect(await failureOf("/lost")).toBe("HTTP status 404");
  expect(await failureOf("/bye")).toBe("the server sent GOAWAY: INTERNAL_ERROR out of order");
});

test("a connection that is lost fails its calls, those that come later too", async () => {
  const gone = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: (socket) => void socket.end() } });
  expect(await Http2Connection.connect(gone.port).then(String, String)).toContain("the server closed the connection");
  gone.stop(true);
  const connection = await Http2Connection.connect(port);
  connection.close();
  expect((await call("/echo", [new Uint8Array(1)], connection)).failure).toContain("closed the connection");
});

/** The failure of a call whose server answers with these frames, a byte at a time. */
async function answeredBy(...frames: readonly Buffer[]): Promise<Failure> {
  const all = Buffer.concat([frame(FRAME.settings, 0, 0, Buffer.from([0, 5, 0, 0, 0x80, 0])), ...frames]);
  const scripted = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: async (socket) => {
        for (const byte of all) {
          socket.write(Uint8Array.of(byte));
          if (byte % 16 === 0) await Bun.sleep(0); // Some come together, some apart.
        }
      },
      data: () => undefined,
    },
  });
  const connection = await Http2Connection.connect(scripted.port);
  const { failure } = await call("/any", [new Uint8Array(3)], connection);
  connection.close();
  scripted.stop(true);
  return failure;
}

test("reads frames that come in pieces: headers in parts, unknown ones, resets", async () => {
  const block = writeHeaders([
    [":status", "200"],
    ["grpc-status", "0"],
    ["x-some", "text".repeat(20)],
  ]);
  const parts = [
    frame(FRAME.headers, FLAG.endStream, 1, block.subarray(0, 10)),
    frame(FRAME.continuation, 0, 1, block.subarray(10, 30)),
    frame(FRAME.continuation, FLAG.endHeaders, 1, block.subarray(30)),
  ];
  const wait = frame(FRAME.ping, 0, 0, Buffer.alloc(8, 16));
  expect(await answeredBy(wait, frame(99, 0, 0, Buffer.alloc(300)), ...parts)).toBeUndefined();
  expect(await answeredBy(wait, frame(FRAME.reset, 0, 1, numberPayload(11)))).toBe("the server reset the call: ENHANCE_YOUR_CALM");
  expect(await answeredBy(wait, frame(FRAME.reset, 0, 1, numberPayload(99)))).toBe("the server reset the call: error 99");
  expect(await answeredBy(wait, frame(FRAME.data, FLAG.padded, 1, Buffer.alloc(9)))).toContain("its data is padded");
});
