/** Trailers of calls that failed: the library's names of what went wrong, and ours (errors.ts). */
import { Code, ConnectError } from "@connectrpc/connect";
import { mergeNonProtocolHeaders } from "@connectrpc/connect/protocol";
import { ERROR_CODE, errorMetadata, grpcMessageOf, statusOfTransport } from "./errors.ts";

/** What calls fail with whose client has left. */
export const LEFT: ReadonlySet<Code> = new Set([Code.Aborted, Code.Canceled]);

/** The trailers of a call that has thrown: what is no status of ours says no more than that. */
export function failureTrailers(thrown: unknown): Headers {
  const error = thrown instanceof ConnectError ? thrown : new ConnectError("internal error", Code.Internal);
  const trailer = new Headers();
  mergeNonProtocolHeaders(trailer, error.metadata);
  trailer.set("grpc-status", String(error.code));
  trailer.set("grpc-message", grpcMessageOf(error.rawMessage));
  addOurCode(trailer, error.code);
  return trailer;
}

/** Adds our code to trailers of the library, where they are of a failure that it found itself. */
export function withOurCode(trailer: Headers): void {
  const message = trailer.get("grpc-message");
  // The library writes commas and blanks by their bytes too, which some clients show as they came.
  if (message !== null) trailer.set("grpc-message", grpcMessageOf(decodeURIComponent(message)));
  const status = Number(trailer.get("grpc-status") ?? 0);
  if (status !== 0) addOurCode(trailer, status); // gRPC's numbers are the library's
}

function addOurCode(trailer: Headers, code: Code): void {
  if (trailer.has(ERROR_CODE)) return;
  for (const [name, value] of Object.entries(errorMetadata(statusOfTransport(code), undefined))) trailer.set(name, value);
}
