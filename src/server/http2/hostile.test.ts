import { expect, test } from "bun:test";
import { blockOf, dataFrame, frame, headersFrame, Http2Peer, numbers, REQUEST, settingsFrame } from "../../../test/support/http2-peer.ts";
import { ErrorCode, Flag, FrameType, Setting, WINDOW_MAX } from "./frame.ts";
import {
  CONNECTION_WINDOW_BYTES,
  CONTROL_BYTES_MAX,
  FRAME_BYTES_MAX,
  GATHERED_BYTES_MAX,
  HEADER_FRAMES_MAX,
  IDLE_FRAMES_MAX,
  LINGER_MS,
  PING_MS_MAX,
  QUIET_MS_MAX,
  STREAM_WINDOW_BYTES,
  STREAMS_MAX,
} from "./limits.ts";

const PING = frame(FrameType.Ping, 0, 0, Buffer.alloc(8));

/** A stream of the same frame, until the connection ends. */
function flood(peer: Http2Peer, bytes: Uint8Array, count: number): void {
  const many = Buffer.concat(Array.from({ length: 100 }, () => bytes));
  for (let i = 0; i < count; i += 100) peer.send(many);
}

test("frames that bring nothing end the connection: pings, settings, priorities, empty bodies, unknown kinds", async () => {
  const check = async (bytes: Uint8Array): Promise<void> => {
    const peer = new Http2Peer().hello().send(headersFrame(1));
    for (let i = 0; i < IDLE_FRAMES_MAX - 1000; i += 1000) {
      flood(peer, bytes, 1000);
      await peer.frames(); // It reads what it is sent.
      peer.socket.written.length = 0;
    }
    flood(peer, bytes, 2000);
    expect(peer.ended).toEqual(["too many frames that bring nothing"]);
    expect(await peer.goAway()).toBe(ErrorCode.EnhanceYourCalm);
    expect(peer.streams.map(({ isClosed }) => isClosed)).toEqual([true]);
  };
  await check(PING);
  await check(settingsFrame());
  await check(frame(FrameType.Priority, 0, 1, Buffer.from([0, 0, 0, 0, 1])));
  await check(dataFrame(1, ""));
  await check(frame(0x77, 0, 0));
  await check(frame(FrameType.Data, Flag.Padded, 1, Buffer.alloc(1)));
});

test("a ping for every frame of data is none of them", () => {
  const peer = new Http2Peer((stream) => (stream.receiver = { data: (bytes) => stream.letGo(bytes.length), end: () => undefined }));
  peer.hello().send(headersFrame(1));
  for (let i = 0; i < 3 * IDLE_FRAMES_MAX; i++) peer.send(dataFrame(1, "x"), PING);
  expect(peer.ended).toEqual([]);
});

test("answers to frames of a client that reads nothing do not pile up", () => {
  const peer = new Http2Peer().hello();
  peer.socket.isFull = true;
  peer.socket.writableLength = 1;
  flood(peer, PING, (CONTROL_BYTES_MAX / PING.length) * 2);
  expect(peer.ended).toEqual(["too many frames that bring nothing"]);
  expect(Buffer.concat(peer.socket.written).length).toBeLessThan(2 * CONTROL_BYTES_MAX);
});

test("a client that opens streams and takes them back is cut off, and one that breaks them as well", async () => {
  const check = async (second: (id: number) => Buffer): Promise<void> => {
    const peer = new Http2Peer(undefined, { resetsMax: 50 }).hello();
    for (let i = 0; i < 60; i++) peer.send(headersFrame(2 * i + 1), second(2 * i + 1));
    expect([peer.ended, peer.streams.length]).toEqual([["too many cancelled calls"], 51]);
    expect(await peer.goAway()).toBe(ErrorCode.EnhanceYourCalm);
  };
  await check((id) => frame(FrameType.ResetStream, 0, id, numbers(ErrorCode.Cancel)));
  await check((id) => frame(FrameType.WindowUpdate, 0, id, numbers(0)));
  await check((id) => headersFrame(id));
  const calm = new Http2Peer(undefined, { resetsMax: 50 }).hello();
  for (let i = 0; i < 200; i++) {
    calm.send(headersFrame(2 * i + 1), frame(FrameType.ResetStream, 0, 2 * i + 1, numbers(ErrorCode.Cancel)));
    if (i % 40 === 0) calm.connection.look();
  }
  expect(calm.ended).toEqual([]);
});

test("of ten thousand streams those beyond the limit are refused, and the rest are served", async () => {
  const peer = new Http2Peer().hello();
  for (let i = 0; i < 10_000; i++) peer.send(headersFrame(2 * i + 1));
  expect(peer.streams.length).toBe(STREAMS_MAX);
  const resets = await peer.resets();
  expect([resets.size, resets.get(2 * STREAMS_MAX + 1)]).toEqual([10_000 - STREAMS_MAX, ErrorCode.RefusedStream]);
  peer.streams[0]?.respond(200, [], true);
  await peer.frames();
  peer.send(headersFrame(20_001));
  expect(peer.streams.at(-1)?.id).toBe(20_001);
});

test("blocks of headers without end are cut off, in bytes and in frames", async () => {
  const check = async (part: Uint8Array, count: number): Promise<void> => {
    const peer = new Http2Peer().hello().send(frame(FrameType.Headers, 0, 1, part));
    for (let i = 0; i < count; i++) peer.send(frame(FrameType.Continuation, 0, 1, part));
    expect([peer.ended, await peer.goAway()]).toEqual([["broke the protocol"], ErrorCode.EnhanceYourCalm]);
  };
  await check(Buffer.alloc(0), HEADER_FRAMES_MAX);
  await check(blockOf([["x", "y".repeat(16_000)]]), 5);
});

test("headers that are too long are answered, whatever they say, and the connection goes on", async () => {
  const peer = new Http2Peer().hello();
  // An entry of the table, then many references to it.
  const bomb = Buffer.concat([
    blockOf(REQUEST),
    Buffer.from("40016b7fa11e", "hex"),
    Buffer.from("v".repeat(4000)),
    Buffer.alloc(50_000, 0xbe),
  ]);
  peer.send(frame(FrameType.Headers, Flag.EndHeaders | Flag.EndStream, 1, bomb), headersFrame(3, REQUEST, true));
  const [head] = await peer.framesOfType(FrameType.Headers);
  expect([head?.stream, head?.flags]).toEqual([1, Flag.EndHeaders | Flag.EndStream]);
  expect(head?.payload.toString("latin1")).toContain("431");
  expect(peer.streams.map(({ id }) => id)).toEqual([3]);
});

test("frames that are too long end the connection before they come", async () => {
  const head = (type: number, length: number): Buffer => {
    const bytes = frame(type, 0, 1);
    bytes.writeUIntBE(length, 0, 3);
    return bytes;
  };
  const check = async (bytes: Buffer, code: number): Promise<void> => {
    const peer = new Http2Peer().hello().send(headersFrame(1), bytes);
    expect(await peer.goAway()).toBe(code);
  };
  await check(head(FrameType.Data, FRAME_BYTES_MAX + 1), ErrorCode.FrameSizeError);
  await check(head(FrameType.Headers, GATHERED_BYTES_MAX + 1), ErrorCode.EnhanceYourCalm);
});

test("more than the window of a stream ends the stream, more than that of the connection all", async () => {
  const peer = new Http2Peer((stream) => (stream.receiver = { data: () => undefined, end: () => undefined })).hello();
  const part = Buffer.alloc(FRAME_BYTES_MAX);
  const fill = (id: number, bytes: number = STREAM_WINDOW_BYTES): void => {
    peer.send(headersFrame(id));
    for (let sent = 0; sent < bytes; sent += part.length) peer.send(dataFrame(id, part));
  };
  fill(1);
  peer.send(dataFrame(1, "x"));
  expect(await peer.resets()).toEqual(new Map([[1, ErrorCode.FlowControlError]]));
  fill(3);
  fill(5, STREAM_WINDOW_BYTES - part.length);
  expect(await peer.goAway()).toBeUndefined(); // The first one's bytes were given back.
  fill(7);
  expect(await peer.goAway()).toBe(ErrorCode.FlowControlError);
  expect(CONNECTION_WINDOW_BYTES).toBe(2 * STREAM_WINDOW_BYTES);
});

test("windows that grow beyond all bounds", async () => {
  const all = new Http2Peer().hello().send(frame(FrameType.WindowUpdate, 0, 0, numbers(WINDOW_MAX)));
  expect(await all.goAway()).toBe(ErrorCode.FlowControlError);
  const one = new Http2Peer().hello().send(headersFrame(1), frame(FrameType.WindowUpdate, 0, 1, numbers(WINDOW_MAX)));
  expect(await one.resets()).toEqual(new Map([[1, ErrorCode.FlowControlError]]));
  const both = new Http2Peer().hello().send(headersFrame(1), frame(FrameType.WindowUpdate, 0, 1, numbers(WINDOW_MAX - 65_535)));
  both.send(settingsFrame([[Setting.InitialWindowSize, 65_536]]));
  expect(await both.goAway()).toBe(ErrorCode.FlowControlError);
});

test("a client that takes nothing loses its stream, or its connection, and its query hears of it", async () => {
  const closed: number[] = [];
  const peer = new Http2Peer((stream) => {
    stream.onClosed = (code) => closed.push(code);
    stream.respond(200, []);
    stream.write(Buffer.alloc(100));
  });
  peer.hello([[Setting.InitialWindowSize, 50]]).send(headersFrame(1));
  await peer.frames();
  peer.now += 60_000;
  peer.connection.look();
  expect([closed, peer.ended]).toEqual([[ErrorCode.Cancel], []]);
  peer.socket.isFull = true;
  peer.send(headersFrame(3));
  await peer.frames();
  peer.now += 60_000;
  peer.connection.look();
  expect([closed, peer.ended, peer.socket.isDestroyed]).toEqual([[ErrorCode.Cancel, ErrorCode.Cancel], ["took nothing"], true]);
});

test("a client with open streams that says nothing is asked, and cut when it does not answer", async () => {
  const peer = new Http2Peer().hello();
  peer.now += 2 * QUIET_MS_MAX;
  peer.connection.look();
  expect((await peer.framesOfType(FrameType.Ping)).length).toBe(0); // It has none.
  peer.send(headersFrame(1));
  peer.now += QUIET_MS_MAX;
  peer.connection.look();
  const [ping] = await peer.framesOfType(FrameType.Ping);
  peer.now += PING_MS_MAX - 1;
  peer.connection.look();
  peer.send(frame(FrameType.Ping, Flag.Ack, 0, ping?.payload ?? Buffer.alloc(8)));
  peer.now += 1;
  peer.connection.look();
  expect(peer.ended).toEqual([]);
  peer.now += QUIET_MS_MAX;
  peer.connection.look();
  peer.now += PING_MS_MAX;
  peer.connection.look();
  expect([peer.ended, peer.socket.isDestroyed, peer.streams[0]?.isClosed]).toEqual([["does not answer"], true, true]);
});

test("a connection that was told why it ends is cut when its client does not leave", () => {
  const peer = new Http2Peer().send(Buffer.from("PRI * HTTP/3"));
  expect([peer.ended, peer.socket.isEnded, peer.socket.isDestroyed]).toEqual([["broke the protocol"], true, false]);
  peer.now += LINGER_MS;
  peer.connection.look();
  expect(peer.socket.isDestroyed).toBe(true);
});

test("numbers of streams, and frames of streams that are over or have not begun", async () => {
  const check = async (bytes: readonly Buffer[], code: number): Promise<void> => {
    const peer = new Http2Peer().hello().send(headersFrame(5, REQUEST, true), ...bytes);
    expect(await peer.goAway()).toBe(code);
  };
  await check([headersFrame(2)], ErrorCode.ProtocolError);
  await check([headersFrame(3)], ErrorCode.StreamClosed);
  await check([headersFrame(0)], ErrorCode.ProtocolError);
  await check([dataFrame(7, "x")], ErrorCode.ProtocolError);
  await check([frame(FrameType.ResetStream, 0, 7, numbers(8))], ErrorCode.ProtocolError);
  await check([frame(FrameType.WindowUpdate, 0, 7, numbers(8))], ErrorCode.ProtocolError);
  await check([frame(FrameType.PushPromise, 0, 5, numbers(8))], ErrorCode.ProtocolError);
  const peer = new Http2Peer().hello().send(headersFrame(5, REQUEST, true), dataFrame(5, "x"), dataFrame(3, "x"));
  expect(await peer.resets()).toEqual(
    new Map([
      [5, ErrorCode.StreamClosed],
      [3, ErrorCode.StreamClosed],
    ]),
  );
});
