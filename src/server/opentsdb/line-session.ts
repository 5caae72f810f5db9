/**
 * One telnet connection: bytes in, answers out. Nothing is answered to a good `put`; each bad one gets a line in OpenTSDB's words.
 *
 *   bytes ─► buffer ─► whole lines (a round) ─► decode, write ─► answers ─► next round
 *
 * A round ends when its rows are durable and its answers are taken by the socket. Until then reading pauses, so that neither the buffer nor
 * the answers grow: a client that does not read is not read from.
 */
import { type DbError, publicMessageOf, toDbError } from "../../base/error.ts";
import { longerBytes } from "../../base/longer-array.ts";
import { StatusCode } from "../../base/status-code.ts";
import { LINE_BYTES_MAX, ROUND_BYTES_MAX } from "./limits.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BLANK = 0x20;
const encoder = new TextEncoder();
const PUT: Uint8Array = encoder.encode("put");
const decoder = new TextDecoder();
/** Bytes of a line that are looked at for a command. */
const COMMAND_BYTES_MAX = 256;
const QUOTED_CHARACTERS_MAX = 40;

/** What a session needs of its socket. */
export interface LineSocket {
  /** Writes bytes; returns how many were taken. */
  write(bytes: Uint8Array): number;
  pause(): void;
  resume(): void;
  /** Closes once what was taken is sent. */
  end(): void;
}

/** Takes a line that begins with `put`; returns what is wrong with it. */
export type TakePut = (bytes: Uint8Array, start: number, end: number) => string | undefined;

/** What a session needs of the server. */
export interface LineServer {
  readonly version: string;
  /**
   * Decodes and writes what `lines` hands over; resolves when it is durable. `lines` may be asked for again when a table changed
   * in between.
   *
   * @throws DbError
   */
  write(lines: (put: TakePut) => void): Promise<void>;
  /** Hears of failures that are no fault of the client. */
  failed(error: DbError): void;
}

/** See the file header. */
export class LineSession {
  private readonly socket: LineSocket;
  private readonly server: LineServer;
  private buffer: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  private used = 0;
  private answers: Uint8Array = new Uint8Array(0);
  private isBusy = false;
  private isEnding = false;
  private isGone = false;
  private whenDrained: (() => void) | undefined;
  private round: Promise<void> = Promise.resolve();

  constructor(socket: LineSocket, server: LineServer) {
    this.socket = socket;
    this.server = server;
  }

  /** Takes bytes that came in. */
  data(chunk: Uint8Array): void {
    if (this.isEnding || this.isGone) return;
    const need = this.used + chunk.length;
    if (need > this.buffer.length) this.buffer = longerBytes(this.buffer, this.used, need);
    this.buffer.set(chunk, this.used);
    this.used = need;
    if (this.isBusy) return;
    this.isBusy = true;
    this.round = this.rounds();
  }

  /** The socket takes bytes again. */
  drained(): void {
    this.answers = this.answers.subarray(Math.max(0, this.socket.write(this.answers)));
    if (this.answers.length > 0) return;
    const resume = this.whenDrained;
    this.whenDrained = undefined;
    resume?.();
  }

  /** The connection is gone. */
  closed(): void {
    this.isGone = true;
    const resume = this.whenDrained;
    this.whenDrained = undefined;
    resume?.();
  }

  /** Takes no more bytes; resolves when what was taken is durable, and the connection is then closed. */
  async finish(): Promise<void> {
    this.isEnding = true;
    await this.round;
    if (!this.isGone) this.socket.end();
  }

  /** Round after round while there are whole lines. Never rejects. */
  private async rounds(): Promise<void> {
    let isPaused = false;
    while (!this.isGone) {
      const end = this.buffer.subarray(0, Math.min(this.used, ROUND_BYTES_MAX)).lastIndexOf(LINE_FEED) + 1;
      if (end === 0) break;
      if (!isPaused) this.socket.pause();
      isPaused = true;
      const lines = this.buffer.slice(0, end);
      this.buffer.copyWithin(0, end, this.used);
      this.used -= end;
      const { answers, isLast } = await this.answered(lines);
      await this.send(answers);
      if (isLast) return this.leave("");
    }
    if (this.used >= LINE_BYTES_MAX) return this.leave(`error: a line has more than ${LINE_BYTES_MAX} bytes\n`);
    if (this.used === 0 && this.buffer.length > LINE_BYTES_MAX) this.buffer = new Uint8Array(4096);
    this.isBusy = false;
    if (isPaused && !this.isGone) this.socket.resume();
  }

  private async leave(last: string): Promise<void> {
    this.isEnding = true;
    await this.send(last);
    if (!this.isGone) this.socket.end();
  }

  /** Runs the lines of one round. */
  private async answered(lines: Uint8Array): Promise<{ readonly answers: string; readonly isLast: boolean }> {
    let said: string[] = [];
    let isLast = false;
    let isRead = false;
    const read = (put: TakePut): void => {
      isRead = true;
      ({ said, isLast } = this.read(lines, put));
    };
    try {
      await this.server.write(read);
    } catch (thrown) {
      const error = toDbError(thrown);
      this.server.failed(error);
      if (!isRead) read(() => undefined); // There was no room for points, but commands are answered.
      const why = publicMessageOf(error).replaceAll("\n", " ");
      said.push(error.code === StatusCode.RateLimited ? `put: Please throttle writes: ${why}\n` : `put: storage error: ${why}\n`);
    }
    return { answers: said.join(""), isLast };
  }

  /** Hands over the points of some lines and answers the rest, up to `exit`. */
  private read(lines: Uint8Array, put: TakePut): { readonly said: string[]; readonly isLast: boolean } {
    const said: string[] = [];
    for (let start = 0; start < lines.length; ) {
      const feed = lines.indexOf(LINE_FEED, start);
      const end = feed > start && lines[feed - 1] === CARRIAGE_RETURN ? feed - 1 : feed;
      if (isPut(lines, start, end)) {
        const flaw = put(lines, start, end);
        if (flaw !== undefined) said.push(`put: ${flaw}\n`);
      } else if (end > start) {
        const text = decoder.decode(lines.subarray(start, Math.min(end, start + COMMAND_BYTES_MAX)));
        const command = text.trim().split(" ", 1)[0] ?? "";
        if (command === "exit") return { said, isLast: true };
        said.push(answerTo(command, this.server.version));
      }
      start = feed + 1;
    }
    return { said, isLast: false };
  }

  /** Resolves when the socket has taken all, or is gone. */
  private async send(text: string): Promise<void> {
    if (text === "" || this.isGone) return;
    const bytes = encoder.encode(text);
    const taken = Math.max(0, this.socket.write(bytes));
    if (taken === bytes.length) return;
    this.answers = bytes.subarray(taken);
    await new Promise<void>((resolve) => {
      this.whenDrained = resolve;
    });
  }
}

function isPut(bytes: Uint8Array, start: number, end: number): boolean {
  const at = start + PUT.length;
  for (let i = 0; i < PUT.length; i++) if (bytes[start + i] !== PUT[i]) return false;
  return at === end || (at < end && bytes[at] === BLANK);
}

function answerTo(command: string, version: string): string {
  switch (command) {
    case "":
      return "";
    case "version":
      return `varve ${version}\n`;
    case "help":
      return "available commands: exit help put version\n";
    default:
      return `unknown command: ${command.slice(0, QUOTED_CHARACTERS_MAX).replace(/[^\x21-\x7e]/g, "?")}.  Try \`help'.\n`;
  }
}
