/** An exchange over `node:http`: gRPC-web and Connect of clients that have no HTTP/2. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Code, ConnectError, type ContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Exchange } from "./exchange.ts";
import type { BodyFlow, IncomingMessages } from "./messages/incoming-messages.ts";
import { BODY_BYTES_AHEAD } from "./limits.ts";

/** See the file header. */
export class Http1Exchange implements Exchange {
  readonly isHttp2 = false;
  readonly atOnce = undefined;
  readonly client: string;
  readonly headers: Headers = new Headers();
  readonly path: string;
  readonly flow: PulledFlow = new PulledFlow();
  private readonly incoming: IncomingMessage;
  private readonly outgoing: ServerResponse;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, client: string) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.client = client;
    this.path = (incoming.url ?? "").split("?", 1)[0] ?? "";
    for (const [name, values] of Object.entries(incoming.headersDistinct))
      for (const value of values ?? []) this.headers.append(name, value);
  }

  get method(): string {
    return this.incoming.method ?? "";
  }

  get authority(): string | undefined {
    return this.incoming.headers.host;
  }

  get isAnswered(): boolean {
    return this.outgoing.headersSent;
  }

  request(body: IncomingMessages, values: ContextValues): UniversalServerRequest {
    const request = universalRequestFromNodeRequest(this.incoming, this.outgoing, undefined, values);
    return { ...request, header: this.headers, body };
  }

  receive(body: IncomingMessages): void {
    // An answer that nobody takes any more never ends, but its stream does.
    this.outgoing.once("close", () => {
      body.fail(new ConnectError("the client left", Code.Canceled));
      body.release();
    });
    void pump(this.incoming, body, this.flow); // never rejects
  }

  sendHead(): void {
    // Its clients send all of their messages first.
  }

  send(answer: UniversalServerResponse): Promise<void> {
    return universalResponseToNodeResponse(answer, this.outgoing);
  }

  sendText(status: number, headers: Readonly<Record<string, string>>, text: string): void {
    this.outgoing.writeHead(status, headers).end(text);
  }
}

/** What has come and is not wanted yet holds the client back. */
class PulledFlow implements BodyFlow {
  private ahead = 0;
  private resume: (() => void) | undefined;

  counted(): void {
    // There is one body on a connection.
  }

  wanted(bytes: number): void {
    this.ahead -= bytes;
    if (this.ahead <= BODY_BYTES_AHEAD) this.resume?.();
  }

  /** Bytes have come. Resolves when more may. */
  async came(bytes: number): Promise<void> {
    this.ahead += bytes;
    if (this.ahead > BODY_BYTES_AHEAD) await new Promise<void>((resolve) => (this.resume = resolve));
  }
}

async function pump(source: AsyncIterable<Uint8Array>, body: IncomingMessages, flow: PulledFlow): Promise<void> {
  try {
    for await (const bytes of source) {
      const more = flow.came(bytes.length);
      body.data(bytes);
      await more;
    }
    body.end();
  } catch (cause) {
    body.fail(new ConnectError("the body was cut off", Code.Aborted, undefined, undefined, cause));
  }
}
