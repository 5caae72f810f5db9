/** How much a client takes of answers: its settings, and the windows of each stream and of all together (RFC 9113 6.5, 6.9). */
import { ErrorCode, type Fault, numberAt, WINDOW_MAX, writeSettingsAck } from "./frame.ts";
import { PeerSettings } from "./peer-settings.ts";
import type { Sender } from "./sender.ts";
import type { StreamTable } from "./stream-table.ts";
import type { Http2Stream } from "./stream.ts";

/** Who ends streams. */
export interface WindowHost {
  /** Ends a stream for what its client did. */
  breakStream(stream: Http2Stream, code: number): void;
  /** Says that a stream is over. */
  refuse(id: number, code: number): void;
}

const OVER_WINDOW: Fault = { code: ErrorCode.FlowControlError, why: "a window is larger than 2^31-1" };

/** See the file header. Faults end the connection. */
export class AnswerWindows {
  private readonly host: WindowHost;
  private readonly sender: Sender;
  private readonly streams: StreamTable;
  private readonly peer: PeerSettings = new PeerSettings();

  constructor(host: WindowHost, sender: Sender, streams: StreamTable) {
    this.host = host;
    this.sender = sender;
    this.streams = streams;
  }

  /** Bytes that the client takes of a stream that begins now. */
  get ofStream(): number {
    return this.peer.windowBytes;
  }

  /** Settings have come. @param payload of SETTINGS that is no answer to ours */
  settings(payload: Uint8Array): Fault | undefined {
    const { peer, sender } = this;
    const before = peer.windowBytes;
    const fault = peer.read(payload);
    if (fault !== undefined) return fault;
    sender.frameBytesMax = peer.frameBytesMax;
    const grown = peer.windowBytes - before;
    for (const stream of grown === 0 ? [] : this.streams.all()) if (!this.grow(stream, grown)) return OVER_WINDOW;
    writeSettingsAck(sender.control);
    sender.plan();
    return undefined;
  }

  /** The client takes more of a stream; of number 0: of all together. @param payload of WINDOW_UPDATE */
  update(id: number, payload: Uint8Array): Fault | undefined {
    const bytes = numberAt(payload, 0) & WINDOW_MAX;
    if (id === 0) return this.updateAll(bytes);
    if (this.streams.isIdle(id)) return { code: ErrorCode.ProtocolError, why: "WINDOW_UPDATE is of a stream that has not begun" };
    const stream = this.streams.get(id);
    if (stream === undefined) {
      if (bytes === 0) this.host.refuse(id, ErrorCode.ProtocolError);
    } else if (bytes === 0) this.host.breakStream(stream, ErrorCode.ProtocolError);
    else if (!this.grow(stream, bytes)) this.host.breakStream(stream, ErrorCode.FlowControlError);
    return undefined;
  }

  private updateAll(bytes: number): Fault | undefined {
    if (bytes === 0) return { code: ErrorCode.ProtocolError, why: "WINDOW_UPDATE is of no bytes" };
    if (this.sender.window + bytes > WINDOW_MAX) return OVER_WINDOW;
    this.sender.grow(bytes);
    return undefined;
  }

  /** The client takes more, or less, of a stream. @returns whether the window is one */
  private grow(stream: Http2Stream, bytes: number): boolean {
    const { answer } = stream;
    answer.window += bytes;
    if (answer.window > WINDOW_MAX) return false;
    if (answer.window > 0 && answer.waiting > 0) this.sender.add(stream);
    return true;
  }
}
