/**
 * Passes a request on to the thread that owns the tables, over a socket in the file system, and its answer back. Bodies stream both ways,
 * only as fast as they are taken; a client that leaves is gone at the other end too.
 *
 * Measured: 0.12 ms a request (0.09 ms without the hop, 0.21 ms with it).
 */
import { errorText } from "../../base/error.ts";
import { assert } from "../../base/assert.ts";
import { readBody } from "./body.ts";
import { type BodyShare, InFlightBytes } from "./in-flight.ts";
import { CONNECTION_IDLE_SECONDS, FORWARD_WHOLE_BYTES_MAX, FORWARD_WAIT_MS, IN_FLIGHT_WAITERS_MAX, STREAM_IDLE_SECONDS } from "./limits.ts";
import { splitUrl } from "./exchange.ts";
import type { Forward, Listener } from "./service.ts";

/** Address of the client, told by the thread that it is connected to. */
export const PEER_HEADER = "x-varve-peer";

/** Headers that speak of one connection (RFC 9110 7.6.1), and those that the runtime writes itself. */
const HOP_HEADERS: readonly string[] = ["connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "date"];

/** Passes requests on to the socket at `path`, at most `most` at a time. */
export function forwardTo(path: string, most: number): Forward {
  const permits = new InFlightBytes({ bytesMax: most, waitMs: FORWARD_WAIT_MS, waitersMax: IN_FLIGHT_WAITERS_MAX });
  return async (request, listener) => {
    const permit = await permits.acquire(1, request.signal);
    if (permit === undefined) return refusal("too many requests wait for an answer");
    try {
      return await passOn(path, request, listener, () => permit.release());
    } catch (error) {
      permit.release();
      if (request.signal.aborted) return new Response(null, { status: 499 }); // Nobody reads this: the client is gone.
      return refusal(errorText(error));
    }
  };
}

/** `end` is called once the answer is through, unless this throws. */
async function passOn(path: string, request: Request, listener: Listener, end: () => void): Promise<Response> {
  const body = await bodyOf(request, listener);
  if (body instanceof Response) {
    end();
    return body;
  }
  // From here on the server works and the client waits, for as long as it takes; the body has a deadline at the other end.
  listener.timeout(request, 0);
  const [pathname, rawQuery] = splitUrl(request.url);
  const init: BunFetchRequestInit = {
    method: request.method,
    headers: headersOf(request, listener),
    signal: request.signal,
    redirect: "manual",
    decompress: false,
    unix: path,
    timeout: false,
    ...(body === undefined ? {} : { body }),
  };
  const answer = await fetch(`http://varve${pathname}${rawQuery === "" ? "" : `?${rawQuery}`}`, init);
  return answered(request, answer, listener, end);
}

/** The body to send on: read whole when it is short, so that the other end knows its length; else as it comes. */
async function bodyOf(request: Request, listener: Listener): Promise<Uint8Array<ArrayBuffer> | ReadableStream | undefined | Response> {
  if (request.body === null) return undefined;
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  if (!(length <= FORWARD_WHOLE_BYTES_MAX)) return request.body;
  const { signal } = request;
  const exchange = {
    request,
    signal,
    share: await shareOf(length),
    setIdleTimeout: (seconds: number) => listener.timeout(request, seconds),
  };
  const body = await readBody(exchange, { bytesMax: FORWARD_WHOLE_BYTES_MAX, decode: false });
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>; // The runtime's bodies lie on nothing else.
  return new Response(body.body ?? null, { status: body.status, headers: { ...body.headers } });
}

/** Bodies that are passed on are few and short: the thread that they go to counts them. */
const UNCOUNTED = new InFlightBytes({ bytesMax: 0, waitMs: 0, waitersMax: 0 });

async function shareOf(length: number): Promise<BodyShare> {
  const share = await UNCOUNTED.acquire(length);
  assert(share !== undefined, "without a limit there is room");
  return share;
}

function headersOf(request: Request, listener: Listener): Headers {
  const headers = new Headers(request.headers);
  for (const name of HOP_HEADERS) headers.delete(name);
  headers.delete("content-length");
  headers.set(PEER_HEADER, listener.requestIP(request)?.address ?? "gone");
  return headers;
}

async function answered(request: Request, answer: Response, listener: Listener, end: () => void): Promise<Response> {
  const headers = new Headers(answer.headers);
  for (const name of HOP_HEADERS) headers.delete(name);
  const { status } = answer;
  const length = Number(headers.get("content-length") ?? Number.NaN);
  if (answer.body === null || request.method === "HEAD" || length <= FORWARD_WHOLE_BYTES_MAX) {
    const bytes = answer.body === null || request.method === "HEAD" ? null : await answer.bytes();
    end();
    listener.timeout(request, CONNECTION_IDLE_SECONDS);
    return new Response(bytes, { status, headers });
  }
  listener.timeout(request, STREAM_IDLE_SECONDS);
  return new Response(passedOn(answer.body, end), { status, headers });
}

/** The stream as it is read. It fails without a value: the runtime then resets the connection and prints nothing of its own. */
function passedOn(source: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await reader.read();
          if (!next.done) return controller.enqueue(next.value);
          end();
          controller.close();
        } catch {
          // The other end has said why in its log, or the client is gone.
          end();
          controller.error(undefined);
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function refusal(why: string): Response {
  const body = JSON.stringify({ error: `cannot pass the request on: ${why}` });
  return new Response(body, { status: 503, headers: { "content-type": "application/json", "retry-after": "1" } });
}
