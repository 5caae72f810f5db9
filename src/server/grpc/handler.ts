/**
 * From a request of the listener to its service and back: the transport's library reads frames, deadlines and compression of gRPC,
 * gRPC-web and Connect; what it finds wrong by itself gets our metadata here.
 */
import { Code, ConnectError, createConnectRouter, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { BrowserGuard } from "../common/browser-guard.ts";
import { COMPRESSIONS, WRAPPING_COMPRESSIONS } from "./messages/compression.ts";
import { errorMetadata, grpcMessageOf } from "./errors.ts";
import { LEFT, withOurCode } from "./failure-trailers.ts";
import { formsOf, IncomingMessages, type MessageRoom } from "./messages/incoming-messages.ts";
import { COMPRESS_BYTES_MIN, DEADLINE_MS_MAX, JSON_BYTES_MAX } from "./limits.ts";
import type { Exchange } from "./exchange.ts";
import { sendHead } from "./early-head.ts";
import { ASIDE, mount, type MessageForm } from "./mount.ts";
import { OutgoingFrames, withFrames } from "./messages/outgoing-frames.ts";
import { WRAP_BYTES_MAX } from "./messages/raw-message.ts";
import { UnaryCalls, type UnaryParts } from "./unary-calls.ts";

/** What a handler needs. */
export interface HandlerParts extends UnaryParts {
  /** Keeps pages of other sites out. */
  readonly guard: BrowserGuard;
}

/** A method as the library answers it, and how its messages come. */
interface Mounted {
  readonly handler: UniversalHandler;
  readonly form: MessageForm;
  /** What its messages may take: less than others of JSON, and of services that ask for less. */
  readonly room: MessageRoom;
}

/** By path. */
type Handlers = ReadonlyMap<string, Mounted>;

/** Answers each request of the services' methods. */
export function handlerOf(parts: HandlerParts): (exchange: Exchange) => void {
  const binary = handlersOf(parts, "binary");
  const json = handlersOf(parts, "json");
  const unary = new UnaryCalls(parts);
  return (exchange) => {
    const type = exchange.headers.get("content-type") ?? "";
    const { path, atOnce } = exchange;
    const foreign = foreignPage(exchange, parts.guard);
    if (foreign !== undefined) return refuse(type, exchange, { ...FOREIGN, text: foreign });
    const method = atOnce && unary.methodOf(exchange);
    const mounted = (type.includes("json") ? json : binary).get(path);
    if (atOnce !== undefined && method !== undefined)
      void unary.answer(method, exchange, atOnce); // never rejects
    else if (mounted === undefined) unknownPath(type, exchange);
    else void answer(mounted, exchange, parts.logger); // never rejects
  };
}

function handlersOf(parts: HandlerParts, form: MessageForm): Handlers {
  const { room, sendBytesMax: writeMaxBytes, shutdownSignal } = parts;
  const isWrapped = form === "binary";
  const router = createConnectRouter({
    acceptCompression: isWrapped ? WRAPPING_COMPRESSIONS : COMPRESSIONS,
    compressMinBytes: COMPRESS_BYTES_MIN,
    readMaxBytes: room.bytesMax + (isWrapped ? WRAP_BYTES_MAX : 0),
    writeMaxBytes,
    maxTimeoutMs: DEADLINE_MS_MAX,
    shutdownSignal,
  });
  const ofForm = form === "json" ? JSON_BYTES_MAX : room.bytesMax;
  const bytesMaxOf = new Map<string, number>();
  for (const service of parts.services) {
    mount(router, service, form, parts);
    bytesMaxOf.set(service.descriptor.typeName, Math.min(room.bytesMax, service.messageBytesMax, ofForm));
  }
  return new Map(
    router.handlers.map((handler) => {
      const bytesMax = bytesMaxOf.get(handler.service.typeName) ?? ofForm;
      return [handler.requestPath, { handler, form, room: { ...room, bytesMax } }];
    }),
  );
}

async function answer({ handler, form, room }: Mounted, exchange: Exchange, logger: Logger): Promise<void> {
  const messages = new IncomingMessages(room, formsOf(exchange.headers), exchange.flow);
  try {
    exchange.receive(messages);
    const frames = new OutgoingFrames();
    const values = createContextValues().set(ASIDE, { client: exchange.client, messages, frames });
    const request = exchange.request(messages, values);
    if (form === "binary") {
      messages.goAside();
      // The library would compare it with what it gets, which is wrapped; its length was compared where it came in.
      request.header.delete("content-length");
    }
    if (handler.method.methodKind === "bidi_streaming") sendHead(exchange);
    await exchange.send(withCodes(withFrames(await handler(request), frames)));
  } catch (thrown) {
    // A client that left is no failure, and one whose request makes no URL learns no more than that.
    if (!LEFT.has(ConnectError.from(thrown).code)) logger.debug({ error: errorText(thrown) }, "a call was cut");
    if (!exchange.isAnswered) exchange.sendText(400, {}, "");
  } finally {
    messages.release();
  }
}

/** Adds our code to a failure that the library found: it stands in trailers, which are whole once the body is. */
function withCodes(response: UniversalServerResponse): UniversalServerResponse {
  const { body, trailer } = response;
  if (body === undefined || trailer === undefined) return response;
  return { ...response, body: followed(body, trailer) };
}

async function* followed(body: AsyncIterable<Uint8Array>, trailer: Headers): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield* body as AsyncIterable<Uint8Array<ArrayBuffer>>;
  withOurCode(trailer);
}

/** Why a request is refused that a browser may have made for a page of another site; undefined: it is not. */
function foreignPage({ headers, isHttp2, method, path, authority }: Exchange, guard: BrowserGuard): string | undefined {
  // Pages cannot speak HTTP/2 in the open, nor leave these headers out; what stands before a server may have any name of its own.
  if (isHttp2 && !headers.has("origin") && !headers.has("sec-fetch-site")) return undefined;
  const judged = new Headers();
  for (const name of JUDGED) {
    const value = headers.get(name);
    if (value !== null) judged.set(name, value);
  }
  if (authority !== undefined) judged.set("host", authority);
  const verdict = guard.judge(method, path, judged);
  return typeof verdict === "string" ? undefined : verdict.refused;
}

const FOREIGN = { http: 403, grpc: Code.PermissionDenied, code: StatusCode.AccessDenied } as const;

/** Headers that the guard looks at. */
const JUDGED = ["host", "origin", "referer", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "user-agent"] as const;

/** What a request is refused with that has no call. */
interface Refusal {
  readonly http: number;
  readonly grpc: Code;
  readonly code: StatusCode;
  readonly text: string;
}

function unknownPath(contentType: string, exchange: Exchange): void {
  const text = `there is no method ${exchange.path.slice(0, SHOWN_CHARACTERS_MAX)}`;
  refuse(contentType, exchange, { http: 404, grpc: Code.Unimplemented, code: StatusCode.Unsupported, text });
}

function refuse(contentType: string, exchange: Exchange, { http, grpc, code, text }: Refusal): void {
  if (!contentType.startsWith("application/grpc")) return exchange.sendText(http, { "content-type": "text/plain" }, text);
  const status = { "grpc-status": String(grpc), "grpc-message": grpcMessageOf(text) };
  exchange.sendText(200, { "content-type": contentType, ...status, ...errorMetadata(code, undefined) }, "");
}

/** Characters of a path that an answer repeats. */
const SHOWN_CHARACTERS_MAX = 200;
