/**
 * A connection of HTTP/2 from the server's side (RFC 9113), over a socket that was accepted elsewhere.
 *
 *   socket ─► preface ─► FrameReader ─► this: states of streams, windows, settings ─► onRequest(stream), receivers of bodies
 *                                        └─► Sender ─► socket
 *
 * What a client does wrong ends its stream (RST_STREAM) or, where the protocol says so or it costs others, its connection (GOAWAY, then the
 * socket). Nothing that a client sends is kept beyond the limits of `limits.ts`.
 */
import type { FrameSink } from "./frame-reader.ts";
import { FrameReader } from "./frame-reader.ts";
import {
  ErrorCode,
  type Fault,
  Flag,
  FrameType,
  numberAt,
  PREFACE,
  Setting,
  WINDOW_DEFAULT,
  WINDOW_MAX,
  writeGoAway,
  writePing,
  writeReset,
  writeSettings,
  writeSettingsAck,
  writeWindowUpdate,
} from "./frame.ts";
import { FloodGuard } from "./flood-guard.ts";
import { wrongForm } from "./frame-form.ts";
import { HeaderGatherer } from "./header-gatherer.ts";
import type { HeaderBlock } from "./hpack/header-decoder.ts";
import {
  CONNECTION_WINDOW_BYTES,
  CONTROL_BYTES_MAX,
  FRAME_BYTES_MAX,
  HEADER_LIST_BYTES_MAX,
  LINGER_MS,
  PING_MS_MAX,
  QUIET_MS_MAX,
  RESET_STREAMS_KEPT,
  STREAM_WINDOW_BYTES,
  STREAMS_MAX,
} from "./limits.ts";
import { PeerSettings } from "./peer-settings.ts";
import { requestHeadOf, whyNotFields } from "./request-head.ts";
import { Sender, type Sink } from "./sender.ts";
import { Http2Stream, type StreamHost } from "./stream.ts";

/** What a connection stands on. */
export interface Http2Socket extends Sink {
  on(event: "data", heard: (chunk: Uint8Array) => void): unknown;
  on(event: "close", heard: () => void): unknown;
  end(): unknown;
  destroy(): unknown;
}

/** Why the server ended a connection. */
export type Http2End =
  | "broke the protocol"
  | "too many cancelled calls"
  | "too many frames that bring nothing"
  | "took nothing"
  | "does not answer";

/** What a connection needs. */
export interface Http2Options {
  readonly now: () => number;
  /** Answers a request: now or later. */
  readonly onRequest: (stream: Http2Stream) => void;
  /** Hears why the server ends the connection, if it does. */
  readonly onEnded: (reason: Http2End, why: string) => void;
  /** Most streams that a client may take back between looks. */
  readonly resetsMax: number;
  /** Milliseconds that a client may take nothing of what is sent. */
  readonly writeMsMax: number;
}

/** Our windows: what clients are told first. */
const SETTINGS: readonly (readonly [id: number, value: number])[] = [
  [Setting.MaxConcurrentStreams, STREAMS_MAX],
  [Setting.InitialWindowSize, STREAM_WINDOW_BYTES],
  [Setting.MaxFrameSize, FRAME_BYTES_MAX],
  [Setting.MaxHeaderListSize, HEADER_LIST_BYTES_MAX],
];

/** Bytes that are given back to a client together. */
const GRANT_BYTES: number = CONNECTION_WINDOW_BYTES / 4;
const PREFACE_BYTES: Uint8Array = Buffer.from(PREFACE, "latin1");
/** What our PINGs carry. */
const PING_BYTES: Uint8Array = Buffer.from("are-you?", "latin1");

/** See the file header. */
export class Http2Connection implements FrameSink, StreamHost {
  private readonly socket: Http2Socket;
  private readonly options: Http2Options;
  private readonly reader: FrameReader = new FrameReader(this);
  private readonly sender: Sender;
  private readonly headers: HeaderGatherer = new HeaderGatherer();
  private readonly peer: PeerSettings = new PeerSettings();
  private readonly streams: Map<number, Http2Stream> = new Map();
  /** Streams that were ended here while their client may still send; the oldest leave first. */
  private readonly resetHere: Set<number> = new Set();
  private readonly resetRing: number[] = [];
  private resetCount = 0;
  private prefaceLeft: number = PREFACE_BYTES.length;
  private hasSettings = false;
  private lastStream = 0;
  private windowLeft: number = CONNECTION_WINDOW_BYTES;
  private owed = 0;
  /** The stream of the DATA frame that is being read; undefined: it is over. */
  private receiving: Http2Stream | undefined;
  private dataBytes = 0;
  /** Bytes of a DATA frame that were not handed on. */
  private dataLeft = 0;
  private isFinishing = false;
  private isDead = false;
  /** When the client was told that the connection ends. */
  private endedMs: number | undefined;
  private readonly guard: FloodGuard;
  private heardMs: number;
  private pingMs: number | undefined;

  constructor(socket: Http2Socket, options: Http2Options) {
    this.socket = socket;
    this.options = options;
    this.heardMs = options.now();
    this.sender = new Sender(socket, options.now, {
      onSent: (stream) => this.sent(stream),
      onTaken: () => {
        if (this.isDead) return;
        this.sender.flush();
        this.endIfDone();
      },
    });
    this.guard = new FloodGuard(options.resetsMax, () => this.sender.dataFrames);
    socket.on("data", (chunk) => this.receive(chunk));
    socket.on("close", () => this.closed());
    writeSettings(this.sender.control, SETTINGS);
    writeWindowUpdate(this.sender.control, 0, CONNECTION_WINDOW_BYTES - WINDOW_DEFAULT);
    this.sender.plan();
  }

  /** Whether nothing that comes is heard any more. */
  get isOver(): boolean {
    return this.isDead || this.endedMs !== undefined;
  }

  /** Takes no more streams, and closes when those that are open have ended. */
  finish(): void {
    if (this.isOver || this.isFinishing) return;
    this.isFinishing = true;
    writeGoAway(this.sender.control, this.lastStream, ErrorCode.NoError, "");
    this.sender.plan();
    this.endAnswered(this.options.now());
    this.endIfDone();
  }

  /** Closes at once. */
  destroy(): void {
    this.closed();
    this.socket.destroy();
  }

  /** To be called every second: ends what has taken too long, and begins to count anew. */
  look(): void {
    const now = this.options.now();
    this.guard.look();
    const { writeMsMax } = this.options;
    if (this.isDead) return;
    if (this.endedMs !== undefined) {
      if (now - this.endedMs >= LINGER_MS) this.destroy();
      return;
    }
    if (this.sender.fullMs !== undefined && now - this.sender.fullMs >= writeMsMax) return this.cut("took nothing");
    for (const stream of this.streams.values()) {
      const { stalledMs } = stream.answer;
      if (stalledMs !== undefined && now - stalledMs >= writeMsMax) this.reset(stream, ErrorCode.Cancel);
    }
    this.endAnswered(now - LINGER_MS);
    this.askIfQuiet(now);
  }

  // What streams ask for.

  counted(bytes: number): void {
    this.owed += bytes;
    if (this.owed < GRANT_BYTES || this.isOver) return;
    writeWindowUpdate(this.sender.control, 0, this.owed);
    this.windowLeft += this.owed;
    this.owed = 0;
    this.sender.plan();
  }

  grow(stream: Http2Stream, bytes: number): void {
    if (this.isOver) return;
    writeWindowUpdate(this.sender.control, stream.id, bytes);
    this.sender.plan();
  }

  send(stream: Http2Stream): void {
    if (!this.isOver) this.sender.add(stream);
  }

  reset(stream: Http2Stream, code: number): void {
    if (stream.isClosed) return;
    this.remember(stream.id);
    if (!this.isOver) writeReset(this.sender.control, stream.id, code);
    this.close(stream, code);
    this.sender.plan();
  }

  /** What came, borrowed; also what came before the connection was made. */
  receive(chunk: Uint8Array): void {
    if (this.isOver) return;
    this.heardMs = this.options.now();
    this.pingMs = undefined;
    const rest = this.prefaceLeft > 0 ? this.readPreface(chunk) : chunk;
    if (rest === undefined) return this.fail({ code: ErrorCode.ProtocolError, why: "that is no HTTP/2" });
    const fault = this.reader.read(rest);
    if (fault !== undefined) return this.fail(fault);
    if (this.sender.control.length <= CONTROL_BYTES_MAX) return;
    this.sender.flush();
    if (this.sender.control.length > CONTROL_BYTES_MAX) this.flood("answers to its frames wait, and it reads nothing");
  }

  private readPreface(chunk: Uint8Array): Uint8Array | undefined {
    const part = chunk.subarray(0, this.prefaceLeft);
    const from = PREFACE_BYTES.length - this.prefaceLeft;
    for (let i = 0; i < part.length; i++) if (part[i] !== PREFACE_BYTES[from + i]) return undefined;
    this.prefaceLeft -= part.length;
    return chunk.subarray(part.length);
  }

  dataBegins(id: number, length: number): void {
    this.receiving = undefined;
    this.dataBytes = length;
    this.dataLeft = length;
    const fault = this.wrongTime(FrameType.Data, id);
    if (fault !== undefined) return this.fail(fault);
    if (length > this.windowLeft) return this.fail({ code: ErrorCode.FlowControlError, why: "DATA is more than the connection's window" });
    this.windowLeft -= length;
    const stream = this.streams.get(id);
    if (stream?.isReceiving !== true) return this.strayData(id, stream);
    if (length > stream.windowLeft) return this.breakStream(stream, ErrorCode.FlowControlError);
    stream.windowLeft -= length;
    this.receiving = stream;
  }

  data(bytes: Uint8Array): void {
    const stream = this.receiving;
    if (stream === undefined || stream.isClosed) return;
    this.dataLeft -= bytes.length;
    if (!stream.take(bytes)) this.breakStream(stream, ErrorCode.ProtocolError);
  }

  dataEnds(flags: number): void {
    const stream = this.receiving;
    this.receiving = undefined;
    // Padding, and what nobody heard.
    this.counted(this.dataLeft);
    if (stream === undefined || stream.isClosed) return;
    stream.wanted(this.dataLeft);
    const isLast = (flags & Flag.EndStream) !== 0;
    if (this.dataLeft < this.dataBytes) this.guard.useful();
    else if (!isLast) this.idle();
    if (isLast) this.endBody(stream);
  }

  frame(type: number, flags: number, id: number, payload: Uint8Array): void {
    const fault = this.wrongTime(type, id) ?? wrongForm(type, flags, id, payload.length) ?? this.handle(type, flags, id, payload);
    if (fault !== undefined) this.fail(fault);
  }

  private handle(type: number, flags: number, id: number, payload: Uint8Array): Fault | undefined {
    switch (type) {
      case FrameType.Headers:
        return this.begunHeaders(this.headers.begin(flags, id, payload));
      case FrameType.Continuation:
        return this.begunHeaders(this.headers.add(flags, id, payload));
      case FrameType.Priority:
        return this.priority(id, payload);
      case FrameType.ResetStream:
        return this.resetByClient(id, payload);
      case FrameType.Settings:
        return this.settings(flags, payload);
      case FrameType.Ping:
        this.ping(flags, payload);
        return undefined;
      case FrameType.GoAway:
        this.finish();
        return undefined;
      case FrameType.WindowUpdate:
        return this.windowUpdate(id, payload);
      default:
        this.idle();
        return undefined;
    }
  }

  /** Frames that may not come now, whatever they say. */
  private wrongTime(type: number, id: number): Fault | undefined {
    if (!this.hasSettings && type !== FrameType.Settings) return { code: ErrorCode.ProtocolError, why: "the first frame is not SETTINGS" };
    if (this.headers.stream === undefined || (type === FrameType.Continuation && id === this.headers.stream)) return undefined;
    return { code: ErrorCode.ProtocolError, why: "a block of headers is not whole" };
  }

  /** DATA of a stream that takes none. */
  private strayData(id: number, stream: Http2Stream | undefined): void {
    if (this.isIdle(id)) return this.fail({ code: ErrorCode.ProtocolError, why: "DATA is of a stream that has not begun" });
    if (stream !== undefined) return this.breakStream(stream, ErrorCode.StreamClosed);
    if (this.resetHere.has(id)) return;
    this.idle();
    writeReset(this.sender.control, id, ErrorCode.StreamClosed);
    this.sender.plan();
  }

  private begunHeaders(begun: Fault | undefined): Fault | undefined {
    if (begun !== undefined || !this.headers.isWhole) return begun;
    const { block, stream: id, isLast, dependsOn } = this.headers.take();
    if (block === undefined) return { code: ErrorCode.CompressionError, why: "a block of headers cannot be read" };
    const stream = this.streams.get(id);
    if (stream !== undefined) return this.trailers(stream, block, isLast);
    if (!this.isIdle(id)) {
      if (!this.resetHere.has(id)) return { code: ErrorCode.StreamClosed, why: "HEADERS are of a stream that is over" };
      if (!isLast) this.refuse(id, ErrorCode.ProtocolError); // Trailers are the last.
      return undefined;
    }
    if (id % 2 === 0) return { code: ErrorCode.ProtocolError, why: "a client's streams have odd numbers" };
    this.lastStream = id;
    if (this.streams.size >= STREAMS_MAX) this.endAnswered(this.options.now());
    if (this.isFinishing || this.streams.size >= STREAMS_MAX) this.refuse(id, ErrorCode.RefusedStream);
    else if (dependsOn === id) this.refuse(id, ErrorCode.ProtocolError);
    else this.open(id, block, isLast);
    return undefined;
  }

  private open(id: number, { fields, isTooLong }: HeaderBlock, isLast: boolean): void {
    const request = requestHeadOf(fields);
    if (typeof request === "string" && !isTooLong) return this.refuse(id, ErrorCode.ProtocolError);
    const head = typeof request === "string" ? NO_REQUEST : request;
    const stream = new Http2Stream(this, id, head, this.peer.windowBytes);
    this.streams.set(id, stream);
    this.guard.useful();
    if (isTooLong) stream.respond(431, [], true);
    else this.options.onRequest(stream);
    if (isLast && !stream.isClosed) this.endBody(stream);
  }

  private trailers(stream: Http2Stream, { fields }: HeaderBlock, isLast: boolean): Fault | undefined {
    if (!stream.isReceiving) return this.breakStream(stream, ErrorCode.StreamClosed);
    if (!isLast || whyNotFields(fields) !== undefined) return this.breakStream(stream, ErrorCode.ProtocolError);
    this.endBody(stream);
    return undefined;
  }

  private endBody(stream: Http2Stream): void {
    if (!stream.receivedAll()) this.breakStream(stream, ErrorCode.ProtocolError);
    else if (stream.answeredMs !== undefined) this.close(stream, ErrorCode.NoError);
  }

  private priority(id: number, payload: Uint8Array): Fault | undefined {
    this.idle();
    const code = payload.length !== 5 ? ErrorCode.FrameSizeError : ErrorCode.ProtocolError;
    if (payload.length === 5 && (numberAt(payload, 0) & 0x7fff_ffff) !== id) return undefined;
    const stream = this.streams.get(id);
    if (stream !== undefined) this.breakStream(stream, code);
    else if (this.isIdle(id)) return { code, why: "PRIORITY cannot be read" };
    else this.refuse(id, code);
    return undefined;
  }

  private resetByClient(id: number, payload: Uint8Array): Fault | undefined {
    if (this.isIdle(id)) return { code: ErrorCode.ProtocolError, why: "RST_STREAM is of a stream that has not begun" };
    this.idle();
    const stream = this.streams.get(id);
    if (stream === undefined) return undefined;
    const isAnswered = stream.answeredMs !== undefined;
    this.close(stream, numberAt(payload, 0));
    if (!isAnswered) this.countReset();
    return undefined;
  }

  private settings(flags: number, payload: Uint8Array): Fault | undefined {
    this.hasSettings = true;
    this.idle();
    if ((flags & Flag.Ack) !== 0) return undefined;
    const before = this.peer.windowBytes;
    const fault = this.peer.read(payload);
    if (fault !== undefined) return fault;
    this.sender.frameBytesMax = this.peer.frameBytesMax;
    const grown = this.peer.windowBytes - before;
    for (const stream of grown === 0 ? [] : this.streams.values()) if (!this.growAnswer(stream, grown)) return OVER_WINDOW;
    writeSettingsAck(this.sender.control);
    this.sender.plan();
    return undefined;
  }

  private ping(flags: number, payload: Uint8Array): void {
    this.idle();
    if ((flags & Flag.Ack) !== 0) return;
    writePing(this.sender.control, payload, Flag.Ack);
    this.sender.plan();
  }

  private windowUpdate(id: number, payload: Uint8Array): Fault | undefined {
    const bytes = numberAt(payload, 0) & WINDOW_MAX;
    if (id === 0) {
      if (bytes === 0) return { code: ErrorCode.ProtocolError, why: "WINDOW_UPDATE is of no bytes" };
      if (this.sender.window + bytes > WINDOW_MAX) return OVER_WINDOW;
      this.sender.grow(bytes);
      return undefined;
    }
    if (this.isIdle(id)) return { code: ErrorCode.ProtocolError, why: "WINDOW_UPDATE is of a stream that has not begun" };
    const stream = this.streams.get(id);
    if (stream === undefined) {
      if (bytes === 0) this.refuse(id, ErrorCode.ProtocolError);
      return undefined;
    }
    if (bytes === 0) return this.breakStream(stream, ErrorCode.ProtocolError);
    if (!this.growAnswer(stream, bytes)) this.breakStream(stream, ErrorCode.FlowControlError);
    return undefined;
  }

  /** The client takes more, or less, of a stream. @returns whether the window is one */
  private growAnswer(stream: Http2Stream, bytes: number): boolean {
    const { answer } = stream;
    answer.window += bytes;
    if (answer.window > WINDOW_MAX) return false;
    if (answer.window > 0 && answer.waiting > 0) this.sender.add(stream);
    return true;
  }

  // How it ends.

  /** Whether a client has not begun the stream, nor one after it. */
  private isIdle(id: number): boolean {
    return id > this.lastStream || id % 2 === 0;
  }

  private refuse(id: number, code: number): void {
    this.idle();
    this.remember(id);
    writeReset(this.sender.control, id, code);
    this.sender.plan();
  }

  /** Ends a stream for what its client did, which counts as taking it back. */
  private breakStream(stream: Http2Stream, code: number): undefined {
    this.reset(stream, code);
    this.countReset();
  }

  private remember(id: number): void {
    if (this.resetHere.has(id)) return;
    // In a ring, so that the oldest is found without a walk over those that have left.
    const at = this.resetCount++ % RESET_STREAMS_KEPT;
    this.resetHere.delete(this.resetRing[at] ?? 0);
    this.resetRing[at] = id;
    this.resetHere.add(id);
  }

  private sent(stream: Http2Stream): void {
    if (!stream.isReceiving) this.close(stream, ErrorCode.NoError);
    else if (this.isFinishing) this.reset(stream, ErrorCode.NoError);
    else stream.answered(this.options.now());
  }

  /**
   * Ends streams that were answered before their body was whole, which its client need not send on (RFC 9113 8.1). Not at once: some
   * clients tell of a body that nobody takes before they have read why.
   */
  private endAnswered(beforeMs: number): void {
    for (const stream of this.streams.values())
      if (stream.answeredMs !== undefined && stream.answeredMs <= beforeMs) this.reset(stream, ErrorCode.NoError);
  }

  private close(stream: Http2Stream, code: number): void {
    this.streams.delete(stream.id);
    this.sender.drop(stream);
    stream.close(code);
    this.endIfDone();
  }

  private endIfDone(): void {
    if (!this.isFinishing || this.streams.size > 0 || this.isOver) return;
    this.sender.flush();
    if (this.sender.isEmpty) this.end();
  }

  private end(): void {
    this.endedMs = this.options.now();
    this.socket.end();
  }

  /** A frame that brings nothing. */
  private idle(): void {
    if (this.guard.idle()) this.flood("it sends frames that bring nothing");
  }

  private countReset(): void {
    if (!this.guard.reset() || this.isOver) return;
    this.fail({ code: ErrorCode.EnhanceYourCalm, why: "too many streams are taken back" }, "too many cancelled calls");
  }

  private flood(why: string): void {
    if (!this.isOver) this.fail({ code: ErrorCode.EnhanceYourCalm, why }, "too many frames that bring nothing");
  }

  /** Ends the connection, and says why. */
  private fail({ code, why }: Fault, reason: Http2End = "broke the protocol"): void {
    if (this.isOver) return;
    this.options.onEnded(reason, why);
    writeGoAway(this.sender.control, this.lastStream, code, why);
    this.sender.flush();
    this.end();
    this.closeStreams(code);
  }

  private cut(reason: Http2End): void {
    this.options.onEnded(reason, reason);
    this.destroy();
  }

  private askIfQuiet(now: number): void {
    if (this.pingMs !== undefined) {
      if (now - this.pingMs >= PING_MS_MAX) this.cut("does not answer");
      return;
    }
    if (this.streams.size === 0 || now - this.heardMs < QUIET_MS_MAX) return;
    this.pingMs = now;
    writePing(this.sender.control, PING_BYTES, 0);
    this.sender.plan();
  }

  /** The socket is gone. */
  private closed(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.closeStreams(ErrorCode.Cancel);
  }

  private closeStreams(code: number): void {
    for (const stream of this.streams.values()) {
      this.streams.delete(stream.id);
      this.sender.drop(stream);
      stream.close(code);
    }
  }
}

const OVER_WINDOW: Fault = { code: ErrorCode.FlowControlError, why: "a window is larger than 2^31-1" };
/** Stands for one whose fields are too long. */
const NO_REQUEST = { method: "", scheme: "", path: "/", authority: undefined, fields: [], contentLength: undefined } as const;
