/** A datagram socket of the Unix kind, as a service manager has one. Python's, since the runtime has none. */
const LISTENER = `
import json, socket, sys
path = sys.argv[1]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\\0" + path[1:] if path[0] == "@" else path)
print('"bound"', flush=True)
while True:
    print(json.dumps(s.recv(65536).decode()), flush=True)
`;

/** See the file header. */
export class DatagramSocket implements Disposable {
  /** What came, in order. */
  readonly messages: string[] = [];
  private readonly listener: Bun.Subprocess<"ignore", "pipe", "inherit">;
  private readonly waiting: Set<() => void> = new Set();

  private constructor(path: string) {
    this.listener = Bun.spawn(["python3", "-c", LISTENER, path], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  }

  /** @param path or a name that begins with `@` */
  static async bind(path: string): Promise<DatagramSocket> {
    const socket = new DatagramSocket(path);
    void socket.read(); // Ends with its process.
    await socket.has((message) => message === "bound");
    socket.messages.length = 0;
    return socket;
  }

  /** Waits for a message. */
  async has(isIt: (message: string) => boolean): Promise<void> {
    while (!this.messages.some(isIt)) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  [Symbol.dispose](): void {
    this.listener.kill();
  }

  private async read(): Promise<void> {
    let text = "";
    for await (const chunk of this.listener.stdout) {
      text += Buffer.from(chunk).toString();
      for (let feed = text.indexOf("\n"); feed >= 0; feed = text.indexOf("\n")) {
        this.messages.push(String(JSON.parse(text.slice(0, feed))));
        text = text.slice(feed + 1);
      }
      const waiting = [...this.waiting];
      this.waiting.clear();
      for (const wake of waiting) wake();
    }
  }
}
