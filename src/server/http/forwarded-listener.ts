/**
 * The other end of `forward.ts`: requests that came to another thread's listener, served as if they had come here. They come over a socket
 * in the data directory that only the server's own user can open; what it says of the client's address is believed.
 */
import { chmodSync, rmSync } from "node:fs";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { PEER_HEADER } from "./forward.ts";
import { stopGracefully } from "./listener.ts";
import type { HttpService, Listener } from "./service.ts";

/** A running one. */
export interface ForwardedListener {
  /** As that of `HttpListener`; the socket is deleted. */
  stop(graceMs: number): Promise<void>;
}

/** Starts it. A socket that an earlier process left is replaced. @throws DbError StorageUnavailable */
export function listenForForwarded(path: string, service: HttpService, logger: Logger): ForwardedListener {
  try {
    rmSync(path, { force: true });
    const mask = process.umask(0o177); // From its first moment on only this user can open it.
    let server: Bun.Server<undefined>;
    try {
      server = Bun.serve(optionsOf(path, service));
    } finally {
      process.umask(mask);
    }
    chmodSync(path, 0o600);
    return {
      stop: async (graceMs) => {
        await stopGracefully(server, graceMs, logger);
        rmSync(path, { force: true });
      },
    };
  } catch (cause) {
    const why = errorText(cause);
    throw new DbError(StatusCode.StorageUnavailable, `cannot listen on ${path}: ${why}`, { cause });
  }
}

function optionsOf(path: string, service: HttpService): Bun.Serve.Options<undefined> {
  const options = {
    unix: path,
    development: false as const,
    idleTimeout: 0, // The thread in front watches the client.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request: Request) => service.handle(request, PASSED_ON),
    error: (error: Error) => service.lastResort(error),
  };
  // The types know no idle timeout of such sockets. The runtime does: without it requests are cut after ten seconds.
  return options as object as Bun.Serve.Options<undefined>;
}

/** What a service sees of the socket: the client is at the other thread's, and so are its timeouts. */
const PASSED_ON: Listener = {
  timeout: () => undefined,
  requestIP: (request) => {
    const address = request.headers.get(PEER_HEADER);
    return address === null ? null : { address };
  },
};
