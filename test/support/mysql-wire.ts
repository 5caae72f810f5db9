/** A client of MySQL's protocol by hand: packets as bytes, and what the server answers packet by packet. */
import { ClientBytes } from "./client-bytes.ts";

/** A packet of the server. */
export interface ServerPacket {
  readonly sequence: number;
  readonly body: Buffer;
}

/** Bytes of a packet: its length, its number, its fields. Texts end with a zero byte, numbers are single bytes. */
export function packet(sequence: number, ...fields: readonly (string | number | Uint8Array)[]): Buffer {
  const body = Buffer.concat(
    fields.map((field) =>
      typeof field === "string" ? Buffer.from(`${field}\0`) : typeof field === "number" ? Buffer.from([field]) : field,
    ),
  );
  return Buffer.concat([Buffer.from([body.length & 0xff, (body.length >> 8) & 0xff, body.length >> 16, sequence]), body]);
}

/** A number of 32 bits. */
export function long(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

/** PROTOCOL_41, SECURE_CONNECTION, CONNECT_WITH_DB, PLUGIN_AUTH, MULTI_STATEMENTS, DEPRECATE_EOF. */
const CAPABILITIES = 0x200 | 0x8000 | 0x8 | 0x80000 | 0x10000 | 0x1000000;

/** What a client answers to the greeting. */
export function answer(
  user = "someone",
  database = "public",
  plugin = "mysql_native_password",
  proof: Uint8Array = new Uint8Array(0),
): Buffer {
  return packet(1, long(CAPABILITIES), long(2 ** 24), 33, Buffer.alloc(23), user, proof.length, proof, database, plugin);
}

/** A command. */
export function command(code: number, ...fields: readonly (string | number | Uint8Array)[]): Buffer {
  return packet(0, code, ...fields);
}

/** COM_QUERY. */
export function query(text: string): Buffer {
  return command(3, Buffer.from(text));
}

/** The number of an error packet; 0 for another one. */
export function errorOf({ body }: ServerPacket): number {
  return body[0] === 0xff ? body.readUInt16LE(1) : 0;
}

/** A connection. */
export class MysqlWire {
  private readonly wire: ClientBytes;

  private constructor(wire: ClientBytes) {
    this.wire = wire;
  }

  /** Set when the server has closed it. */
  get closed(): Promise<void> {
    return this.wire.closed;
  }

  /** Connects, and says nothing. */
  static async connect(port: number): Promise<MysqlWire> {
    return new MysqlWire(await ClientBytes.connect(port));
  }

  /** Connects and signs in. */
  static async start(port: number): Promise<MysqlWire> {
    const client = await MysqlWire.connect(port);
    await client.next();
    client.send(answer());
    await client.next();
    return client;
  }

  send(...packets: readonly Uint8Array[]): void {
    this.wire.send(...packets);
  }

  /** The next packet; undefined when the server has closed the connection. */
  async next(): Promise<ServerPacket | undefined> {
    const head = await this.wire.peek(4);
    const whole = head && (await this.wire.take(head.readUIntLE(0, 3) + 4));
    return whole && { sequence: whole[3] ?? 0, body: whole.subarray(4) };
  }

  end(): void {
    this.wire.end();
  }
}
