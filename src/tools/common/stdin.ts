/** Standard input, of which the first line may be a password and the rest what a tool works on. */
import type { ToolIo } from "../tool.ts";

/** Bytes that are read for one line at most. Reason: a password is no file. */
const LINE_BYTES_MAX: number = 64 * 1024;

/** See the file header. */
class StdinLines {
  private readonly reader: AsyncIterator<Uint8Array>;
  private held: Uint8Array = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array>) {
    this.reader = stream[Symbol.asyncIterator]();
  }

  /** The next line without its end; undefined behind the last. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.held.indexOf(0x0a);
      if (end >= 0 || this.held.length > LINE_BYTES_MAX) {
        const cut = end < 0 ? this.held.length : end;
        const text = Buffer.from(this.held.subarray(0, cut)).toString("utf8");
        this.held = this.held.subarray(cut + 1);
        return text.replace(/\r$/, "");
      }
      const next = await this.reader.next();
      if (next.done === true) {
        const text = this.held.length === 0 ? undefined : Buffer.from(this.held).toString("utf8");
        this.held = new Uint8Array(0);
        return text;
      }
      this.held = this.held.length === 0 ? next.value : Buffer.concat([this.held, next.value]);
    }
  }

  /** What is left, in pieces. */
  async *rest(): AsyncGenerator<Uint8Array> {
    if (this.held.length > 0) yield this.held;
    this.held = new Uint8Array(0);
    for (let next = await this.reader.next(); next.done !== true; next = await this.reader.next()) yield next.value;
  }

  /** What is left, as text. */
  async text(): Promise<string> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.rest()) pieces.push(piece);
    return Buffer.concat(pieces).toString("utf8");
  }
}

const opened: WeakMap<ToolIo, StdinLines> = new WeakMap();

/** Standard input of a tool: the same one, however often it is asked for. */
export function stdinLines(io: ToolIo): StdinLines {
  let lines = opened.get(io);
  if (lines === undefined) opened.set(io, (lines = new StdinLines(io.stdin)));
  return lines;
}
