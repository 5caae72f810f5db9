/**
 * A connection of HTTP/2 from the server's side (RFC 9113), over a socket that was accepted elsewhere.
 *
 *   socket ─► incoming-frames.ts ─┬─► this: streams, settings, how it ends ─► onRequest(stream)
 *                                 └─► received-data.ts ─► receivers of bodies
 *   socket ◄─ sender.ts ◄─ answers
 *
 * What a client does wrong ends its stream (RST_STREAM) or, where the protocol says so or it costs others, its connection (GOAWAY, then the
 * socket). Nothing that a client sends is kept beyond the limits of `limits.ts`.
 */
import { AnswerWindows, type WindowHost } from "./answer-windows.ts";
import {
  ErrorCode,
  type Fault,
  Flag,
  numberAt,
  Setting,
  WINDOW_DEFAULT,
  writeGoAway,
  writePing,
  writeReset,
  writeSettings,
  writeWindowUpdate,
} from "./frame.ts";
import { FloodGuard } from "./flood-guard.ts";
import type { HeaderBlock } from "./hpack/header-decoder.ts";
import { type FrameTarget, IncomingFrames, type WholeHeaders } from "./incoming-frames.ts";
import {
  CONNECTION_WINDOW_BYTES,
  CONTROL_BYTES_MAX,
  FRAME_BYTES_MAX,
  HEADER_LIST_BYTES_MAX,
  LINGER_MS,
  STREAM_WINDOW_BYTES,
  STREAMS_MAX,
} from "./limits.ts";
import type { Http2End, Http2Options, Http2Socket } from "./options.ts";
import { QuietWatch } from "./quiet-watch.ts";
import { type DataHost, ReceivedData } from "./received-data.ts";
import { requestHeadOf, whyNotFields } from "./request-head.ts";
import { Sender } from "./sender.ts";
import { StreamTable } from "./stream-table.ts";
import { Http2Stream, type StreamHost } from "./stream.ts";

/** Our windows: what clients are told first. */
const SETTINGS: readonly (readonly [id: number, value: number])[] = [
  [Setting.MaxConcurrentStreams, STREAMS_MAX],
  [Setting.InitialWindowSize, STREAM_WINDOW_BYTES],
  [Setting.MaxFrameSize, FRAME_BYTES_MAX],
  [Setting.MaxHeaderListSize, HEADER_LIST_BYTES_MAX],
];

/** What our PINGs carry. */
const PING_BYTES: Uint8Array = Buffer.from("are-you?", "latin1");

/** See the file header. */
export class Http2Connection implements FrameTarget, DataHost, WindowHost, StreamHost {
  private readonly socket: Http2Socket;
  private readonly options: Http2Options;
  private readonly sender: Sender;
  private readonly bodies: ReceivedData = new ReceivedData(this);
  private readonly incoming: IncomingFrames = new IncomingFrames(this, this.bodies);
  private readonly streams: StreamTable = new StreamTable();
  private readonly windows: AnswerWindows;
  private isFinishing = false;
  private isDead = false;
  /** When the client was told that the connection ends. */
  private endedMs: number | undefined;
  private readonly guard: FloodGuard;
  private readonly quiet: QuietWatch;

  constructor(socket: Http2Socket, options: Http2Options) {
    this.socket = socket;
    this.options = options;
    this.quiet = new QuietWatch(options.now());
    this.sender = new Sender(socket, options.now, {
      onSent: (stream) => this.sent(stream),
      onTaken: () => {
        if (this.isDead) return;
        this.sender.flush();
        this.endIfDone();
      },
    });
    this.windows = new AnswerWindows(this, this.sender, this.streams);
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
    writeGoAway(this.sender.control, this.streams.lastBegun, ErrorCode.NoError, "");
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
    for (const stream of this.streams.all()) {
      const { stalledMs } = stream.answer;
      if (stalledMs !== undefined && now - stalledMs >= writeMsMax) this.reset(stream, ErrorCode.Cancel);
    }
    this.endAnswered(now - LINGER_MS);
    this.askIfQuiet(now);
  }

  // What streams ask for.

  counted(bytes: number): void {
    this.bodies.counted(bytes);
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
    this.streams.endHere(stream.id);
    if (!this.isOver) writeReset(this.sender.control, stream.id, code);
    this.close(stream, code);
    this.sender.plan();
  }

  /** What came, borrowed; also what came before the connection was made. */
  receive(chunk: Uint8Array): void {
    if (this.isOver) return;
    this.quiet.heard(this.options.now());
    this.incoming.read(chunk);
    if (this.isOver || this.sender.control.length <= CONTROL_BYTES_MAX) return;
    this.sender.flush();
    if (this.sender.control.length > CONTROL_BYTES_MAX) this.flood("answers to its frames wait, and it reads nothing");
  }

  // What comes of DATA.

  streamOf(id: number): Http2Stream | undefined {
    return this.streams.get(id);
  }

  strayData(id: number, stream: Http2Stream | undefined): void {
    if (this.streams.isIdle(id)) return this.fail({ code: ErrorCode.ProtocolError, why: "DATA is of a stream that has not begun" });
    if (stream !== undefined) return this.breakStream(stream, ErrorCode.StreamClosed);
    if (this.streams.wasEndedHere(id)) return;
    this.idle();
    writeReset(this.sender.control, id, ErrorCode.StreamClosed);
    this.sender.plan();
  }

  endBody(stream: Http2Stream): void {
    if (!stream.receivedAll()) this.breakStream(stream, ErrorCode.ProtocolError);
    else if (stream.answeredMs !== undefined) this.close(stream, ErrorCode.NoError);
  }

  grant(bytes: number): void {
    if (this.isOver) return;
    writeWindowUpdate(this.sender.control, 0, bytes);
    this.sender.plan();
  }

  useful(): void {
    this.guard.useful();
  }

  // What comes of other frames.

  headersCame({ block, stream: id, isLast, dependsOn }: WholeHeaders): Fault | undefined {
    const { streams } = this;
    const stream = streams.get(id);
    if (stream !== undefined) return this.trailers(stream, block, isLast);
    if (!streams.isIdle(id)) {
      if (!streams.wasEndedHere(id)) return { code: ErrorCode.StreamClosed, why: "HEADERS are of a stream that is over" };
      if (!isLast) this.refuse(id, ErrorCode.ProtocolError); // Trailers are the last.
      return undefined;
    }
    if (id % 2 === 0) return { code: ErrorCode.ProtocolError, why: "a client's streams have odd numbers" };
    streams.begin(id);
    if (streams.size >= STREAMS_MAX) this.endAnswered(this.options.now());
    if (this.isFinishing || streams.size >= STREAMS_MAX) this.refuse(id, ErrorCode.RefusedStream);
    else if (dependsOn === id) this.refuse(id, ErrorCode.ProtocolError);
    else this.open(id, block, isLast);
    return undefined;
  }

  private open(id: number, { fields, isTooLong }: HeaderBlock, isLast: boolean): void {
    const request = requestHeadOf(fields);
    if (typeof request === "string" && !isTooLong) return this.refuse(id, ErrorCode.ProtocolError);
    const head = typeof request === "string" ? NO_REQUEST : request;
    const stream = new Http2Stream(this, id, head, this.windows.ofStream);
    this.streams.add(stream);
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

  priorityCame(id: number, payload: Uint8Array): Fault | undefined {
    this.idle();
    const code = payload.length !== 5 ? ErrorCode.FrameSizeError : ErrorCode.ProtocolError;
    if (payload.length === 5 && (numberAt(payload, 0) & 0x7fff_ffff) !== id) return undefined;
    const stream = this.streams.get(id);
    if (stream !== undefined) this.breakStream(stream, code);
    else if (this.streams.isIdle(id)) return { code, why: "PRIORITY cannot be read" };
    else this.refuse(id, code);
    return undefined;
  }

  resetCame(id: number, payload: Uint8Array): Fault | undefined {
    if (this.streams.isIdle(id)) return { code: ErrorCode.ProtocolError, why: "RST_STREAM is of a stream that has not begun" };
    this.idle();
    const stream = this.streams.get(id);
    if (stream === undefined) return undefined;
    const isAnswered = stream.answeredMs !== undefined;
    this.close(stream, numberAt(payload, 0));
    if (!isAnswered) this.countReset();
    return undefined;
  }

  settingsCame(flags: number, payload: Uint8Array): Fault | undefined {
    this.idle();
    return (flags & Flag.Ack) !== 0 ? undefined : this.windows.settings(payload);
  }

  pingCame(flags: number, payload: Uint8Array): void {
    this.idle();
    if ((flags & Flag.Ack) !== 0) return;
    writePing(this.sender.control, payload, Flag.Ack);
    this.sender.plan();
  }

  goAwayCame(): void {
    this.finish();
  }

  unknownCame(): void {
    this.idle();
  }

  windowUpdateCame(id: number, payload: Uint8Array): Fault | undefined {
    return this.windows.update(id, payload);
  }

  // How it ends.

  refuse(id: number, code: number): void {
    this.idle();
    this.streams.endHere(id);
    writeReset(this.sender.control, id, code);
    this.sender.plan();
  }

  /** Ends a stream for what its client did, which counts as taking it back. */
  breakStream(stream: Http2Stream, code: number): undefined {
    this.reset(stream, code);
    this.countReset();
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
    for (const stream of this.streams.all())
      if (stream.answeredMs !== undefined && stream.answeredMs <= beforeMs) this.reset(stream, ErrorCode.NoError);
  }

  private close(stream: Http2Stream, code: number): void {
    this.streams.delete(stream);
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
  idle(): void {
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
  fail({ code, why }: Fault, reason: Http2End = "broke the protocol"): void {
    if (this.isOver) return;
    this.options.onEnded(reason, why);
    writeGoAway(this.sender.control, this.streams.lastBegun, code, why);
    this.sender.flush();
    this.end();
    this.closeStreams(code);
  }

  private cut(reason: Http2End): void {
    this.options.onEnded(reason, reason);
    this.destroy();
  }

  private askIfQuiet(now: number): void {
    const next = this.quiet.look(now, this.streams.size > 0);
    if (next === "give up") this.cut("does not answer");
    if (next !== "ask") return;
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
    for (const stream of this.streams.all()) {
      this.streams.delete(stream);
      this.sender.drop(stream);
      stream.close(code);
    }
  }
}

/** Stands for one whose fields are too long. */
const NO_REQUEST = { method: "", scheme: "", path: "/", authority: undefined, fields: [], contentLength: undefined } as const;
