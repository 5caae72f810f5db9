/** A server that speaks as much of NATS as a client needs to connect and to ask; it answers what a test says, or nothing. */
import type { Socket, TCPSocketListener } from "bun";

/** In place of an answer: nobody listens. */
export const NO_RESPONDERS = "no responders";

interface Client {
  text: string;
  /** Number of the subscription that answers go to. */
  answers: string;
}

/** See the file header. */
export class FakeNats {
  connections = 0;
  /** Subjects of requests, as they came. */
  readonly heard: string[] = [];
  /** What a request is answered with; undefined: nothing comes. */
  answer: (subject: string) => string | undefined = () => undefined;
  private readonly sockets = new Set<Socket<Client>>();
  private readonly listener: TCPSocketListener<Client>;

  constructor() {
    this.listener = Bun.listen<Client>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          this.connections++;
          this.sockets.add(socket);
          socket.data = { text: "", answers: "" };
          const info = { server_id: "F", server_name: "fake", version: "2.15.0", proto: 1, headers: true, max_payload: 1_048_576 };
          socket.write(`INFO ${JSON.stringify(info)}\r\n`);
        },
        data: (socket, bytes) => this.take(socket, bytes.toString("latin1")),
      },
    });
  }

  get address(): string {
    return `nats://127.0.0.1:${this.listener.port}`;
  }

  /** Ends all connections; new ones are taken. */
  drop(): void {
    for (const socket of this.sockets) socket.terminate();
    this.sockets.clear();
  }

  stop(): void {
    this.listener.stop(true);
  }

  private take(socket: Socket<Client>, text: string): void {
    const { data } = socket;
    data.text += text;
    for (;;) {
      const end = data.text.indexOf("\r\n");
      if (end < 0) return;
      const words = data.text.slice(0, end).split(" ");
      const payload = words[0] === "PUB" || words[0] === "HPUB" ? Number(words.at(-1)) + 2 : 0;
      if (data.text.length < end + 2 + payload) return;
      data.text = data.text.slice(end + 2 + payload);
      if (words[0] === "PING") socket.write("PONG\r\n");
      if (words[0] === "SUB") data.answers = words.at(-1) ?? "";
      if (words[0] === "PUB" || words[0] === "HPUB") this.hear(socket, words[1] ?? "", words[2] ?? "");
    }
  }

  private hear(socket: Socket<Client>, subject: string, reply: string): void {
    this.heard.push(subject);
    const answer = this.answer(subject);
    const head = "NATS/1.0 503\r\n\r\n";
    if (answer === NO_RESPONDERS) socket.write(`HMSG ${reply} ${socket.data.answers} ${head.length} ${head.length}\r\n${head}\r\n`);
    else if (answer !== undefined) socket.write(`MSG ${reply} ${socket.data.answers} ${answer.length}\r\n${answer}\r\n`);
  }
}
