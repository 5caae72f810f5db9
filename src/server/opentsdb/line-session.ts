/**
 * One telnet connection: bytes in, answers out. Nothing is answered to a good `put`; each bad one gets a line in OpenTSDB's words.
 *
 *   bytes ─► buffer ─► whole lines (a round) ─► decode, write ─► answers ─► next round
 *
 * Lines are answered only as far as `ANSWERS_BYTES_MAX`, then the rest of the round is the next one.
 *
 * A round ends when its rows are durable and its answers are taken by the socket. Until then reading pauses, so that neither the buffer nor
 * the answers grow: a client that does not read is not read from.
 */
import type { Clock } from "../../base/clock.ts";
import { type DbError, publicMessageOf, toDbError } from "../../base/error.ts";
import { longerBytes } from "../../base/bytes/longer-array.ts";
import { httpStatusOf, StatusCode } from "../../base/status-code.ts";
import type { IngestCounts } from "../../db/ingest-counts.ts";
import { ANSWERS_BYTES_MAX, LINE_BYTES_MAX, ROUND_BYTES_MAX } from "./limits.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BLANK = 0x20;
const encoder = new TextEncoder();
const PUT: Uint8Array = encoder.encode("put");
const decoder = new TextDecoder();
/** Bytes of a line that are looked at for a command. */
const COMMAND_BYTES_MAX = 256;
const QUOTED_CHARACTERS_MAX = 40;
/** Status of failures that the sender has to mend. */
const BAD_REQUEST = 400;

/** The first line of a request of HTTP, even one cut at `COMMAND_BYTES_MAX`, or one of its headers. */
const HTTP_LINE = /^(?:[A-Z]{3,10} (?:\/|\*|https?:\/\/)|[!#$%&'*+.^_`|~0-9A-Za-z-]+:(?: |$))/;

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
  /** What its lines are counted for. */
  readonly counts: Pick<IngestCounts, "took" | "failed">;
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
  /** When bytes last did what they came for: a whole line, or an answer that was taken in full. */
  private movedMs: number;
  private readonly clock: Pick<Clock, "monotonicMillis">;
  private round: Promise<void> = Promise.resolve();

  constructor(socket: LineSocket, server: LineServer, clock: Pick<Clock, "monotonicMillis">) {
    this.socket = socket;
    this.server = server;
    this.clock = clock;
    this.movedMs = clock.monotonicMillis();
  }

  /** Milliseconds since it last took a whole line; 0 while the server works for it. */
  get restingMs(): number {
    return this.isBusy && this.whenDrained === undefined ? 0 : this.clock.monotonicMillis() - this.movedMs;
  }

  /** Whether it is in the middle of something that the client must end: a line, or the taking of answers. */
  get isHalf(): boolean {
    return this.whenDrained !== undefined || (!this.isBusy && this.used > 0);
  }

  /** Takes bytes that came in. */
  data(chunk: Uint8Array): void {
    if (this.isEnding || this.isGone) return;
    const need = this.used + chunk.length;
    if (this.used === 0 && !this.isBusy) this.movedMs = this.clock.monotonicMillis(); // A line begins.
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
      this.server.counts.took(end);
      this.buffer.copyWithin(0, end, this.used);
      this.used -= end;
      for (let start = 0; start < lines.length && !this.isGone; ) {
        const { answers, isLast, next } = await this.answered(lines, start);
        await this.send(answers);
        this.movedMs = this.clock.monotonicMillis();
        if (isLast) return this.leave("");
        start = next;
      }
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

  /** Runs lines of one round from `start` on; `next` is where it stopped. */
  private async answered(
    lines: Uint8Array,
    start: number,
  ): Promise<{ readonly answers: string; readonly isLast: boolean; readonly next: number }> {
    let said: string[] = [];
    let isLast = false;
    let next = start;
    let isRead = false;
    let hasFlaw = false;
    const read = (put: TakePut): void => {
      isRead = true;
      ({ said, isLast, next, hasFlaw } = this.read(lines, start, put));
    };
    try {
      await this.server.write(read);
      if (hasFlaw) this.server.counts.failed();
    } catch (thrown) {
      const error = toDbError(thrown);
      const isOfClient = httpStatusOf(error.code) === BAD_REQUEST;
      this.server.counts.failed();
      if (!isOfClient) this.server.failed(error);
      if (!isRead) read(() => undefined); // There was no room for points, but commands are answered.
      const why = publicMessageOf(error).replaceAll("\n", " ");
      const what = isOfClient ? "illegal argument" : error.code === StatusCode.RateLimited ? "Please throttle writes" : "storage error";
      said.push(`put: ${what}: ${why}\n`);
    }
    return { answers: said.join(""), isLast, next };
  }

  /** Hands over the points of some lines and answers the rest, up to `exit` or to as many answers as one may hold. */
  private read(
    lines: Uint8Array,
    from: number,
    put: TakePut,
  ): { readonly said: string[]; readonly isLast: boolean; readonly next: number; readonly hasFlaw: boolean } {
    const said: string[] = [];
    let saidLength = 0;
    let start = from;
    let hasFlaw = false;
    const say = (text: string): void => {
      said.push(text);
      saidLength += text.length;
    };
    while (start < lines.length && saidLength < ANSWERS_BYTES_MAX) {
      const feed = lines.indexOf(LINE_FEED, start);
      const end = feed > start && lines[feed - 1] === CARRIAGE_RETURN ? feed - 1 : feed;
      if (isPut(lines, start, end)) {
        const flaw = put(lines, start, end);
        hasFlaw ||= flaw !== undefined;
        if (flaw !== undefined) say(`put: ${flaw}\n`);
      } else if (end > start) {
        const text = decoder.decode(lines.subarray(start, Math.min(end, start + COMMAND_BYTES_MAX)));
        const command = text.trim().split(" ", 1)[0] ?? "";
        // A browser can be made to send a request here, whose body would be the next lines: nothing of it is taken.
        if (command === "exit" || HTTP_LINE.test(text)) return { said, isLast: true, next: lines.length, hasFlaw };
        say(answerTo(command, this.server.version));
      }
      start = feed + 1;
    }
    return { said, isLast: false, next: start, hasFlaw };
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
