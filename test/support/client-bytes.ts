/** A client's connection by hand: bytes as they are, to servers whose messages a test puts together itself. */
import net from "node:net";

/** See the file header. */
export class ClientBytes {
  /** Set when the server has closed it. */
  readonly closed: Promise<void>;
  private isClosed = false;
  private readonly socket: net.Socket;
  private bytes: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  private wake: () => void = () => undefined;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.bytes = Buffer.concat([this.bytes, chunk]);
      this.wake();
    });
    socket.on("error", () => undefined); // "close" follows.
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        this.isClosed = true;
        resolve();
        this.wake();
      });
    });
  }

  /** Connects, and says nothing. */
  static async connect(port: number): Promise<ClientBytes> {
    const socket = net.connect(port, "127.0.0.1");
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new ClientBytes(socket);
  }

  send(...parts: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(parts));
  }

  /** The next bytes, which stay; undefined when the server has closed the connection before they were all there. */
  async peek(count: number): Promise<Buffer | undefined> {
    while (this.bytes.length < count) {
      if (this.isClosed) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.bytes.subarray(0, count);
  }

  /** The next bytes; undefined as for `peek`. */
  async take(count: number): Promise<Buffer | undefined> {
    const found = await this.peek(count);
    if (found !== undefined) this.bytes = this.bytes.subarray(count);
    return found;
  }

  end(): void {
    this.socket.destroy();
  }
}
