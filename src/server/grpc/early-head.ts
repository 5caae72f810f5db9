/**
 * The head of an answer, sent before its first message: for calls with messages both ways, whose client may say nothing before it has heard
 * something. The library sends the head with the first message, and the Rust ingester opens a bulk insert long before it has rows.
 */
import type { Exchange } from "./exchange.ts";

/** What the library says of binary messages. */
const BINARY = "application/grpc+proto";
/** Paths whose head waits for their first message, since it carries metadata: the token of a sign-in. Their clients speak first. */
const WAITING: ReadonlySet<string> = new Set(["/arrow.flight.protocol.FlightService/Handshake"]);

/** Sends the head of a gRPC call now; of gRPC-web and Connect nothing, whose clients send all of their messages first. */
export function sendHead(exchange: Exchange): void {
  const { headers, path, isHttp2 } = exchange;
  if (!isHttp2 || WAITING.has(path)) return;
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith("application/grpc") || type.startsWith("application/grpc-web")) return;
  headers.delete("grpc-accept-encoding"); // The head would have to say how messages are compressed that nobody has yet.
  exchange.sendHead({ "content-type": BINARY });
}
