/** HTTP/1.1 as a client that costs little: requests made beforehand over a raw socket, one at a time, answers with a length. */
import type { Socket } from "bun";
import { connectSocket, type Failure, type Speaker } from "./load-socket.ts";

/** Characters of a refusal that are told. */
const TOLD_MAX = 300;

/** A POST in one piece. */
export function postRequest(path: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Buffer {
  const lines = Object.entries({ host: "127.0.0.1", ...headers, "content-length": String(body.length) }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), body]);
}

/** See the file header. */
export class Http1Connection implements Speaker {
  private socket: Socket | undefined;
  private tail: Uint8Array | undefined;
  private answer: Buffer = Buffer.alloc(0);
  private done: ((failure: Failure) => void) | undefined;
  private failure: Failure;

  private constructor() {}

  /** @throws Error when nobody listens */
  static async connect(port: number): Promise<Http1Connection> {
    const made = new Http1Connection();
    made.socket = await connectSocket(port, made);
    return made;
  }

  /** Sends a request and waits for its answer. */
  async request(bytes: Uint8Array): Promise<Failure> {
    if (this.failure !== undefined) return this.failure;
    const { promise, resolve } = Promise.withResolvers<Failure>();
    this.done = resolve;
    this.tail = bytes;
    this.pump();
    return await promise;
  }

  close(): void {
    this.socket?.end();
  }

  pump(): void {
    while (this.tail !== undefined) {
      const written = this.socket?.write(this.tail) ?? 0;
      if (written <= 0) return;
      this.tail = written < this.tail.length ? this.tail.subarray(written) : undefined;
    }
  }

  take(bytes: Buffer): void {
    this.answer = this.answer.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.answer, bytes]);
    const headEnd = this.answer.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = this.answer.toString("latin1", 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const status = head.slice(9, 12);
    if (length === undefined && status !== "204") {
      this.fail(`an answer has no length: ${head.slice(0, TOLD_MAX)}`);
      return;
    }
    if (this.answer.length < headEnd + 4 + Number(length ?? 0)) return;
    const failure = status.startsWith("2")
      ? undefined
      : `HTTP status ${status}: ${this.answer.toString("utf8", headEnd + 4).slice(0, TOLD_MAX)}`;
    this.answer = Buffer.alloc(0);
    this.done?.(failure);
  }

  /** See `Speaker`; so are `take` and `pump`. */
  fail(why: string): void {
    this.failure ??= why;
    this.done?.(why);
  }
}
