/** Clients by the hundred that do little or nothing, and one that writes on a connection that it holds. */
import net from "node:net";

/** Connections that only send this, all at once. */
export class Crowd {
  /** How many the server has ended. */
  closed = 0;
  private readonly port: number;
  private readonly text: string;
  private readonly isComingBack: boolean;
  private readonly sockets: Set<net.Socket> = new Set();
  private isLeaving = false;

  /** @param isComingBack whether one that is dropped connects again a second later, as clients do */
  constructor(port: number, count: number, text = "", isComingBack = false) {
    this.port = port;
    this.text = text;
    this.isComingBack = isComingBack;
    for (let i = 0; i < count; i++) this.connect();
  }

  /** Sends more of a request on every connection. */
  say(text: string): void {
    for (const socket of this.sockets) if (socket.writable) socket.write(text);
  }

  leave(): void {
    this.isLeaving = true;
    for (const socket of this.sockets) socket.destroy();
  }

  private connect(): void {
    if (this.isLeaving) return;
    const socket = net.connect(this.port, "127.0.0.1");
    this.sockets.add(socket);
    socket.on("error", () => undefined); // It is dropped.
    socket.resume(); // Who does not read what came never hears of the end.
    socket.on("close", () => {
      this.closed++;
      this.sockets.delete(socket);
      if (this.isComingBack) setTimeout(() => this.connect(), 1000);
    });
    socket.on("connect", () => {
      if (this.text !== "") socket.write(this.text);
    });
  }
}

/** One connection that writes again and again, and never opens another. */
export class HeldWriter {
  acknowledged = 0;
  /** Why it ended before it was told to. */
  failure: string | undefined;
  private readonly socket: net.Socket;
  private readonly ended = Promise.withResolvers<void>();
  private received = "";
  private isStopping = false;

  constructor(port: number, table: string) {
    this.socket = net.connect(port, "127.0.0.1");
    const send = (): void => {
      const body = `${table},host=h${this.acknowledged % 50} v=${this.acknowledged},text="${"x".repeat(2000)}"\n`;
      this.socket.write(`POST /v1/influxdb/write HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    };
    this.socket.on("connect", send);
    this.socket.on("error", () => undefined); // "close" follows.
    this.socket.on("close", () => {
      if (!this.isStopping) this.failure ??= `closed; got ${JSON.stringify(this.received)}`;
      this.ended.resolve();
    });
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
      const end = this.received.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (!this.received.startsWith("HTTP/1.1 204")) this.failure ??= this.received;
      this.received = "";
      this.acknowledged++;
      if (this.isStopping || this.failure !== undefined) this.socket.end();
      else send();
    });
  }

  /** Waits for the last answer and leaves. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.ended.promise;
  }
}

/** Requests that such clients leave unfinished, or do not follow by another. */
export const UNFINISHED = {
  silent: "",
  "in the middle of a head": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
  "idle after an answer": "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
  "in the middle of a body": "POST /v1/influxdb/write HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\ncpu",
} as const;

/** A command that starts a server with so many descriptors, which nothing in it can raise. */
export function withDescriptors(count: number): readonly string[] {
  return ["sh", "-c", `ulimit -n ${count}; exec "$@"`, "sh"];
}
