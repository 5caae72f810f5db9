/** What frontends and data nodes have in common: their way to NATS, the catalogue, what they know each other by, their name. */
import { readFileSync } from "node:fs";
import { systemClock } from "./base/clock.ts";
import { errorText } from "./base/error.ts";
import type { Logger, RootLog } from "./base/log.ts";
import { CatalogMirror } from "./cluster/catalog/catalog-mirror.ts";
import { openNatsPort } from "./cluster/nats/nats-port.ts";
import type { ClusterPort } from "./cluster/port/cluster-port.ts";
import { portFailureOf } from "./cluster/port/port-error.ts";
import type { InternalListener, InternalListenerOptions, InternalTls } from "./cluster/serve/internal-listener.ts";
import { RereadCertificates } from "./cluster/serve/reread-certificates.ts";
import type { NodeCredentials } from "./cluster/wire/http-transport.ts";
import { nodeNameOf } from "./config/cluster-check.ts";
import type { ClusterSettings } from "./config/cluster-settings.ts";
import { internalAccessOf, type InternalAccess, internalTlsOf, natsAccessOf } from "./config/nats-access.ts";
import type { Role } from "./config/role.ts";
import type { Settings } from "./config/settings.ts";

/** Random part of a port's identity, in bytes. */
const IDENTITY_BYTES = 6;

/** See the file header. */
export interface ClusterParts {
  readonly port: ClusterPort;
  readonly mirror: CatalogMirror;
  readonly internal: InternalAccess;
  /** Those of `internal`, read again; undefined without TLS. */
  readonly certificates: RereadCertificates | undefined;
  /** Among the living: `node.<name>`. */
  readonly nodeName: string;
}

/** How long a start waits for servers that do not answer, as during an election, in milliseconds; and between two tries. */
const SERVED_MILLIS = 60_000;
const AGAIN_MILLIS = 1000;

/** Opens the port when somebody serves it. @throws PortError denied at once; unavailable after `SERVED_MILLIS` */
async function openWhenServed(open: () => Promise<ClusterPort>, logger: Logger): Promise<ClusterPort> {
  for (const until = systemClock.monotonicMillis() + SERVED_MILLIS; ; ) {
    try {
      return await open();
    } catch (error) {
      if (portFailureOf(error) !== "unavailable" || systemClock.monotonicMillis() > until) throw error;
      logger.warn({ error: errorText(error) }, "NATS does not serve yet: tried again");
    }
    await Bun.sleep(AGAIN_MILLIS);
  }
}

/**
 * Connects to NATS, which makes the cluster's streams where there are none, looks whether its servers are as they must be, and follows the
 * catalogue. `opened` ends it.
 *
 * @param onOver called with why when the process cannot go on
 * @throws ConfigError: a file that a key names cannot be read; PortError unavailable, denied; DbError as `CatalogMirror.open`
 */
export async function openClusterParts(
  { cluster }: Settings,
  role: Exclude<Role, "standalone">,
  log: RootLog,
  opened: AsyncDisposableStack,
  onOver: (why: string) => void,
): Promise<ClusterParts> {
  const logger = log.logger("cluster");
  const read = (path: string): Uint8Array => readFileSync(path);
  const nodeName = nodeNameOf(cluster);
  const internal = internalAccessOf(cluster, read);
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(IDENTITY_BYTES))).toString("hex");
  const options = { ...natsAccessOf(cluster, read), identity: `${role}-${nodeName}-${random}` };
  const port = await openWhenServed(() => openNatsPort(options, { logger, clock: systemClock }), logger);
  opened.defer(() => port.close());
  const mirror = await CatalogMirror.open(port, {
    shards: cluster.shards,
    clock: systemClock,
    sleep: (millis) => Bun.sleep(millis),
    logger,
    onLost: (why) => onOver(`the catalogue cannot be followed any more: ${why.message}`),
  });
  opened.defer(() => mirror.close());
  const { tlsMode, tls: pems } = internal;
  const reread = { pems, read: () => internalTlsOf(cluster, read), watch: cluster.tlsWatch, logger, onOver };
  const certificates = tlsMode === "disable" ? undefined : new RereadCertificates(reread);
  opened.defer(() => certificates?.close());
  return { port, mirror, internal, certificates, nodeName };
}

/** Where a part listens to others, and to whom. */
export function internalListenerOf({ bindAddr }: ClusterSettings, internal: InternalAccess): InternalListenerOptions {
  const { host: hostname, port } = bindAddr;
  return { hostname, port, secret: internal.secret, tls: listenerTlsOf(internal) };
}

/** What who listens encrypts with; undefined: with nothing. */
function listenerTlsOf({ tlsMode, tls: { ca, cert, key } }: InternalAccess): InternalTls | undefined {
  if (tlsMode === "disable" || cert === undefined || key === undefined) return undefined;
  return { cert, key, ca: tlsMode === "mutual" ? ca : undefined };
}

type Renewed = Pick<InternalListener, "renew">;

/** Has a listener take new certificates as they are read. */
export function renewWith({ internal, certificates }: Pick<ClusterParts, "internal" | "certificates">, listener: Renewed): void {
  certificates?.use((pems) => {
    const tls = listenerTlsOf({ ...internal, tls: pems });
    if (tls !== undefined) listener.renew(tls);
  });
}

/** How others know a part, and it them. */
export function credentialsOf({ secret, tlsMode, tls }: InternalAccess): NodeCredentials {
  if (tlsMode === "disable") return { secret };
  const { ca, cert, key } = tls;
  return { secret, tls: { ca, cert: tlsMode === "mutual" ? cert : undefined, key: tlsMode === "mutual" ? key : undefined } };
}
