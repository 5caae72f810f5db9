/**
 * A client of gRPC by hand, over the HTTP/2 of the runtime: it sends whatever bytes it is given as messages, true or not, and tells the
 * status that the call ended with.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { gzipSync, zstdCompressSync } from "node:zlib";

/** How messages are packed. */
export type Packing = "identity" | "gzip" | "zstd";

/** How a call ended. */
export interface RawAnswer {
  /** Of gRPC; -1: the stream or its connection ended without one. */
  readonly status: number;
  /** `x-greptime-err-code`; empty: there was none. */
  readonly code: string;
  readonly text: string;
  /** Messages of the answer, unpacked where they were packed. */
  readonly messages: readonly Uint8Array[];
}

/** What a call is made with. */
export interface RawCall {
  readonly headers?: Readonly<Record<string, string>>;
  readonly packing?: Packing;
  /** Milliseconds after which the client gives up. */
  readonly waitMs?: number;
}

/** Where a status is looked for. */
interface Trailers {
  readonly "grpc-status"?: string;
  readonly "grpc-message"?: string;
  readonly "x-greptime-err-code"?: string;
}

/** Numbers of gRPC's statuses. */
export const GRPC = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const HEAD_BYTES = 5;

/** A message as gRPC frames it. @param claimed length in its head; default: the true one */
export function framed(message: Uint8Array, packing: Packing = "identity", claimed?: number): Buffer {
  const body = packing === "gzip" ? gzipSync(message) : packing === "zstd" ? zstdCompressSync(message) : message;
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = packing === "identity" ? 0 : 1;
  head.writeUInt32BE(claimed ?? body.length, 1);
  return Buffer.concat([head, body]);
}

/** See the file header. One connection, which is made anew when it was lost. */
export class RawGrpc implements Disposable {
  private readonly url: string;
  private session: ClientHttp2Session | undefined;

  /** @param address `host:port` */
  constructor(address: string) {
    this.url = `http://${address}`;
  }

  /** A stream whose body is the caller's. */
  open(path: string, { headers = {}, packing = "identity" }: RawCall = {}): ClientHttp2Stream {
    const stream = this.connection().request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...(packing === "identity" ? {} : { "grpc-encoding": packing }),
      ...headers,
    });
    stream.on("error", () => undefined); // a status or none is what is looked at
    return stream;
  }

  /** Makes a call of these messages. */
  call(path: string, messages: readonly Uint8Array[], call: RawCall = {}): Promise<RawAnswer> {
    return this.send(
      path,
      messages.map((message) => framed(message, call.packing)),
      call,
    );
  }

  /** Makes a call whose body is these bytes. */
  async send(path: string, pieces: readonly Uint8Array[], call: RawCall = {}): Promise<RawAnswer> {
    const stream = this.open(path, call);
    const answer = answerOf(stream, call.waitMs);
    for (const piece of pieces) stream.write(piece);
    stream.end();
    return await answer;
  }

  [Symbol.dispose](): void {
    this.session?.destroy();
  }

  private connection(): ClientHttp2Session {
    const known = this.session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connect(this.url, { settings: { initialWindowSize: 2 ** 20 } });
    session.on("error", () => undefined);
    this.session = session;
    return session;
  }
}

/** What a stream is answered with; -1 once it is closed without a status, or nothing came in time. */
async function answerOf(stream: ClientHttp2Stream, waitMs = 30_000): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  let found: Trailers = {};
  const late = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), waitMs);
  await new Promise<void>((resolve) => {
    const look = (headers: Trailers): void => {
      if (headers["grpc-status"] !== undefined) found = headers;
    };
    stream.on("response", look);
    stream.on("trailers", look);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("close", () => resolve());
  });
  clearTimeout(late);
  const status = found["grpc-status"];
  return {
    status: status === undefined ? -1 : Number(status),
    code: found["x-greptime-err-code"] ?? "",
    text: decoded(found["grpc-message"] ?? ""),
    messages: messagesOf(Buffer.concat(chunks)),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

function messagesOf(bytes: Buffer): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const end = at + HEAD_BYTES + bytes.readUInt32BE(at + 1);
    messages.push(bytes.subarray(at + HEAD_BYTES, end));
    at = end;
  }
  return messages;
}
