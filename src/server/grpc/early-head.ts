/**
 * The head of an answer, sent before its first message: for calls with messages both ways, whose client may say nothing before it has heard
 * something. The library sends the head with the first message, and the Rust ingester opens a bulk insert long before it has rows.
 */
import type { Http2ServerResponse } from "node:http2";
import type { NodeRequest, NodeResponse } from "./listener.ts";

/** What the library says of binary messages. */
const BINARY = "application/grpc+proto";
/** Paths whose head waits for their first message, since it carries metadata: the token of a sign-in. Their clients speak first. */
const WAITING: ReadonlySet<string> = new Set(["/arrow.flight.protocol.FlightService/Handshake"]);

/** Sends the head of a gRPC call now; of gRPC-web and Connect nothing, whose clients send all of their messages first. */
export function sendHead(request: NodeRequest, response: NodeResponse): void {
  if (WAITING.has(request.url ?? "")) return;
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("application/grpc") || type.startsWith("application/grpc-web") || !isHttp2(response)) return;
  delete request.headers["grpc-accept-encoding"]; // The head would have to say how messages are compressed that nobody has yet.
  response.setHeader("content-type", BINARY);
  response.flushHeaders();
  response.writeHead = () => response; // The library's own: it is sent.
}

/** The runtime's types leave it out. */
interface Flushing {
  flushHeaders(): void;
}

function isHttp2(response: NodeResponse): response is Http2ServerResponse & Flushing {
  return "stream" in response;
}
