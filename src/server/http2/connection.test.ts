import { expect, test } from "bun:test";
import {
  blockOf,
  dataFrame,
  fieldsOf,
  frame,
  headersFrame,
  Http2Peer,
  numbers,
  REQUEST,
  settingsFrame,
} from "../../../test/support/http2-peer.ts";
import { ErrorCode, Flag, FrameType, PREFACE, Setting } from "./frame.ts";
import type { HeaderField } from "./hpack/header-decoder.ts";
import { LINGER_MS } from "./limits.ts";
import type { BodyReceiver, Http2Stream } from "./stream.ts";

/** Gathers a body, then answers with it. */
class Echo implements BodyReceiver {
  private readonly stream: Http2Stream;
  private readonly chunks: Buffer[] = [];

  constructor(stream: Http2Stream) {
    this.stream = stream;
    stream.receiver = this;
  }

  data(bytes: Uint8Array): void {
    this.chunks.push(Buffer.from(bytes));
    this.stream.letGo(bytes.length);
  }

  end(): void {
    this.stream.respond(200, [["path", this.stream.request.path]]);
    this.stream.write(Buffer.concat(this.chunks));
    this.stream.end([["status", "0"]]);
  }
}

const echo = (stream: Http2Stream): void => void new Echo(stream);

/** A generator whose numbers are the same for a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Two exchanges that cross, with padding, a block in two frames, priorities, trailers, a ping. */
function conversation(): Buffer {
  const block = blockOf([...REQUEST, ["long", "x".repeat(300)]]);
  const padded = Buffer.concat([Buffer.from([4]), Buffer.from("padded"), Buffer.alloc(4)]);
  const ahead = Buffer.concat([Buffer.from([3]), numbers(0), Buffer.from([16]), blockOf(REQUEST), Buffer.alloc(3)]);
  return Buffer.concat([
    Buffer.from(PREFACE, "latin1"),
    settingsFrame([[Setting.InitialWindowSize, 100_000]]),
    headersFrame(1),
    dataFrame(1, "one "),
    frame(FrameType.Headers, Flag.Padded | Flag.Priority | Flag.EndHeaders, 3, ahead),
    frame(FrameType.Data, Flag.Padded, 3, padded),
    frame(FrameType.Ping, 0, 0, Buffer.from("12345678")),
    dataFrame(1, "two", true),
    frame(0xee, 0, 0, Buffer.from("nobody knows it")),
    headersFrame(3, [["trailer", "yes"]], true),
    frame(FrameType.Headers, Flag.EndStream, 5, block.subarray(0, 100)),
    frame(FrameType.Continuation, 0, 5, block.subarray(100, 200)),
    frame(FrameType.Continuation, Flag.EndHeaders, 5, block.subarray(200)),
  ]);
}

/** What was answered: fields and bodies by stream. */
async function answers(peer: Http2Peer): Promise<Record<number, string>> {
  const said: Record<number, string> = {};
  for (const { type, stream, payload, flags } of await peer.frames()) {
    const text = type === FrameType.Data ? payload.toString() : type === FrameType.Headers ? fieldsOf(payload).flat().join(" ") : undefined;
    if (text !== undefined) said[stream] = `${said[stream] ?? ""}[${text}]${(flags & Flag.EndStream) !== 0 ? "." : ""}`;
  }
  return said;
}

const ANSWERS = {
  1: "[:status 200 path /there][one two][status 0].",
  3: "[:status 200 path /there][padded][status 0].",
  5: "[:status 200 path /there][status 0].",
};

test("requests are answered however their bytes are cut", async () => {
  const bytes = conversation();
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomOf(seed);
    const peer = new Http2Peer(echo);
    const most = [1, 3, 20, 200][seed % 4] ?? 1;
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + random(most);
      peer.send(bytes.subarray(at, end));
      at = end;
    }
    expect([seed, await answers(peer)]).toEqual([seed, ANSWERS]);
    expect(await peer.goAway()).toBeUndefined();
  }
});

test("bytes that were changed break nothing but their connection", async () => {
  const bytes = conversation();
  for (let seed = 1; seed <= 2000; seed++) {
    const random = randomOf(seed);
    const changed = Buffer.from(bytes);
    for (let i = 0; i <= random(4); i++) changed[PREFACE.length + random(bytes.length - PREFACE.length)] = random(256);
    const peer = new Http2Peer(echo);
    peer.send(changed.subarray(0, changed.length - random(20)));
    peer.connection.destroy();
    expect([seed, peer.streams.every(({ isClosed }) => isClosed)]).toEqual([seed, true]);
  }
});

test("settings and pings are answered, and windows are told first", async () => {
  const peer = new Http2Peer().hello().send(frame(FrameType.Ping, 0, 0, Buffer.from("abcdefgh")));
  const [settings, window, ack, ping] = await peer.frames();
  expect([settings?.type, window?.type]).toEqual([FrameType.Settings, FrameType.WindowUpdate]);
  expect([ack?.type, ack?.flags, ack?.payload.length]).toEqual([FrameType.Settings, Flag.Ack, 0]);
  expect([ping?.flags, ping?.payload.toString()]).toEqual([Flag.Ack, "abcdefgh"]);
});

test("what comes of a body behind its answer gives its windows back, until NO_ERROR ends it", async () => {
  const closed: number[] = [];
  const peer = new Http2Peer((stream) => {
    stream.onClosed = (code) => closed.push(code);
    stream.respond(400, [], true);
  });
  peer.hello().send(headersFrame(1), headersFrame(3));
  await peer.frames();
  expect(closed).toEqual([ErrorCode.NoError, ErrorCode.NoError]);
  const windows = async (stream: number): Promise<number> =>
    (await peer.framesOfType(FrameType.WindowUpdate)).filter((each) => each.stream === stream).length;
  for (let i = 0; i < 64; i++) peer.send(dataFrame(1, Buffer.alloc(16_384)));
  expect([await windows(0), await windows(1)]).toEqual([3, 4]);
  peer.send(dataFrame(3, "", true)); // The client is done with it.
  peer.now += LINGER_MS;
  peer.connection.look();
  expect(await peer.resets()).toEqual(new Map([[1, ErrorCode.NoError]]));
  for (let i = 0; i < 64; i++) peer.send(dataFrame(1, Buffer.alloc(16_384)));
  expect([await windows(0), await windows(1)]).toEqual([5, 4]);
  expect(await peer.goAway()).toBeUndefined();
  expect(closed.length).toBe(2);
});

test("a body goes as far as the windows of stream and connection, and streams take turns", async () => {
  const body = Buffer.alloc(60_000, 1);
  const peer = new Http2Peer((stream) => {
    stream.respond(200, []);
    stream.write(body);
    stream.end();
  });
  peer.hello([[Setting.InitialWindowSize, 40_000]]).send(headersFrame(1, REQUEST, true), headersFrame(3, REQUEST, true));
  const sent = async (stream: number): Promise<number> =>
    (await peer.framesOfType(FrameType.Data))
      .filter((each) => each.stream === stream)
      .reduce((sum, { payload }) => sum + payload.length, 0);
  expect([await sent(1), await sent(3)]).toEqual([32_768, 32_767]); // Together the connection's 65,535.
  peer.send(frame(FrameType.WindowUpdate, 0, 0, numbers(1_000_000)));
  expect([await sent(1), await sent(3)]).toEqual([40_000, 40_000]);
  peer.send(frame(FrameType.WindowUpdate, 0, 3, numbers(20_000)));
  expect([await sent(1), await sent(3)]).toEqual([40_000, 60_000]);
  peer.send(settingsFrame([[Setting.InitialWindowSize, 70_000]]));
  expect([await sent(1), await sent(3)]).toEqual([60_000, 60_000]);
});

test("frames are as long as the client takes, and a long head is cut into several", async () => {
  const long: HeaderField = ["long", "y".repeat(20_000)];
  const peer = new Http2Peer((stream) => {
    stream.respond(200, [long]);
    stream.write(Buffer.alloc(30_000));
    stream.end();
  });
  peer.hello([[Setting.MaxFrameSize, 20_000]]).send(headersFrame(1, REQUEST, true));
  const frames = (await peer.frames()).filter(({ stream }) => stream === 1);
  expect(frames.map(({ type, payload }) => [type, payload.length])).toEqual([
    [FrameType.Headers, 20_000],
    [FrameType.Continuation, 11],
    [FrameType.Data, 20_000],
    [FrameType.Data, 10_000],
  ]);
  expect(fieldsOf(Buffer.concat(frames.slice(0, 2).map(({ payload }) => payload)))).toEqual([[":status", "200"], long]);
});

test("a socket that is full is written to again when it is empty, and the writer waits meanwhile", async () => {
  const peer = new Http2Peer().hello([[Setting.InitialWindowSize, 10_000_000]]).send(headersFrame(1, REQUEST, true));
  peer.send(frame(FrameType.WindowUpdate, 0, 0, numbers(10_000_000)));
  await peer.frames();
  peer.socket.isFull = true;
  const [stream] = peer.streams;
  stream?.respond(200, []);
  for (let i = 0; i < 20; i++) stream?.write(Buffer.alloc(100_000));
  const room = stream?.room();
  expect(room).toBeInstanceOf(Promise);
  await peer.frames();
  const taken = peer.socket.writableLength;
  expect(taken).toBeLessThan(400_000);
  peer.socket.empty();
  await room;
  const data = await peer.framesOfType(FrameType.Data);
  expect(data.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(2_000_000);
});

test("a connection that is told to finish lets its streams end and takes no more", async () => {
  const peer = new Http2Peer(echo).hello().send(headersFrame(1));
  peer.connection.finish();
  peer.send(headersFrame(3));
  expect(await peer.goAway()).toBe(ErrorCode.NoError);
  expect(await peer.resets()).toEqual(new Map([[3, ErrorCode.RefusedStream]]));
  expect(peer.socket.isEnded).toBe(false);
  peer.send(dataFrame(1, "last", true));
  expect((await answers(peer))[1]).toBe("[:status 200 path /there][last][status 0].");
  expect(peer.socket.isEnded).toBe(true);
});

test("requests that are none are refused: fields, order, lengths", async () => {
  const check = async (fields: readonly HeaderField[], body = ""): Promise<void> => {
    const peer = new Http2Peer().hello().send(headersFrame(1, fields), dataFrame(1, body, true));
    expect([fields, (await peer.resets()).get(1)]).toEqual([fields, ErrorCode.ProtocolError]);
    peer.send(headersFrame(3, REQUEST, true));
    expect(peer.streams.at(-1)?.id).toBe(3);
  };
  await check(REQUEST.slice(1));
  await check([...REQUEST, [":path", "/"]]);
  await check([...REQUEST, ["x", "y"], [":late", "z"]]);
  await check([...REQUEST, ["Large", "x"]]);
  await check([...REQUEST, ["split", "a\r\nb: c"]]);
  await check([...REQUEST, ["connection", "close"]]);
  await check([...REQUEST, ["te", "gzip"]]);
  await check([...REQUEST, ["content-length", "many"]]);
  await check([...REQUEST, ["content-length", "5"]], "four");
  await check([...REQUEST, ["content-length", "3"]], "four");
});
