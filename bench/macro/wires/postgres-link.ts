/** PostgreSQL's protocol 3 as a client that counts rows: simple and extended queries, COPY FROM STDIN. */
import { type Answers, type ColumnKind, LinkSocket, type PreparedLink, type WireLink, type WireValue } from "./wire-link.ts";
import { timeText } from "./wire-rows.ts";

const DATA_ROW = 0x44; // 'D'
const ERROR = 0x45; // 'E'
const READY = 0x5a; // 'Z'

/** Rows of COPY a message. */
const COPY_BYTES = 64 * 1024;

/** A message: its letter (none for the first of a connection), its length, its fields. Texts end with a zero byte. */
function message(letter: string, ...fields: readonly (string | Uint8Array)[]): Buffer {
  const body = Buffer.concat(fields.map((field) => (typeof field === "string" ? Buffer.from(`${field}\0`) : field)));
  const head = Buffer.alloc(letter.length + 4);
  head.write(letter, "latin1");
  head.writeInt32BE(body.length + 4, letter.length);
  return Buffer.concat([head, body]);
}

function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function i16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, i * 2);
  return bytes;
}

class PostgresAnswers implements Answers {
  rows = 0;
  private failure: string | undefined;
  /** Bytes of a row's message that are still to come. */
  private skip = 0;
  private readonly socket: LinkSocket;

  constructor(socket: LinkSocket) {
    this.socket = socket;
  }

  take(bytes: Buffer): number {
    let at = Math.min(this.skip, bytes.length);
    this.skip -= at;
    while (at + 5 <= bytes.length) {
      const letter = bytes[at];
      const end = at + 1 + bytes.readUInt32BE(at + 1);
      if (letter === DATA_ROW) {
        this.rows += 1;
        this.skip = Math.max(0, end - bytes.length);
        at = Math.min(end, bytes.length);
        continue;
      }
      if (end > bytes.length) break;
      if (letter === ERROR) this.failure = bytes.toString("utf8", at + 5, end).replaceAll("\0", " ");
      if (letter === READY) this.ready();
      at = end;
    }
    return at;
  }

  private ready(): void {
    const { rows, failure } = this;
    this.rows = 0;
    this.failure = undefined;
    this.socket.done(rows, failure);
  }
}

const SYNC = message("S");

/** @param isBinary whether results of prepared statements come in binary */
export async function connectPostgres(port: number, user: string, database: string, isBinary: boolean): Promise<WireLink> {
  const socket = await LinkSocket.connect(port, (link) => new PostgresAnswers(link));
  await socket.request(message("", i32(0x0003_0000), "user", user, "database", database, Buffer.alloc(1)));
  const formats = isBinary ? i16(1, 1) : i16(0);
  const execute = Buffer.concat([message("E", "", i32(0)), SYNC]);
  let prepared = 0;
  return {
    query: async (text) => await socket.request(message("Q", text)),
    prepare: async (text) => {
      const name = `s${++prepared}`;
      await socket.request(message("P", name, text, i16(0)), SYNC);
      return preparedLink(name, formats, execute);
    },
    execute: async (bytes) => await socket.request(bytes),
    load: async (statement, rows) => await socket.request(message("Q", statement), ...copyMessages(rows), message("c")),
    end: () => socket.end(),
  };
}

function preparedLink(name: string, formats: Buffer, execute: Buffer): PreparedLink {
  return {
    bytes: (values, kinds) => {
      const fields = values.flatMap((value, i) => {
        const text = Buffer.from(valueText(value, kinds[i % kinds.length] ?? "text"));
        return [i32(text.length), text];
      });
      return Buffer.concat([message("B", "", name, i16(0, values.length), ...fields, formats), execute]);
    },
  };
}

/** A value as drivers send it. */
function valueText(value: WireValue, kind: ColumnKind): string {
  return kind === "time" ? timeText(Number(value)) : String(value);
}

function copyMessages(rows: readonly Uint8Array[]): readonly Uint8Array[] {
  return rows.flatMap((bytes) => {
    const count = Math.ceil(bytes.length / COPY_BYTES);
    return Array.from({ length: count }, (_, i) => message("d", bytes.subarray(i * COPY_BYTES, (i + 1) * COPY_BYTES)));
  });
}
