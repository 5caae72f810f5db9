/** A client of PostgreSQL's protocol by hand: messages as bytes, and what the server answers as letters and fields. */
import { ClientBytes } from "./client-bytes.ts";

/** A message of the server. */
export interface ServerMessage {
  readonly letter: string;
  readonly body: Buffer;
}

/** Bytes of a message: its letter, its length, its fields. Texts end with a zero byte, numbers are 32 bits. */
export function message(letter: string, ...fields: readonly (string | number | Uint8Array)[]): Buffer {
  const body = Buffer.concat(fields.map((field) => fieldBytes(field)));
  const head = Buffer.alloc(5);
  head.write(letter, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head.subarray(letter === "" ? 1 : 0), body]);
}

function fieldBytes(field: string | number | Uint8Array): Uint8Array {
  if (typeof field === "string") return Buffer.from(`${field}\0`);
  if (typeof field !== "number") return field;
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(field | 0);
  return bytes;
}

/** A number of 16 bits. */
export function short(value: number): Uint8Array {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

/** The first message: version and parameters. */
export function startup(parameters: Readonly<Record<string, string>> = { user: "someone" }, version = 0x0003_0000): Buffer {
  const fields: readonly (string | Uint8Array)[] = [...Object.entries(parameters).flat(), Buffer.alloc(1)];
  return message("", version, ...fields);
}

/** The fields of an error or a notice, by letter. */
export function fieldsOf({ body }: ServerMessage): Readonly<Record<string, string>> {
  const parts = body.toString().split("\0");
  return Object.fromEntries(parts.filter((part) => part !== "").map((part) => [part.slice(0, 1), part.slice(1)]));
}

/** A connection. */
export class WireClient {
  private readonly wire: ClientBytes;

  private constructor(wire: ClientBytes) {
    this.wire = wire;
  }

  /** Set when the server has closed it. */
  get closed(): Promise<void> {
    return this.wire.closed;
  }

  /** Connects, and says nothing. */
  static async connect(port: number): Promise<WireClient> {
    return new WireClient(await ClientBytes.connect(port));
  }

  /** Connects and starts, up to ReadyForQuery. */
  static async start(port: number, parameters?: Readonly<Record<string, string>>): Promise<WireClient> {
    const client = await WireClient.connect(port);
    client.send(startup(parameters));
    await client.until("Z");
    return client;
  }

  send(...messages: readonly Uint8Array[]): void {
    this.wire.send(...messages);
  }

  /** The next single byte, as it answers requests for encryption; empty when the server has closed the connection. */
  async byte(): Promise<string> {
    return (await this.wire.take(1))?.toString("latin1") ?? "";
  }

  /** The next message; undefined when the server has closed the connection. */
  async next(): Promise<ServerMessage | undefined> {
    const head = await this.wire.peek(5);
    const whole = head && (await this.wire.take(head.readInt32BE(1) + 1));
    return whole && { letter: whole.toString("latin1", 0, 1), body: whole.subarray(5) };
  }

  /** Messages up to one of this letter, it among them; up to the end where there is none. */
  async until(letter: string): Promise<readonly ServerMessage[]> {
    const messages: ServerMessage[] = [];
    for (let found = await this.next(); found !== undefined; found = await this.next()) {
      messages.push(found);
      if (found.letter === letter) break;
    }
    return messages;
  }

  /** Letters up to one. */
  async letters(letter = "Z"): Promise<string> {
    return (await this.until(letter)).map((each) => each.letter).join("");
  }

  end(): void {
    this.wire.end();
  }
}
