/** An exchange over a stream of HTTP/2. */
import { Code, ConnectError, type ContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { ErrorCode } from "../http2/frame.ts";
import type { HeaderField } from "../http2/hpack/header-decoder.ts";
import type { Http2Stream } from "../http2/stream.ts";
import type { AtOnce, Exchange, Fields } from "./exchange.ts";
import type { BodyFlow, IncomingMessages } from "./messages/incoming-messages.ts";

/** What a stream's end means, by its code (gRPC over HTTP2, "Errors"); the others are failures of the transport. */
const CODES: ReadonlyMap<number, Code> = new Map([
  [ErrorCode.RefusedStream, Code.Unavailable],
  [ErrorCode.Cancel, Code.Canceled],
  [ErrorCode.EnhanceYourCalm, Code.ResourceExhausted],
  [ErrorCode.InadequateSecurity, Code.PermissionDenied],
  [ErrorCode.Http11Required, Code.PermissionDenied],
]);

/** The last name of a server that can stand in a URL: clients go on to use the same one, and to look costs 2 us. */
let knownAuthority: string | undefined;

/** See the file header. */
export class Http2Exchange implements Exchange, AtOnce {
  readonly isHttp2 = true;
  readonly client: string;
  readonly headers: Headers;
  readonly path: string;
  private readonly stream: Http2Stream;
  private readonly isEncrypted: boolean;
  onLeft: (reason: ConnectError) => void = () => undefined;
  private left: ConnectError | undefined;
  private body: IncomingMessages | undefined;

  /** @param onClosed hears that it is over */
  constructor(stream: Http2Stream, client: string, isEncrypted: boolean, onClosed: () => void) {
    this.stream = stream;
    this.client = client;
    this.isEncrypted = isEncrypted;
    const { fields, path } = stream.request;
    this.headers = new Headers();
    for (const [name, value] of fields) this.headers.append(name, value);
    this.path = path.split("?", 1)[0] ?? "";
    stream.onClosed = (code) => {
      this.closed(code);
      onClosed();
    };
  }

  get method(): string {
    return this.stream.request.method;
  }

  get authority(): string | undefined {
    return this.stream.request.authority;
  }

  get atOnce(): AtOnce | undefined {
    const { path, authority } = this.stream.request;
    if (path !== this.path || authority === undefined) return undefined;
    if (authority !== knownAuthority) {
      if (!URL.canParse(`http://${authority}`)) return undefined;
      knownAuthority = authority;
    }
    return this;
  }

  get flow(): BodyFlow {
    return this.stream;
  }

  get isAnswered(): boolean {
    return this.stream.isAnswered;
  }

  request(body: IncomingMessages, contextValues: ContextValues): UniversalServerRequest {
    const { path, authority = "", method } = this.stream.request;
    const url = new URL(path, `${this.isEncrypted ? "https" : "http"}://${authority}`).toString();
    const leaving = new AbortController();
    this.onLeft = (reason) => leaving.abort(reason);
    if (this.left !== undefined) leaving.abort(this.left);
    return { httpVersion: "2.0", method, url, header: this.headers, body, signal: leaving.signal, contextValues };
  }

  receive(body: IncomingMessages): void {
    this.body = body;
    this.stream.receiver = body;
    if (this.stream.isClosed) body.release();
  }

  sendHead(headers: Readonly<Record<string, string>>): void {
    this.stream.respond(200, Object.entries(headers));
  }

  async send({ status, header, body, trailer }: UniversalServerResponse): Promise<void> {
    const { stream } = this;
    const pieces = body?.[Symbol.asyncIterator]();
    try {
      // The head waits for the first piece: until then the method may add to it.
      let next = await pieces?.next();
      if (!stream.isAnswered) stream.respond(status, fieldsOf(header));
      for (; next !== undefined && next.done !== true; next = await pieces?.next()) {
        stream.write(next.value);
        await stream.room();
        if (stream.isClosed) throw this.reason();
      }
      stream.end(fieldsOf(trailer));
    } catch (thrown) {
      await told(pieces, thrown);
      throw thrown;
    }
  }

  sendText(status: number, headers: Readonly<Record<string, string>>, text: string): void {
    this.stream.respond(status, Object.entries(headers), text === "");
    if (text === "") return;
    this.stream.write(Buffer.from(text));
    this.stream.end();
  }

  /** See `AtOnce`. */
  sendAll(head: Fields, frame: Uint8Array | undefined, trailers: Fields): void {
    const { stream } = this;
    stream.respond(200, head);
    if (frame !== undefined) stream.write(frame);
    stream.end(trailers);
  }

  private closed(code: number): void {
    if (code === ErrorCode.NoError) return this.body?.release();
    const reason = new ConnectError(`the stream was ended (HTTP/2 code ${code})`, CODES.get(code) ?? Code.Internal);
    this.left = reason;
    this.body?.fail(reason);
    this.onLeft(reason);
    this.body?.release();
  }

  private reason(): unknown {
    return this.left ?? new ConnectError("the stream has ended", Code.Aborted);
  }
}

/** Tells an answer that it is not taken: it ends, or has ended. */
async function told(pieces: AsyncIterator<Uint8Array> | undefined, why: unknown): Promise<void> {
  try {
    await pieces?.throw?.(why);
  } catch (thrown) {
    // It says so by throwing what it was told, as it is or as a status.
    if (thrown !== why && !(thrown instanceof ConnectError)) throw thrown;
  }
}

function fieldsOf(headers: Headers | undefined): readonly HeaderField[] {
  return headers === undefined ? [] : [...headers];
}
