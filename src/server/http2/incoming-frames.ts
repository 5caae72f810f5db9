/**
 * What a client sends, frame by frame: its preface, then frames that come in an order and a form that the protocol allows (RFC 9113 3.4,
 * 4.3, 6). Blocks of headers are gathered; each frame goes to whoever is concerned.
 *
 *   bytes ─► preface ─► FrameReader ─► order, form ─┬─► DATA ─► received-data.ts
 *                                                   └─► others, blocks of headers ─► FrameTarget
 */
import { wrongForm } from "./frame-form.ts";
import { FrameReader, type FrameSink } from "./frame-reader.ts";
import { ErrorCode, type Fault, FrameType, PREFACE } from "./frame.ts";
import { HeaderGatherer } from "./header-gatherer.ts";
import type { HeaderBlock } from "./hpack/header-decoder.ts";
import type { ReceivedData } from "./received-data.ts";

/** A block of headers that can be read. */
export interface WholeHeaders {
  readonly block: HeaderBlock;
  readonly stream: number;
  /** Nothing follows on the stream. */
  readonly isLast: boolean;
  /** The stream that it names as more important. */
  readonly dependsOn: number | undefined;
}

/** Who acts on frames, which have the form of their kind. Payloads are borrowed until it returns. What it returns ends the connection. */
export interface FrameTarget {
  /** Nothing that comes is heard any more. */
  readonly isOver: boolean;
  headersCame(headers: WholeHeaders): Fault | undefined;
  priorityCame(id: number, payload: Uint8Array): Fault | undefined;
  resetCame(id: number, payload: Uint8Array): Fault | undefined;
  settingsCame(flags: number, payload: Uint8Array): Fault | undefined;
  pingCame(flags: number, payload: Uint8Array): void;
  goAwayCame(): void;
  windowUpdateCame(id: number, payload: Uint8Array): Fault | undefined;
  unknownCame(): void;
  /** The client did what no client may. */
  fail(fault: Fault): void;
}

const PREFACE_BYTES: Uint8Array = Buffer.from(PREFACE, "latin1");

/** See the file header. */
export class IncomingFrames implements FrameSink {
  private readonly target: FrameTarget;
  private readonly bodies: ReceivedData;
  private readonly reader: FrameReader = new FrameReader(this);
  private readonly headers: HeaderGatherer = new HeaderGatherer();
  private prefaceLeft: number = PREFACE_BYTES.length;
  private hasSettings = false;

  /** @param bodies gets DATA */
  constructor(target: FrameTarget, bodies: ReceivedData) {
    this.target = target;
    this.bodies = bodies;
  }

  /** See `FrameSink`. */
  get isOver(): boolean {
    return this.target.isOver;
  }

  /** Takes what came, borrowed. */
  read(chunk: Uint8Array): void {
    const rest = this.prefaceLeft > 0 ? this.readPreface(chunk) : chunk;
    if (rest === undefined) return this.target.fail({ code: ErrorCode.ProtocolError, why: "that is no HTTP/2" });
    const fault = this.reader.read(rest);
    if (fault !== undefined) this.target.fail(fault);
  }

  dataBegins(id: number, length: number): void {
    const fault = this.wrongTime(FrameType.Data, id);
    if (fault === undefined) this.bodies.begins(id, length);
    else this.target.fail(fault);
  }

  data(bytes: Uint8Array): void {
    this.bodies.data(bytes);
  }

  dataEnds(flags: number): void {
    this.bodies.ends(flags);
  }

  frame(type: number, flags: number, id: number, payload: Uint8Array): void {
    const fault = this.wrongTime(type, id) ?? wrongForm(type, flags, id, payload.length) ?? this.handle(type, flags, id, payload);
    if (fault !== undefined) this.target.fail(fault);
  }

  private readPreface(chunk: Uint8Array): Uint8Array | undefined {
    const part = chunk.subarray(0, this.prefaceLeft);
    const from = PREFACE_BYTES.length - this.prefaceLeft;
    for (let i = 0; i < part.length; i++) if (part[i] !== PREFACE_BYTES[from + i]) return undefined;
    this.prefaceLeft -= part.length;
    return chunk.subarray(part.length);
  }

  private handle(type: number, flags: number, id: number, payload: Uint8Array): Fault | undefined {
    const { target } = this;
    switch (type) {
      case FrameType.Headers:
        return this.headersGo(this.headers.begin(flags, id, payload));
      case FrameType.Continuation:
        return this.headersGo(this.headers.add(flags, id, payload));
      case FrameType.Priority:
        return target.priorityCame(id, payload);
      case FrameType.ResetStream:
        return target.resetCame(id, payload);
      case FrameType.Settings:
        this.hasSettings = true;
        return target.settingsCame(flags, payload);
      case FrameType.Ping:
        target.pingCame(flags, payload);
        return undefined;
      case FrameType.GoAway:
        target.goAwayCame();
        return undefined;
      case FrameType.WindowUpdate:
        return target.windowUpdateCame(id, payload);
      default:
        target.unknownCame();
        return undefined;
    }
  }

  /** A block goes on, once it is whole. @param gathered why it cannot be */
  private headersGo(gathered: Fault | undefined): Fault | undefined {
    if (gathered !== undefined || !this.headers.isWhole) return gathered;
    const { block, stream, isLast, dependsOn } = this.headers.take();
    if (block === undefined) return { code: ErrorCode.CompressionError, why: "a block of headers cannot be read" };
    return this.target.headersCame({ block, stream, isLast, dependsOn });
  }

  /** Frames that may not come now, whatever they say. */
  private wrongTime(type: number, id: number): Fault | undefined {
    if (!this.hasSettings && type !== FrameType.Settings) return { code: ErrorCode.ProtocolError, why: "the first frame is not SETTINGS" };
    if (this.headers.stream === undefined || (type === FrameType.Continuation && id === this.headers.stream)) return undefined;
    return { code: ErrorCode.ProtocolError, why: "a block of headers is not whole" };
  }
}
