/**
 * From a request of the listener to its service and back: the transport's library reads frames, deadlines and compression of gRPC,
 * gRPC-web and Connect; what it finds wrong by itself gets our metadata here.
 */
import { Code, ConnectError, createConnectRouter, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { BrowserGuard } from "../common/browser-guard.ts";
import { COMPRESSIONS, WRAPPING_COMPRESSIONS } from "./compression.ts";
import { clientOf } from "./connections.ts";
import { ERROR_CODE, errorMetadata, statusOfTransport } from "./errors.ts";
import { formsOf, IncomingMessages, type MessageRoom } from "./incoming-messages.ts";
import { COMPRESS_BYTES_MIN, DEADLINE_MS_MAX, JSON_BYTES_MAX } from "./limits.ts";
import type { NodeRequest, NodeResponse } from "./listener.ts";
import { sendHead } from "./early-head.ts";
import { CLIENT, mount, type MessageForm, type MountParts } from "./mount.ts";
import { WRAP_BYTES_MAX } from "./raw-message.ts";
import type { GrpcService } from "./service.ts";

/** What a handler needs. */
export interface HandlerParts extends MountParts {
  readonly services: readonly GrpcService[];
  /** Of messages that come in. */
  readonly room: MessageRoom;
  /** Most bytes of a message that goes out. */
  readonly sendBytesMax: number;
  /** Fires when all calls shall end. */
  readonly shutdownSignal: AbortSignal;
  readonly logger: Logger;
  /** Keeps pages of other sites out. */
  readonly guard: BrowserGuard;
}

/** Whether messages are JSON, by the content type. */
function isJson(type = ""): boolean {
  return type.includes("json");
}

type Handlers = ReadonlyMap<string, UniversalHandler>;

/** Answers each request of the services' methods. */
export function handlerOf(parts: HandlerParts): (request: NodeRequest, response: NodeResponse) => void {
  const binary = handlersOf(parts, "binary");
  const json = handlersOf(parts, "json");
  return (request, response) => {
    const type = request.headers["content-type"] ?? "";
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const handler = (isJson(type) ? json : binary).get(path);
    const foreign = foreignPage(request, path, parts.guard);
    if (foreign !== undefined) refuse(type, response, { ...FOREIGN, text: foreign });
    else if (handler === undefined) unknownPath(type, path, response);
    else void answer(handler, request, response, parts); // never rejects
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
  for (const service of parts.services) mount(router, service, form, parts);
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
}

async function answer(handler: UniversalHandler, request: NodeRequest, response: NodeResponse, parts: HandlerParts): Promise<void> {
  let messages: IncomingMessages | undefined;
  try {
    const { remoteAddress = "", remotePort = 0 } = request.socket;
    const values = createContextValues().set(CLIENT, clientOf(remoteAddress, remotePort));
    if (handler.method.methodKind === "bidi_streaming") sendHead(request, response);
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    // An answer that nobody takes any more never ends, but its stream does.
    response.once("close", () => messages?.release());
    messages = new IncomingMessages(roomOf(handler, request, parts), formsOf(universal.header, universal.signal));
    const gathered = { ...universal, body: messages.read(universal.body as AsyncIterable<Uint8Array>) };
    await universalResponseToNodeResponse(withOurCode(await handler(gathered)), response);
  } catch (thrown) {
    // A client that left is no failure, and one whose request makes no URL learns no more than that.
    if (ConnectError.from(thrown).code !== Code.Aborted) parts.logger.debug({ error: errorText(thrown) }, "a call was cut");
    if (!response.headersSent) response.statusCode = 400;
    response.end();
  } finally {
    messages?.release();
  }
}

/** What messages of a method may take: less than others of JSON, and of services that ask for less. */
function roomOf({ service }: UniversalHandler, { headers }: NodeRequest, { room, services }: HandlerParts): MessageRoom {
  const own = services.find(({ descriptor }) => descriptor.typeName === service.typeName)?.messageBytesMax ?? room.bytesMax;
  const ofForm = isJson(headers["content-type"]) ? JSON_BYTES_MAX : room.bytesMax;
  return { ...room, bytesMax: Math.min(room.bytesMax, own, ofForm) };
}

/** Adds our code to a failure that the library found: it stands in trailers, which are whole once the body is. */
function withOurCode(response: UniversalServerResponse): UniversalServerResponse {
  const { body, trailer } = response;
  if (body === undefined || trailer === undefined) return response;
  return { ...response, body: followed(body, trailer) };
}

async function* followed(body: AsyncIterable<Uint8Array>, trailer: Headers): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield* body as AsyncIterable<Uint8Array<ArrayBuffer>>;
  const status = Number(trailer.get("grpc-status") ?? 0);
  if (status === 0 || trailer.has(ERROR_CODE)) return;
  const metadata = errorMetadata(statusOfTransport(status as Code), undefined); // gRPC's numbers are the library's
  for (const [name, value] of Object.entries(metadata)) trailer.set(name, value);
}

/** Why a request is refused that a browser may have made for a page of another site; undefined: it is not. */
function foreignPage({ headers, httpVersion, method = "" }: NodeRequest, path: string, guard: BrowserGuard): string | undefined {
  // Pages cannot speak HTTP/2 in the open, nor leave these headers out; what stands before a server may have any name of its own.
  if (httpVersion.startsWith("2") && headers.origin === undefined && headers["sec-fetch-site"] === undefined) return undefined;
  const judged = new Headers();
  for (const name of JUDGED) {
    const value = headers[name];
    if (typeof value === "string") judged.set(name, value);
  }
  const authority = headers[":authority"];
  if (typeof authority === "string") judged.set("host", authority);
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

function unknownPath(contentType: string, path: string, response: NodeResponse): void {
  const text = `there is no method ${path.slice(0, SHOWN_CHARACTERS_MAX)}`;
  refuse(contentType, response, { http: 404, grpc: Code.Unimplemented, code: StatusCode.Unsupported, text });
}

function refuse(contentType: string, response: NodeResponse, { http, grpc, code, text }: Refusal): void {
  if (!contentType.startsWith("application/grpc")) {
    response.statusCode = http;
    response.setHeader("content-type", "text/plain");
    response.end(text);
    return;
  }
  const status = { "grpc-status": String(grpc), "grpc-message": encodeURIComponent(text) };
  const headers = { "content-type": contentType, ...status, ...errorMetadata(code, undefined) };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end();
}

/** Characters of a path that an answer repeats. */
const SHOWN_CHARACTERS_MAX = 200;
