/** The socket of a load generator's connection: what its two versions of HTTP have in common. */
import type { Socket } from "bun";

/** Why something failed; undefined: it did not. */
export type Failure = string | undefined;

/** Who speaks over a socket. */
export interface Speaker {
  /** Bytes have come, borrowed until it returns. */
  take(bytes: Buffer): void;
  /** The socket takes more. */
  pump(): void;
  /** Nothing comes any more. */
  fail(why: string): void;
}

/** Connects to a server on this machine. @throws Error when nobody listens */
export async function connectSocket(port: number, speaker: Speaker): Promise<Socket> {
  return await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, bytes) => speaker.take(bytes),
      drain: () => speaker.pump(),
      error: (_, error) => speaker.fail(error.message),
      close: () => speaker.fail("the server closed the connection"),
    },
  });
}
