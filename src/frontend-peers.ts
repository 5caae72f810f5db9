/**
 * A frontend among others: where they ask it about its statements, and the lease that tells them where that is.
 *
 *   clients are served ─► internal listener ─► member
 */
import { systemClock } from "./base/clock.ts";
import type { RootLog } from "./base/log.ts";
import type { MetricRegistry } from "./base/metrics.ts";
import { isLoopback } from "./base/text/network-address.ts";
import type { FollowedDirectory } from "./cluster/ownership/followed-directory.ts";
import { FrontendMember } from "./cluster/ownership/frontend-member.ts";
import { systemTimers } from "./cluster/ownership/timers.ts";
import type { ClusterPort } from "./cluster/port/cluster-port.ts";
import type { RereadCertificates } from "./cluster/serve/reread-certificates.ts";
import { startFrontendListener } from "./cluster/statements/frontend-listener.ts";
import { internalListenerOf, renewWith } from "./cluster-parts.ts";
import { advertisedAddressOf } from "./config/cluster-check.ts";
import type { ClusterSettings } from "./config/cluster-settings.ts";
import type { InternalAccess } from "./config/nats-access.ts";
import type { KnownStatements } from "./db/known-statements.ts";
import { VERSION } from "./version.ts";

/** How long requests in flight may take at shutdown. Reason: they take milliseconds. */
const STOP_GRACE_MILLIS = 1000;

/** What of a frontend its peers are told. */
export interface PeerParts {
  readonly port: ClusterPort;
  readonly directory: FollowedDirectory;
  readonly internal: InternalAccess;
  readonly certificates: RereadCertificates | undefined;
  /** Among the living: `frontend.<name>`. */
  readonly nodeName: string;
  readonly startedAtMillis: number;
  readonly statements: KnownStatements;
  readonly metrics: MetricRegistry;
  /** Called with why when it cannot go on. */
  readonly onOver: (why: string) => void;
}

/** Where a frontend is. */
interface FrontendAddresses {
  /** "host:port" for other frontends. */
  readonly address: string;
  /** "host:port" for clients, by HTTP. */
  readonly httpAddress: string;
}

/**
 * Listens to other frontends and joins them; `opened` ends both.
 *
 * @param http where clients are served by HTTP
 * @throws DbError StorageUnavailable: the address cannot be listened on; as `FrontendMember.join`
 */
export async function joinFrontends(
  cluster: ClusterSettings,
  log: RootLog,
  http: { readonly url: string; readonly port: number },
  parts: PeerParts,
  opened: AsyncDisposableStack,
): Promise<FrontendAddresses> {
  const { port, directory, internal, nodeName, startedAtMillis, statements, metrics, onOver } = parts;
  const logger = log.logger("cluster");
  const known = { self: nodeName, statements, metrics, clock: systemClock, logger: log.logger("serve") };
  const listener = startFrontendListener(internalListenerOf(cluster, internal), known);
  opened.defer(() => listener.stop(STOP_GRACE_MILLIS));
  renewWith(parts, listener);
  const address = advertisedAddressOf(cluster, listener.port);
  const addresses = { address, httpAddress: httpAddressOf(http, address) };
  if (isHereOnly(cluster)) {
    const why = "frontends on other machines cannot reach this one, and neither list nor kill its statements: set cluster.bind_addr";
    logger.warn({ address }, why);
  }
  const facts = { id: nodeName, ...addresses, version: VERSION, startedAtMillis };
  const shared = { leases: port.leases, identity: port.identity, timers: systemTimers, logger, directory };
  const member = await FrontendMember.join(facts, shared, (why) => onOver(why.message));
  opened.defer(() => member.leave());
  return addresses;
}

/** Where clients reach it: of one that listens on all addresses of its machine, at the host that other frontends know. */
function httpAddressOf({ url, port }: { readonly url: string; readonly port: number }, address: string): string {
  const { hostname } = new URL(url);
  const known = address.replace(/:\d+$/, "");
  const isAnywhere = hostname === "0.0.0.0" || hostname === "[::]";
  return `${isAnywhere && !isLoopback(known) ? known : hostname}:${port}`;
}

/** Whether only processes of this machine reach it, while NATS is on another one. */
function isHereOnly({ bindAddr, advertiseAddr, servers }: ClusterSettings): boolean {
  if (advertiseAddr !== undefined || !isLoopback(bindAddr.host)) return false;
  const hosts = servers.map((server) => new URL(server).hostname.replace(/^\[(.*)\]$/, "$1"));
  return !hosts.some((host) => host === "localhost" || isLoopback(host));
}
