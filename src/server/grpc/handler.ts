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
import { COMPRESSIONS } from "./compression.ts";
import { clientOf } from "./connections.ts";
import { ERROR_CODE, errorMetadata, statusOfTransport } from "./errors.ts";
import { COMPRESS_BYTES_MIN, DEADLINE_MS_MAX } from "./limits.ts";
import type { NodeRequest, NodeResponse } from "./listener.ts";
import { CLIENT, mount, type MessageForm, type MountParts } from "./mount.ts";
import type { GrpcService } from "./service.ts";

/** What a handler needs. */
export interface HandlerParts extends MountParts {
  readonly services: readonly GrpcService[];
  /** Most bytes of a message that comes in, unfolded, and of one that goes out. */
  readonly receiveBytesMax: number;
  readonly sendBytesMax: number;
  /** Fires when all calls shall end. */
  readonly shutdownSignal: AbortSignal;
  readonly logger: Logger;
}

type Handlers = ReadonlyMap<string, UniversalHandler>;

/** Answers each request of the services' methods. */
export function handlerOf(parts: HandlerParts): (request: NodeRequest, response: NodeResponse) => void {
  const binary = handlersOf(parts, "binary");
  const json = handlersOf(parts, "json");
  return (request, response) => {
    const type = request.headers["content-type"] ?? "";
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const handler = (type.includes("json") ? json : binary).get(path);
    if (handler === undefined) unknownPath(type, path, response);
    else void answer(handler, request, response, parts.logger); // never rejects
  };
}

function handlersOf(parts: HandlerParts, form: MessageForm): Handlers {
  const { receiveBytesMax: readMaxBytes, sendBytesMax: writeMaxBytes, shutdownSignal } = parts;
  const router = createConnectRouter({
    acceptCompression: COMPRESSIONS,
    compressMinBytes: COMPRESS_BYTES_MIN,
    readMaxBytes,
    writeMaxBytes,
    maxTimeoutMs: DEADLINE_MS_MAX,
    shutdownSignal,
  });
  for (const service of parts.services) mount(router, service, form, parts);
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
}

async function answer(handler: UniversalHandler, request: NodeRequest, response: NodeResponse, logger: Logger): Promise<void> {
  try {
    const { remoteAddress = "", remotePort = 0 } = request.socket;
    const values = createContextValues().set(CLIENT, clientOf(remoteAddress, remotePort));
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    await universalResponseToNodeResponse(withOurCode(await handler(universal)), response);
  } catch (thrown) {
    // A client that left is no failure, and one whose request makes no URL learns no more than that.
    if (ConnectError.from(thrown).code !== Code.Aborted) logger.debug({ error: errorText(thrown) }, "a call was cut");
    if (!response.headersSent) response.statusCode = 400;
    response.end();
  }
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

function unknownPath(contentType: string, path: string, response: NodeResponse): void {
  const text = `there is no method ${path.slice(0, SHOWN_CHARACTERS_MAX)}`;
  if (!contentType.startsWith("application/grpc")) {
    response.statusCode = 404;
    response.setHeader("content-type", "text/plain");
    response.end(text);
    return;
  }
  const status = { "grpc-status": String(Code.Unimplemented), "grpc-message": encodeURIComponent(text) };
  const headers = { "content-type": contentType, ...status, ...errorMetadata(StatusCode.Unsupported, undefined) };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end();
}

/** Characters of a path that an answer repeats. */
const SHOWN_CHARACTERS_MAX = 200;
