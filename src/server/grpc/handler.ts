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
import { MESSAGES } from "./call.ts";
import { COMPRESSIONS, WRAPPING_COMPRESSIONS } from "./compression.ts";
import { ERROR_CODE, errorMetadata, grpcMessageOf, statusOfTransport } from "./errors.ts";
import { formsOf, IncomingMessages, type MessageRoom } from "./incoming-messages.ts";
import { COMPRESS_BYTES_MIN, DEADLINE_MS_MAX, JSON_BYTES_MAX } from "./limits.ts";
import type { Exchange } from "./exchange.ts";
import { sendHead } from "./early-head.ts";
import { CLIENT, mount, type MessageForm, type MountParts } from "./mount.ts";
import { FRAMES, OutgoingFrames, withFrames } from "./outgoing-frames.ts";
import { WRAP_BYTES_MAX } from "./raw-message.ts";
import type { GrpcService } from "./service.ts";

/** What a handler needs. */
export interface HandlerParts extends MountParts {
  readonly services: readonly GrpcService[];
  /** Of messages that come in. */
  readonly room: MessageRoom;
  /** Fires when all calls shall end. */
  readonly shutdownSignal: AbortSignal;
  readonly logger: Logger;
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
  return (exchange) => {
    const type = exchange.headers.get("content-type") ?? "";
    const { path } = exchange;
    const mounted = (type.includes("json") ? json : binary).get(path);
    const foreign = foreignPage(exchange, parts.guard);
    if (foreign !== undefined) refuse(type, exchange, { ...FOREIGN, text: foreign });
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
    const values = createContextValues().set(CLIENT, exchange.client).set(FRAMES, new OutgoingFrames()).set(MESSAGES, messages);
    const request = exchange.request(messages, values);
    if (form === "binary") {
      messages.goAside();
      // The library would compare it with what it gets, which is wrapped; its length was compared where it came in.
      request.header.delete("content-length");
    }
    if (handler.method.methodKind === "bidi_streaming") sendHead(exchange);
    await exchange.send(withOurCode(withFrames(await handler(request), values.get(FRAMES))));
  } catch (thrown) {
    // A client that left is no failure, and one whose request makes no URL learns no more than that.
    if (!GONE.has(ConnectError.from(thrown).code)) logger.debug({ error: errorText(thrown) }, "a call was cut");
    if (!exchange.isAnswered) exchange.sendText(400, {}, "");
  } finally {
    messages.release();
  }
}

/** What calls fail with whose client has left. */
const GONE: ReadonlySet<Code> = new Set([Code.Aborted, Code.Canceled]);

/** Adds our code to a failure that the library found: it stands in trailers, which are whole once the body is. */
function withOurCode(response: UniversalServerResponse): UniversalServerResponse {
  const { body, trailer } = response;
  if (body === undefined || trailer === undefined) return response;
  return { ...response, body: followed(body, trailer) };
}

async function* followed(body: AsyncIterable<Uint8Array>, trailer: Headers): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield* body as AsyncIterable<Uint8Array<ArrayBuffer>>;
  const message = trailer.get("grpc-message");
  // The library writes commas and blanks by their bytes too, which some clients show as they came.
  if (message !== null) trailer.set("grpc-message", grpcMessageOf(decodeURIComponent(message)));
  const status = Number(trailer.get("grpc-status") ?? 0);
  if (status === 0 || trailer.has(ERROR_CODE)) return;
  const metadata = errorMetadata(statusOfTransport(status as Code), undefined); // gRPC's numbers are the library's
  for (const [name, value] of Object.entries(metadata)) trailer.set(name, value);
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
