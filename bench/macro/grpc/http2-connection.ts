/**
 * A connection of HTTP/2 as a client that costs little: messages come framed, a write sends as many whole frames as the server's windows
 * allow, windows of this side are given back by the half.
 *
 *   Call.send ─► outgoing ─► windows ─► socket ─┬─► all taken: control frames, the next message
 *                                               └─► some: the tail waits for `drain`, everything else behind it
 *
 * One message at a time is on its way: the next begins when all frames of the one before are written.
 */
import type { Socket } from "bun";
import { address, errorName, FLAG, FRAME, frame, type Framed, HEAD_BYTES, lengthAt, numberPayload, SETTING } from "./frames.ts";
import { type Header, HeaderReader } from "./header-block.ts";
import { connectSocket, type Failure, type Speaker } from "./load-socket.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
/** What a server may send ahead on a call, and on all of a connection. */
const CALL_WINDOW_BYTES = 8 * 1024 * 1024;
const WINDOW_BYTES = 16 * 1024 * 1024;
/** What windows and frames are until settings say more. */
const WINDOW_BYTES_FIRST = 65_535;
const FRAME_BYTES_FIRST = 16_384;
/** Most bytes of a frame that is sent. Reason: a frame waits until the window takes it whole, so that two must fit the smallest one. */
const FRAME_BYTES_MAX = 32_767;
/** Milliseconds without a byte in either direction after which calls are given up. */
const STALL_MS_MAX = 60_000;

/** A call under way. */
export class Call {
  readonly id: number;
  /** Resolves when the server has answered to the end. */
  readonly ended: Promise<Failure>;
  /** Bytes that the server takes now. */
  window: number;
  /** Bytes that came and were not given back. */
  owed = 0;
  isOver = false;
  readonly onData: (bytes: Uint8Array) => void;
  private readonly resolve: (failure: Failure) => void;
  private readonly headers = new Map<string, string>();
  private readonly connection: Http2Connection;

  constructor(connection: Http2Connection, id: number, window: number, onData: (bytes: Uint8Array) => void) {
    const { promise, resolve } = Promise.withResolvers<Failure>();
    this.connection = connection;
    this.id = id;
    this.window = window;
    this.onData = onData;
    this.ended = promise;
    this.resolve = resolve;
  }

  /** Sends a message behind those before it. Its bytes are borrowed until the server has answered it. */
  send(message: Framed): void {
    if (this.isOver) return;
    address(message, this.id);
    this.connection.enqueue(this, message);
  }

  /** Takes headers or trailers. */
  take(headers: readonly Header[]): void {
    for (const [name, value] of headers) this.headers.set(name, value);
  }

  /** The server has said all. */
  finish(): void {
    const http = this.headers.get(":status");
    const status = this.headers.get("grpc-status");
    if (http !== "200") this.fail(`HTTP status ${http ?? "missing"}`);
    else if (status === undefined) this.fail("the answer has no grpc-status");
    else if (status !== "0") this.fail(`grpc-status ${status}: ${decodeURIComponent(this.headers.get("grpc-message") ?? "")}`);
    else this.end(undefined);
  }

  /** Ends the call with a reason. */
  fail(why: string): void {
    this.end(why);
  }

  private end(failure: Failure): void {
    this.isOver = true;
    this.resolve(failure);
  }
}

/** See the file header. */
export class Http2Connection implements Speaker {
  private frameBytesMax = FRAME_BYTES_FIRST;
  /** Resolves with the server's settings, or why there are none. */
  private readonly ready = Promise.withResolvers<Failure>();
  private socket: Socket | undefined;
  private failure: Failure;
  private readonly calls = new Map<number, Call>();
  private readonly headerReader = new HeaderReader();
  private nextId = 1;
  private window = WINDOW_BYTES_FIRST;
  private callWindow = WINDOW_BYTES_FIRST;
  private owed = 0;
  private outgoing: { readonly call: Call; readonly message: Framed; at: number }[] = [];
  private control: Buffer[] = [];
  /** What the socket did not take yet. */
  private tail: Uint8Array | undefined;
  /** Bytes of a frame that has not come whole. */
  private rest: Buffer = Buffer.alloc(0);
  /** A frame of data that is coming. */
  private data: { readonly call: Call | undefined; readonly isLast: boolean; left: number } | undefined;
  /** A header block that is coming. */
  private block: { readonly id: number; readonly isLast: boolean; readonly pieces: Buffer[] } | undefined;
  private movedAt = performance.now();
  private readonly watch: ReturnType<typeof setInterval>;

  private constructor() {
    this.watch = setInterval(() => this.look(), 1000);
    this.watch.unref();
  }

  /** Connects and waits for the server's settings. @throws Error when there are none */
  static async connect(port: number): Promise<Http2Connection> {
    const made = new Http2Connection();
    made.socket = await connectSocket(port, made);
    const settings = Buffer.alloc(12);
    settings.writeUInt16BE(SETTING.headerTableSize, 0);
    settings.writeUInt16BE(SETTING.initialWindow, 6);
    settings.writeUInt32BE(CALL_WINDOW_BYTES, 8);
    made.control.push(PREFACE, frame(FRAME.settings, 0, 0, settings));
    made.control.push(frame(FRAME.windowUpdate, 0, 0, numberPayload(WINDOW_BYTES - WINDOW_BYTES_FIRST)));
    made.pump();
    const failure = await made.ready.promise;
    if (failure !== undefined) throw new Error(`cannot connect: ${failure}`);
    return made;
  }

  /** Most bytes of a frame to this server. */
  get frameBytes(): number {
    return Math.max(1, Math.min(this.frameBytesMax, FRAME_BYTES_MAX, this.callWindow >> 1));
  }

  /** Begins a call; its first message holds its headers. @param onData takes the answer's data, borrowed until it returns */
  open(onData: (bytes: Uint8Array) => void): Call {
    const call = new Call(this, this.nextId, this.callWindow, onData);
    this.nextId += 2;
    if (this.failure === undefined) this.calls.set(call.id, call);
    else call.fail(this.failure);
    return call;
  }

  /** Sends a message of a call behind all others. */
  enqueue(call: Call, message: Framed): void {
    this.outgoing.push({ call, message, at: 0 });
    this.pump();
  }

  /** Ends the connection. Calls under way fail. */
  close(): void {
    this.fail("this client closed the connection");
    this.socket?.end();
  }

  /** See `Speaker`; so are `take` and `pump`. */
  fail(why: string): void {
    if (this.failure !== undefined) return;
    this.failure = why;
    clearInterval(this.watch);
    this.ready.resolve(why);
    for (const call of this.calls.values()) call.fail(why);
    this.calls.clear();
    this.outgoing = [];
  }

  private look(): void {
    if (this.calls.size === 0 || performance.now() - this.movedAt < STALL_MS_MAX) return;
    const [call] = this.calls.values();
    const windows = `the server's window is ${this.window} bytes, ${call?.window} of the call`;
    this.fail(`nothing moved for ${STALL_MS_MAX / 1000} s: ${windows}, ${this.outgoing.length} messages wait`);
    this.socket?.terminate();
  }

  /** Writes until the socket or a window is full. */
  pump(): void {
    while (this.failure === undefined) {
      if (this.tail !== undefined) {
        const { tail } = this;
        this.tail = undefined;
        if (!this.put(tail)) return;
      } else if (this.control.length > 0) {
        const frames = Buffer.concat(this.control);
        this.control = [];
        if (!this.put(frames)) return;
      } else {
        const [next] = this.outgoing;
        if (next === undefined) return;
        const end = next.call.isOver ? next.message.bytes.length : this.granted(next.call, next.message, next.at);
        const allowed = next.message.bytes.subarray(next.at, end);
        const isWhole = end === next.message.bytes.length;
        if (allowed.length === 0 && !isWhole) return;
        next.at = end;
        if (isWhole) this.outgoing.shift();
        if (!next.call.isOver && !this.put(allowed)) return;
      }
    }
  }

  /** How far the windows let a message go; what is granted is taken from them. */
  private granted(call: Call, { bytes, dataFrom }: Framed, from: number): number {
    let at = Math.max(from, dataFrom);
    while (at < bytes.length) {
      const size = lengthAt(bytes, at);
      if (size > this.window || size > call.window) break;
      this.window -= size;
      call.window -= size;
      at += HEAD_BYTES + size;
    }
    return at;
  }

  /** Whether the socket took all of it; the rest waits. */
  private put(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return true;
    this.movedAt = performance.now();
    const written = this.socket?.write(bytes) ?? 0;
    if (written < 0) this.fail("the server closed the connection");
    if (written >= bytes.length) return true;
    this.tail = bytes.subarray(Math.max(0, written));
    return false;
  }

  take(bytes: Buffer): void {
    if (this.failure !== undefined) return;
    this.movedAt = performance.now();
    try {
      this.read(this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]));
    } catch (thrown) {
      this.fail(thrown instanceof Error ? thrown.message : String(thrown));
      this.socket?.terminate();
    }
    this.pump();
  }

  private read(bytes: Buffer): void {
    let at = 0;
    for (;;) {
      if (this.data !== undefined) {
        const count = Math.min(this.data.left, bytes.length - at);
        if (count > 0) this.data.call?.onData(bytes.subarray(at, at + count));
        this.data.left -= count;
        at += count;
        if (this.data.left > 0) break;
        const { call, isLast } = this.data;
        this.data = undefined;
        if (isLast && call !== undefined) this.finish(call);
      }
      if (bytes.length - at < HEAD_BYTES) break;
      const length = lengthAt(bytes, at);
      const [type, flags, id] = [bytes[at + 3]!, bytes[at + 4]!, bytes.readUInt32BE(at + 5) & 0x7fff_ffff];
      if (type === FRAME.data) {
        if ((flags & FLAG.padded) !== 0) throw new Error("cannot read an answer: its data is padded");
        const call = this.calls.get(id);
        this.giveBack(call, length);
        this.data = { call, isLast: (flags & FLAG.endStream) !== 0, left: length };
        at += HEAD_BYTES;
        continue;
      }
      if (bytes.length - at < HEAD_BYTES + length) break;
      this.frame(type, flags, id, bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length));
      at += HEAD_BYTES + length;
    }
    this.rest = Buffer.from(bytes.subarray(at)); // A copy: what came is the socket's.
  }

  /** Counts data, and opens windows again when half of one is used up. */
  private giveBack(call: Call | undefined, length: number): void {
    this.owed += length;
    if (this.owed >= WINDOW_BYTES / 2) {
      this.control.push(frame(FRAME.windowUpdate, 0, 0, numberPayload(this.owed)));
      this.owed = 0;
    }
    if (call === undefined) return;
    call.owed += length;
    if (call.owed >= CALL_WINDOW_BYTES / 2) {
      this.control.push(frame(FRAME.windowUpdate, 0, call.id, numberPayload(call.owed)));
      call.owed = 0;
    }
  }

  private frame(type: number, flags: number, id: number, payload: Buffer): void {
    const call = this.calls.get(id);
    if (type === FRAME.headers) {
      if ((flags & FLAG.padded) !== 0) throw new Error("cannot read an answer: its headers are padded");
      const own = (flags & FLAG.priority) === 0 ? payload : payload.subarray(5);
      this.block = { id, isLast: (flags & FLAG.endStream) !== 0, pieces: [Buffer.from(own)] };
    }
    if (type === FRAME.continuation) this.block?.pieces.push(Buffer.from(payload));
    if (type === FRAME.headers || type === FRAME.continuation) {
      if ((flags & FLAG.endHeaders) !== 0) this.endHeaders();
    } else if (type === FRAME.settings) {
      if ((flags & FLAG.ack) === 0) this.settings(payload);
    } else if (type === FRAME.windowUpdate) {
      if (id === 0) this.window += payload.readUInt32BE();
      else if (call !== undefined) call.window += payload.readUInt32BE();
    } else if (type === FRAME.ping) {
      if ((flags & FLAG.ack) === 0) this.control.push(frame(FRAME.ping, FLAG.ack, 0, payload));
    } else if (type === FRAME.reset) {
      if (call !== undefined) this.finish(call, `the server reset the call: ${errorName(payload.readUInt32BE())}`);
    } else if (type === FRAME.goAway) {
      const why = `${errorName(payload.readUInt32BE(4))} ${payload.toString("utf8", 8)}`.trim();
      this.fail(`the server sent GOAWAY: ${why}`);
    }
  }

  private endHeaders(): void {
    const { block } = this;
    this.block = undefined;
    if (block === undefined) return;
    const headers = this.headerReader.read(Buffer.concat(block.pieces));
    const call = this.calls.get(block.id);
    call?.take(headers);
    if (call !== undefined && block.isLast) this.finish(call);
  }

  private finish(call: Call, failure?: string): void {
    this.calls.delete(call.id);
    if (failure === undefined) call.finish();
    else call.fail(failure);
  }

  private settings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const [name, value] = [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)];
      if (name === SETTING.frameBytesMax) this.frameBytesMax = value;
      if (name !== SETTING.initialWindow) continue;
      for (const call of this.calls.values()) call.window += value - this.callWindow;
      this.callWindow = value;
    }
    this.control.push(frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0)));
    this.ready.resolve(undefined);
  }
}
