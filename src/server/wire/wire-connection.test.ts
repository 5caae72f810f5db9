import { expect, test } from "bun:test";
import { ampleWireMemory } from "../../../test/support/wire-memory.ts";
import { systemClock } from "../../base/clock.ts";
import type { Framing } from "./incoming.ts";
import { UNTAKEN_BYTES_MAX } from "./limits.ts";
import { WireConnection, type WireProtocol } from "./wire-connection.ts";
import type { SocketEvents, WireSocket } from "./wire-socket.ts";

/** One byte a message. */
const framing: Framing = { headerBytes: 1, lengthOf: () => 1 };

/** A client that takes what it is sent when it is told to. */
class Client {
  /** What of its messages the server has worked on. */
  readonly seen: number[] = [];
  private events: SocketEvents | undefined;
  private untaken: (() => void)[] = [];

  constructor() {
    const socket: Partial<WireSocket> = {
      listen: (events) => {
        this.events = events;
      },
      write: (_, done) => {
        this.untaken.push(done);
      },
    };
    const open = (connection: WireConnection): WireProtocol => ({
      framing,
      isSignedIn: true,
      opened: () => undefined,
      message: ([length = 0]) => {
        this.seen.push(length);
        connection.outgoing.raw(new Uint8Array(length === 1 ? UNTAKEN_BYTES_MAX - 10 : length));
        return undefined;
      },
      lastWords: () => undefined,
      closed: () => undefined,
    });
    const events = { closed: () => undefined, failed: () => undefined };
    const turns = { take: () => undefined, done: () => undefined }; // Nobody else asks.
    // A connection uses no more of a socket than this.
    new WireConnection(socket as WireSocket, ampleWireMemory().connection(), { clock: systemClock, turns, events }, open);
  }

  async send(...messages: number[]): Promise<void> {
    this.events?.data(Uint8Array.from(messages));
    await Bun.sleep(0);
  }

  async takeAll(): Promise<void> {
    for (const done of this.untaken.splice(0)) done();
    await Bun.sleep(0);
  }
}

test("a message that comes while the client has to take its answers is not left lying", async () => {
  const client = new Client();
  await client.send(1, 20);
  await client.send(2);
  expect(client.seen).toEqual([1, 20]); // It takes nothing, so nothing more is made for it.
  await client.takeAll();
  expect(client.seen).toEqual([1, 20, 2]);
});
