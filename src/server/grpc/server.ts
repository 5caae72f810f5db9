/**
 * The gRPC server (README.md): its services by gRPC, gRPC-web and Connect, on one port.
 *
 *   listener ─► connect-node: frames, compression, deadlines ─► Calls ─► the methods of a service
 */
import type { AssertionError } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Tracer } from "../../base/trace/tracer.ts";
import type { UserProvider } from "../../db/auth/user.ts";
import type { Db } from "../../db/db.ts";
import { BrowserGuard, type BrowserGuardOptions } from "../common/browser-guard.ts";
import { FailureLog } from "../common/failure-log.ts";
import { Logins } from "../common/logins.ts";
import type { ConnectionMarks } from "../connections/marks.ts";
import { TlsFiles, type TlsOptions } from "../wire/tls-files.ts";
import { BearerTokens } from "./bearer-tokens.ts";
import type { ConnectionLimits } from "./connections.ts";
import { GrpcMetrics } from "./grpc-metrics.ts";
import { type HandlerParts, handlerOf } from "./handler.ts";
import { CONNECTIONS_MAX, IDLE_MS_MAX, OPENING_MS_MAX, RESETS_MAX, TOKEN_MS, WRITE_MS_MAX } from "./limits.ts";
import type { MessageRoom } from "./messages/incoming-messages.ts";
import { GrpcListener } from "./listener.ts";
import type { GrpcService } from "./service.ts";

const LIMITS: ConnectionLimits = {
  connectionsMax: CONNECTIONS_MAX,
  openingMsMax: OPENING_MS_MAX,
  idleMsMax: IDLE_MS_MAX,
  resetsMax: RESETS_MAX,
  writeMsMax: WRITE_MS_MAX,
};

/** What the server needs. */
export interface GrpcOptions {
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Absent: nothing is encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Of messages that come in. */
  readonly room: MessageRoom;
  /** Most bytes of a message that goes out. */
  readonly sendBytesMax: number;
  readonly db: Db;
  /** Absent: whoever calls may do everything. */
  readonly userProvider: UserProvider | undefined;
  /** Names that the server goes by and origins of pages that it serves: those of HTTP. */
  readonly pages: Omit<BrowserGuardOptions, "hostname">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly marks?: ConnectionMarks;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Hears of broken invariants. */
  readonly onBug: (error: AssertionError) => void;
  /** What the port answers. */
  readonly services: readonly GrpcService[];
  /** Default: those of `limits.ts`. */
  readonly limits?: Partial<ConnectionLimits>;
}

/** A running server. */
export interface GrpcServer {
  /** The real one when any free port was asked for. */
  readonly port: number;
  /** Reads certificate and key again; false: the old ones stay. Absent: it does not encrypt. */
  readonly reload?: (() => boolean) | undefined;
  /** Takes no new calls; ends those under way after the grace. Stop it before the database closes. */
  stop(graceMs: number): Promise<void>;
}

/** Starts the server. @throws DbError StorageUnavailable when the address cannot be listened on; InvalidArguments for bad TLS files */
export async function startGrpcServer(options: GrpcOptions): Promise<GrpcServer> {
  const { hostname, clock, logger, marks } = options;
  const stopping = new AbortController();
  const tls = options.tls === undefined ? undefined : new TlsFiles(options.tls, logger);
  const metrics = new GrpcMetrics(options.metrics, () => listener.count);
  const listener = new GrpcListener({
    hostname,
    port: options.port,
    tls,
    clock,
    logger,
    marks,
    limits: { ...LIMITS, ...options.limits },
    onEnded: (reason) => metrics.ended.inc({ reason }),
    handle: handlerOf(handlerParts(options, metrics, stopping.signal)),
  });
  try {
    const port = await listener.listen();
    logger.info({ address: `${hostname}:${port}` }, "gRPC listens");
    return {
      port,
      reload: tls && (() => tls.reload()),
      async stop(graceMs) {
        // Those that stream for ever, such as a health watch, are told half-way.
        const telling = setTimeout(() => stopping.abort(), graceMs / 2);
        await listener.stop(graceMs);
        clearTimeout(telling);
        stopping.abort();
        tls?.close();
      },
    };
  } catch (cause) {
    listener.close();
    tls?.close();
    throw cannotListen(hostname, options.port, cause);
  }
}

/** What requests are answered by. */
function handlerParts(options: GrpcOptions, metrics: GrpcMetrics, shutdownSignal: AbortSignal): HandlerParts {
  const { db, clock, logger, userProvider: provider, onBug, services, room, sendBytesMax, tracer } = options;
  const logins = provider && new Logins(provider, logger, clock, metrics.authFailures);
  const failures = new FailureLog(logger, onBug);
  const tokens = new BearerTokens(() => clock.nowMillis(), TOKEN_MS);
  const guard = new BrowserGuard({ hostname: options.hostname, ...options.pages });
  return { guard, db, clock, logger, logins, tokens, failures, metrics, tracer, services, room, sendBytesMax, shutdownSignal };
}

/**
 * Tries to listen and lets go at once, so that a taken port is told before a long start.
 *
 * @throws DbError StorageUnavailable as `startGrpcServer` would
 */
export function probeGrpcAddress(hostname: string, port: number): void {
  try {
    Bun.listen({ hostname, port, socket: { data: () => undefined } }).stop(true);
  } catch (cause) {
    throw cannotListen(hostname, port, cause);
  }
}

function cannotListen(hostname: string, port: number, cause: unknown): DbError {
  const instead = "choose another address or set grpc.enable = false";
  const why = `cannot listen on ${hostname}:${port} for gRPC (grpc.bind_addr): ${errorText(cause)}; ${instead}`;
  return new DbError(StatusCode.StorageUnavailable, why, { cause });
}
