/**
 * A connection of a benchmark's client by hand: it counts rows and builds nothing, so that what is measured is the server. Bytes in, one
 * request at a time; the protocol (`postgres-link.ts`, `mysql-link.ts`) says where an answer ends.
 */

/** What a protocol makes of the server's bytes. */
export interface Answers {
  /** Rows of the answer that is read. */
  rows: number;
  /** Looks at bytes `[0, bytes.length)` and returns how many are done with; the rest comes again with what follows. */
  take(bytes: Buffer): number;
}

/** A value of a statement, by its column. */
export type WireValue = string | number;

/** What a column holds: `time` is milliseconds since 1970. */
export type ColumnKind = "text" | "time" | "double" | "long" | "int";

/** A statement that a server has prepared. */
export interface PreparedLink {
  /** Bytes that run it. Their values may be many: `values.length` is a multiple of `kinds.length`, which is gone round. */
  bytes(values: readonly WireValue[], kinds: readonly ColumnKind[]): Uint8Array;
}

/** A signed-in connection. */
export interface WireLink {
  /** Runs a text. @returns its rows @throws Error with the server's words */
  query(text: string): Promise<number>;
  prepare(text: string): Promise<PreparedLink>;
  /** Runs what `bytes` of a prepared statement made. @returns its rows */
  execute(bytes: Uint8Array): Promise<number>;
  /** Sends rows behind a statement that takes them. */
  load(statement: string, rows: readonly Uint8Array[]): Promise<number>;
  end(): void;
}

interface Waiting {
  resolve(rows: number): void;
  reject(why: Error): void;
}

/** Bytes of requests out, answers in. */
export class LinkSocket {
  private readonly answers: Answers;
  private socket: Bun.Socket | undefined;
  private rest: Buffer = Buffer.alloc(0);
  private waiting: Waiting | undefined;
  private unsent: Uint8Array[] = [];

  private constructor(answers: Answers) {
    this.answers = answers;
  }

  /** Connects. `make` gets the socket, on which it ends answers. */
  static async connect(port: number, make: (socket: LinkSocket) => Answers): Promise<LinkSocket> {
    const box: { answers?: Answers } = {};
    const link = new LinkSocket({
      rows: 0,
      take: (bytes) => box.answers?.take(bytes) ?? 0,
    });
    box.answers = make(link);
    link.socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data: (_, chunk) => link.data(chunk),
        drain: () => link.pump(),
        close: () => link.fail(new Error("the server has closed the connection")),
        error: (_, error) => link.fail(error),
      },
    });
    link.socket.setNoDelay(true);
    return link;
  }

  /** Sends a request; its answer ends when the protocol calls `done`. */
  request(...bytes: readonly Uint8Array[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.send(...bytes);
    });
  }

  send(...bytes: readonly Uint8Array[]): void {
    this.unsent.push(...bytes);
    this.pump();
  }

  /** The answer is there. */
  done(rows: number, failure: string | undefined): void {
    const { waiting } = this;
    this.waiting = undefined;
    if (failure === undefined) waiting?.resolve(rows);
    else waiting?.reject(new Error(failure));
  }

  end(): void {
    this.waiting = undefined;
    this.socket?.end();
  }

  private fail(why: Error): void {
    this.waiting?.reject(why);
    this.waiting = undefined;
  }

  private data(chunk: Buffer): void {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const taken = this.answers.take(bytes);
    this.rest = taken === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(taken)); // The chunk is the socket's.
  }

  private pump(): void {
    let sent = 0;
    for (const bytes of this.unsent) {
      const written = this.socket?.write(bytes) ?? 0;
      if (written < bytes.length) {
        this.unsent = [bytes.subarray(Math.max(0, written)), ...this.unsent.slice(sent + 1)];
        return;
      }
      sent += 1;
    }
    this.unsent = [];
  }
}
