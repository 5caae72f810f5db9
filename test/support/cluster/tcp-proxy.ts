/** Stands between a client and a server, and lets nothing through when a test says so: cut, as by a switch that is off, or silent. */
import type { Socket, TCPSocketListener } from "bun";

interface Side {
  other: Socket<Side> | undefined;
  /** Bytes that the other side has no room for, or that came too early. */
  waiting: Buffer[];
}

/** "cut": connections end, new ones too. "silent": they stay, and nothing comes through, now or later. */
export type ProxyState = "open" | "cut" | "silent";

/** See the file header. */
export class TcpProxy {
  /** Connections that were made to it. */
  connections = 0;
  private state: ProxyState = "open";
  private readonly listener: TCPSocketListener<Side>;
  private readonly sockets = new Set<Socket<Side>>();

  /** @param port of the server, on this machine */
  constructor(port: number) {
    const handlers = {
      data: (socket: Socket<Side>, bytes: Buffer) => this.pass(socket, bytes),
      drain: (socket: Socket<Side>) => flush(socket),
      close: (socket: Socket<Side>) => {
        this.sockets.delete(socket);
        socket.data.other?.end();
      },
    };
    this.listener = Bun.listen<Side>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        ...handlers,
        open: (socket) => {
          this.connections++;
          socket.data = { other: undefined, waiting: [] };
          if (this.state === "cut") return void socket.end();
          this.sockets.add(socket);
          const side: Side = { other: socket, waiting: [] };
          void Bun.connect<Side>({ hostname: "127.0.0.1", port, data: side, socket: handlers }).then(
            (server) => {
              this.sockets.add(server);
              server.data.waiting.push(...socket.data.waiting.splice(0));
              socket.data.other = server;
              flush(server);
            },
            () => socket.end(),
          );
        },
      },
    });
  }

  /** Where it listens, on 127.0.0.1. */
  get port(): number {
    return this.listener.port;
  }

  get address(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  become(state: ProxyState): void {
    const before = this.state;
    this.state = state;
    // What was lost in silence would be missing in the middle of a connection.
    if (state === "cut" || before === "silent") for (const socket of this.sockets) socket.terminate();
  }

  stop(): void {
    this.listener.stop(true);
    for (const socket of this.sockets) socket.terminate();
  }

  private pass(socket: Socket<Side>, bytes: Buffer): void {
    if (this.state !== "open") return;
    const { other } = socket.data;
    if (other === undefined) return void socket.data.waiting.push(Buffer.from(bytes));
    other.data.waiting.push(Buffer.from(bytes));
    flush(other);
  }
}

function flush(socket: Socket<Side>): void {
  const { waiting } = socket.data;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const sent = socket.write(next);
    if (sent === next.length) continue;
    waiting.unshift(next.subarray(Math.max(0, sent)));
    return;
  }
}
