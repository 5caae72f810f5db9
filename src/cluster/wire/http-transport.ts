/**
 * Requests to nodes over HTTP/1.1. By `node:http`, since `fetch` has at most 256 requests under way in a process: further ones wait, and
 * a query over 64 shards has 64 (Bun 1.4.5; 840 MiB/s with pauses where the reader is slow, `fetch` 1,040).
 */
import http from "node:http";
import https from "node:https";
import { errorText } from "../../base/error.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { REFUSAL_BYTES_MAX, SILENCE_MILLIS } from "./limits.ts";
import { type NodeRequest, type NodeTransport, NotAnswered } from "./node-transport.ts";

/** Connections at rest that are kept to a node. */
const RESTING_MAX = 16;

/** How frontends prove who they are, and who nodes have to be. */
export interface NodeCredentials {
  /** Shared by all nodes and frontends. Absent: none. */
  readonly secret?: string | undefined;
  /** PEM. Absent: nodes are asked without TLS. */
  readonly tls?: { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined } | undefined;
}

/** See the file header. */
export class HttpTransport implements NodeTransport {
  private credentials: NodeCredentials;
  private readonly agent: http.Agent;
  private readonly silenceMillis: number;

  constructor(credentials: NodeCredentials, silenceMillis: number = SILENCE_MILLIS) {
    this.credentials = credentials;
    this.silenceMillis = silenceMillis;
    const options = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: RESTING_MAX };
    this.agent = credentials.tls === undefined ? new http.Agent(options) : new https.Agent(options);
  }

  /** Has connections made from now on prove who they are by others. Whether there is TLS stays as it is. */
  renew(credentials: NodeCredentials): void {
    this.credentials = credentials;
  }

  /** Lets go of connections at rest. */
  close(): void {
    this.agent.destroy();
  }

  async *ask(asked: NodeRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    throwIfCancelled(signal);
    const silence = new Silence(this.silenceMillis);
    let request: http.ClientRequest | undefined;
    let answer: http.IncomingMessage | undefined;
    const end = (): void => void request?.destroy();
    signal.addEventListener("abort", end, { once: true });
    silence.onOver = end;
    try {
      request = this.request(asked);
      try {
        answer = await answerTo(request, asked.body);
      } catch (error) {
        // The connection had rested, and was closed there meanwhile: whoever lets connections be reused may ask twice.
        if (!request.reusedSocket || signal.aborted || silence.isOver) throw error;
        request = this.request({ ...asked, mayReuse: false });
        answer = await answerTo(request, asked.body);
      }
      silence.heard();
      if (answer.statusCode !== 200) throw new NotAnswered(`node ${asked.address} refuses: ${await refusalOf(answer)}`, false);
      for await (const piece of answer as AsyncIterable<Uint8Array>) {
        silence.rest(); // The time until the next piece is asked for is the reader's.
        yield piece;
        silence.heard();
      }
      if (!answer.complete) throw new Error("the connection ended within the answer");
    } catch (error) {
      if (error instanceof NotAnswered) throw error;
      throwIfCancelled(signal);
      const why = silence.isOver ? `it said nothing for ${this.silenceMillis / 1000} s` : errorText(error);
      throw new NotAnswered(`cannot ask node ${asked.address}: ${why}`, !isRefused(error), error);
    } finally {
      silence.rest();
      signal.removeEventListener("abort", end);
      if (answer?.complete !== true) request?.destroy();
    }
  }

  private request({ address, path, body, mayReuse }: NodeRequest): http.ClientRequest {
    const { secret, tls } = this.credentials;
    const { hostname, port } = new URL(`http://${address}`);
    const options: https.RequestOptions = {
      // Without the brackets of an IPv6 address.
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? 80 : Number(port),
      path,
      method: "POST",
      agent: mayReuse ? this.agent : false,
      headers: {
        "content-type": "application/octet-stream",
        "content-length": body.length,
        ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      },
    };
    if (tls === undefined) return http.request(options);
    const { ca, cert, key } = tls;
    return https.request({
      ...options,
      ca,
      rejectUnauthorized: true,
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  }
}

/** Fires when nothing was heard for long. */
class Silence {
  isOver = false;
  onOver: () => void = () => undefined;
  private readonly millis: number;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(millis: number) {
    this.millis = millis;
    this.heard();
  }

  heard(): void {
    this.rest();
    this.timer = setTimeout(() => {
      this.isOver = true;
      this.onOver();
    }, this.millis);
  }

  rest(): void {
    clearTimeout(this.timer);
  }
}

function answerTo(request: http.ClientRequest, body: Uint8Array): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    // For good: an error behind the answer's head comes here, too, and is the answer's as well.
    request.on("error", reject);
    request.once("close", () => reject(new Error("the connection ended before the answer")));
    request.end(body);
  });
}

/** Whether nobody listened: nothing was sent. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNREFUSED" || error.code === "ENOTFOUND");
}

/** What the node says of a request that it does not take. */
async function refusalOf(answer: http.IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    length += piece.length;
    if (length >= REFUSAL_BYTES_MAX) break;
  }
  return `${answer.statusCode} ${Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString()}`.trim();
}
