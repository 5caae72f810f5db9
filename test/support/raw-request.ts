/** HTTP requests written byte by byte over a socket, for what no client library sends: halves, wrong lengths, no end. */
import net from "node:net";

/** How long an answer may take. */
const ANSWER_MS_MAX = 15_000;

/** A request whose head was sent. */
export interface RawRequest {
  /** Sends more of the body as it is. */
  write(bytes: string | Uint8Array): void;
  /** Cuts the connection. */
  close(): void;
  /** Head and body of the answer: waits until the server has sent a whole one or has closed. @throws Error after 15 s without either */
  answer(): Promise<string>;
  /** Waits for the first bytes of an answer. @throws Error after 15 s without any */
  begun(): Promise<string>;
  /** Resolves with what came back once the connection is closed by the server. @throws Error after 15 s */
  closed(): Promise<string>;
}

/** Opens a connection and sends a head: `line` is method and path. */
export async function openRequest(base: string, line: string, headers: Readonly<Record<string, string>> = {}): Promise<RawRequest> {
  const { hostname, port, host } = new URL(base);
  let received = "";
  let isClosed = false;
  let wake = (): void => undefined;
  const socket = net.connect(Number(port), hostname);
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    wake();
  });
  socket.on("error", (error) => {
    received += `<${error.message}>`;
  });
  socket.on("close", () => {
    isClosed = true;
    wake();
  });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${line} HTTP/1.1\r\n${lines.join("")}\r\n`);

  async function until(isDone: () => boolean, what: string): Promise<string> {
    const deadline = performance.now() + ANSWER_MS_MAX;
    while (!isDone()) {
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`no ${what} after ${ANSWER_MS_MAX} ms; got ${JSON.stringify(received)}`);
      const turn = Promise.withResolvers<void>();
      const timer = setTimeout(turn.resolve, left);
      wake = turn.resolve;
      await turn.promise;
      clearTimeout(timer);
    }
    return received;
  }

  return {
    write: (bytes) => void socket.write(bytes), // the socket keeps what it cannot send yet
    close: () => void socket.destroy(),
    answer: () => until(() => isClosed || isWhole(received), "answer"),
    begun: () => until(() => isClosed || received !== "", "beginning of an answer"),
    closed: () => until(() => isClosed, "end of the connection"),
  };
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = /^content-length: *(\d+)/im.exec(answer.slice(0, end))?.[1];
  return answer.length - end - 4 >= Number(length ?? 0);
}
