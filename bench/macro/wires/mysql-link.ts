/** MySQL's protocol 4.1 as a client that counts rows: COM_QUERY and prepared statements, LOAD DATA LOCAL. */
import { type Answers, type ColumnKind, LinkSocket, type PreparedLink, type WireLink, type WireValue } from "./wire-link.ts";

const OK = 0x00;
const LOCAL_FILE = 0xfb;
const END = 0xfe;
const ERROR = 0xff;

/** LONG_FLAG, CONNECT_WITH_DB, LOCAL_FILES, PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, DEPRECATE_EOF. */
const CAPABILITIES = 0x4 | 0x8 | 0x80 | 0x200 | 0x8000 | 0x8_0000 | 0x100_0000;
const UTF8MB4 = 45;
const PACKET_BYTES_MAX = 0xff_ffff;
/** Rows of LOAD DATA a packet. */
const LOAD_BYTES = 256 * 1024;

const COM_QUERY = 0x03;
const COM_STMT_PREPARE = 0x16;
const COM_STMT_EXECUTE = 0x17;

/** Types of parameters by what a column holds: VAR_STRING, DATETIME, DOUBLE, LONGLONG, LONG. */
const TYPES: Readonly<Record<ColumnKind, number>> = { text: 0xfd, time: 0x0c, double: 0x05, long: 0x08, int: 0x03 };

/** What the next packet is. */
type Expected = "greeting" | "signed-in" | "first" | "definition" | "row" | "prepared";

function packet(sequence: number, ...fields: readonly (string | number | Uint8Array)[]): Buffer {
  const body = Buffer.concat(
    fields.map((field) =>
      typeof field === "string" ? Buffer.from(`${field}\0`) : typeof field === "number" ? Buffer.from([field]) : field,
    ),
  );
  if (body.length >= PACKET_BYTES_MAX) throw new Error(`cannot send ${body.length} bytes in one packet`);
  return Buffer.concat([Buffer.from([body.length & 0xff, (body.length >> 8) & 0xff, body.length >> 16, sequence]), body]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

class MysqlAnswers implements Answers {
  rows = 0;
  /** Of the statement that was prepared last. */
  statement = 0;
  expected: Expected = "greeting";
  /** What a server that asks for a file gets. */
  file: readonly Uint8Array[] = [];
  /** Definitions that are still to come, and what follows them. */
  private definitions = 0;
  private behind: "row" | "done" = "row";
  private skip = 0;
  private readonly socket: LinkSocket;
  private readonly user: string;
  private readonly database: string;

  constructor(socket: LinkSocket, user: string, database: string) {
    this.socket = socket;
    this.user = user;
    this.database = database;
  }

  take(bytes: Buffer): number {
    let at = Math.min(this.skip, bytes.length);
    this.skip -= at;
    while (at + 5 <= bytes.length) {
      const length = bytes.readUIntLE(at, 3);
      const end = at + 4 + length;
      const first = bytes[at + 4] ?? 0;
      if (this.expected === "row" && first < END) {
        this.rows += 1;
        this.skip = Math.max(0, end - bytes.length);
        at = Math.min(end, bytes.length);
        continue;
      }
      if (end > bytes.length) break;
      this.packet(bytes.subarray(at + 4, end), bytes[at + 3] ?? 0);
      at = end;
    }
    return at;
  }

  private packet(body: Buffer, sequence: number): void {
    const first = body[0] ?? 0;
    if (first === ERROR) return this.done(body.toString("utf8", 3));
    switch (this.expected) {
      case "greeting": {
        const [user, database, plugin] = [this.user, this.database, "mysql_native_password"];
        const answer = packet(sequence + 1, u32(CAPABILITIES), u32(2 ** 24), UTF8MB4, Buffer.alloc(23), user, 0, database, plugin);
        this.expected = "signed-in";
        return this.socket.send(answer);
      }
      case "signed-in":
        if (first === END) return this.socket.send(packet(sequence + 1)); // Another way to sign in, with no password either.
        return this.done(first === OK ? undefined : `cannot sign in: the server wants more (${first})`);
      case "first":
        if (first === OK) return this.done();
        if (first === LOCAL_FILE) return this.sendFile(sequence + 1);
        return this.define(first, "row");
      case "prepared":
        this.statement = body.readUInt32LE(1);
        return this.define(body.readUInt16LE(5) + body.readUInt16LE(7), "done");
      case "definition":
        return this.define(this.definitions - 1, this.behind);
      case "row":
        return this.done();
    }
  }

  private define(definitions: number, behind: "row" | "done"): void {
    this.definitions = definitions;
    this.behind = behind;
    if (definitions > 0) this.expected = "definition";
    else if (behind === "row") this.expected = "row";
    else this.done();
  }

  private sendFile(sequence: number): void {
    let next = sequence;
    for (const bytes of this.file) {
      for (let at = 0; at < bytes.length; at += LOAD_BYTES) this.socket.send(packet(next++ & 0xff, bytes.subarray(at, at + LOAD_BYTES)));
    }
    this.socket.send(packet(next & 0xff));
  }

  private done(failure?: string): void {
    const { rows } = this;
    this.rows = 0;
    this.socket.done(rows, failure);
  }
}

/** Signs in without a password. */
export async function connectMysql(port: number, user: string, database: string): Promise<WireLink> {
  const box: { answers?: MysqlAnswers } = {};
  const signedIn = Promise.withResolvers<number>();
  const socket = await LinkSocket.connect(port, (link) => {
    box.answers = new MysqlAnswers(link, user, database);
    void link.request().then(signedIn.resolve, signedIn.reject); // Before the greeting comes.
    return box.answers;
  });
  await signedIn.promise;
  const answers = box.answers;
  if (answers === undefined) throw new Error("a socket was made without what reads its answers");
  const ask = async (expected: Expected, bytes: Uint8Array): Promise<number> => {
    answers.expected = expected;
    return await socket.request(bytes);
  };
  return {
    query: async (text) => await ask("first", packet(0, COM_QUERY, Buffer.from(text))),
    prepare: async (text) => {
      await ask("prepared", packet(0, COM_STMT_PREPARE, Buffer.from(text)));
      return preparedLink(answers.statement);
    },
    execute: async (bytes) => await ask("first", bytes),
    load: async (statement, rows) => {
      answers.file = rows;
      return await ask("first", packet(0, COM_QUERY, Buffer.from(statement)));
    },
    end: () => socket.end(),
  };
}

function preparedLink(statement: number): PreparedLink {
  return {
    bytes: (values, kinds) => {
      const kindOf = (i: number): ColumnKind => kinds[i % kinds.length] ?? "text";
      const types = Buffer.from(values.flatMap((_, i) => [TYPES[kindOf(i)], 0]));
      const cells = values.map((value, i) => valueBytes(value, kindOf(i)));
      const nulls = Buffer.alloc((values.length + 7) >> 3);
      return packet(0, COM_STMT_EXECUTE, u32(statement), 0, u32(1), ...(values.length === 0 ? [] : [nulls, 1, types, ...cells]));
    },
  };
}

function valueBytes(value: WireValue, kind: ColumnKind): Uint8Array {
  switch (kind) {
    case "text": {
      const text = Buffer.from(String(value));
      if (text.length > 250) throw new Error("cannot send a text of more than 250 bytes");
      return Buffer.concat([Buffer.from([text.length]), text]);
    }
    case "time": {
      const time = new Date(Number(value));
      const bytes = Buffer.alloc(12);
      bytes[0] = 11;
      bytes.writeUInt16LE(time.getUTCFullYear(), 1);
      bytes.set([time.getUTCMonth() + 1, time.getUTCDate(), time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()], 3);
      bytes.writeUInt32LE(time.getUTCMilliseconds() * 1000, 8);
      return bytes;
    }
    case "double": {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(Number(value));
      return bytes;
    }
    case "long": {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(value));
      return bytes;
    }
    case "int":
      return u32(Number(value));
  }
}
