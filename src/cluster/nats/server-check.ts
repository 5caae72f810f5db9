/**
 * Whether the servers keep what they acknowledge. By default a server of NATS syncs every two minutes, and what it acknowledged since is
 * gone when the power fails; nothing in its protocol says so. What says so is its state, `varz`: over the system account
 * (`$SYS.REQ.SERVER.PING.VARZ`) or over its monitoring address. Without one of both nobody can know, and the port is not opened.
 */
import { errorText } from "../../base/error.ts";
import { PortError } from "../port/port-error.ts";
import { NatsLink } from "./nats-link.ts";
import type { NatsOptions } from "./nats-options.ts";
import type { StreamInfo } from "./streams.ts";

/** Of the state of a server. */
interface Varz {
  readonly server_name: string;
  readonly version: string;
  readonly jetstream?: { readonly config?: { readonly sync_always?: boolean; readonly sync_interval?: number } };
}

/** Versions from which leases end as they must (`Nats-TTL`, markers) and the finds of Jepsen of 2025 are mended. */
const VERSION_MIN: readonly [number, number] = [2, 14];
const ASK_MILLIS = 3000;
/** Most servers that answer. Reason: more than a cluster has. */
const SERVERS_MAX = 1000;

/**
 * Looks at every server that holds one of the streams. One that is away cannot be asked: it is told of in the log, and processes start
 * all the same; a majority of each stream's servers is there, or the stream could not have been looked at.
 *
 * @throws PortError denied: a server is not as it must be, or is there and cannot be asked; it names it, the setting and what to do
 */
export async function checkServers(link: NatsLink, options: NatsOptions, streams: readonly StreamInfo[]): Promise<void> {
  const { info } = link.connection;
  checkVersion(info?.server_name ?? "", info?.version ?? "");
  const told = new Map<string, Varz>();
  const { found, failures } = await askMonitors(options.checks.monitors);
  for (const varz of [...(await askSystem(link, options)), ...found]) told.set(varz.server_name, varz);
  // That a server is gone the others know half a minute later; that it is behind, at once.
  const replicas = streams.flatMap(({ cluster }) => cluster?.replicas ?? []);
  const away = new Set(replicas.flatMap(({ name, current }) => (current === false ? name : [])));
  const holders = new Set(streams.flatMap(({ cluster }) => [cluster?.leader ?? "", ...(cluster?.replicas ?? []).map(({ name }) => name)]));
  holders.delete("");
  if (holders.size === 0) holders.add(info?.server_name ?? "");
  for (const name of holders) {
    const varz = told.get(name);
    if (varz !== undefined || !away.has(name)) checkServer(name, varz, failures[0]);
    else link.logger.warn({ server: name }, "a server of NATS is away: whether it syncs each message is not known");
  }
}

/** @throws PortError denied */
export function checkVersion(server: string, version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1])) return;
  throw new PortError(
    "denied",
    `cannot use NATS server ${server}: its version is ${version}, and must be ${VERSION_MIN.join(".")} or newer`,
  );
}

function checkServer(name: string, varz: Varz | undefined, failure: PortError | undefined): void {
  if (varz === undefined && failure !== undefined) throw failure;
  if (varz === undefined) {
    const how = "give the account of its system account, or the address of its monitoring (`http: 8222` in its configuration)";
    throw new PortError("denied", `cannot use NATS server ${name}: nobody says whether it syncs each message; ${how}`);
  }
  checkVersion(name, varz.version);
  const config = varz.jetstream?.config;
  if (config?.sync_always === true) return;
  const is = config?.sync_interval === undefined ? "not known" : `${config.sync_interval / 1e9} s`;
  const remedy = "set `jetstream { sync_interval: always }` in its configuration and restart it";
  throw new PortError(
    "denied",
    `cannot use NATS server ${name}: its sync_interval is ${is}, so what it acknowledged may get lost; ${remedy}`,
  );
}

async function askSystem(link: NatsLink, { servers, tls, checks, callMillis, identity }: NatsOptions): Promise<Varz[]> {
  if (checks.system === undefined) return [];
  const own = { servers, tls, callMillis, credentials: checks.system, name: `${identity} (check)` };
  const system = await NatsLink.open(own, link);
  const found: Varz[] = [];
  try {
    const asked = { strategy: "stall", maxWait: ASK_MILLIS, maxMessages: SERVERS_MAX } as const;
    for await (const answer of await system.connection.requestMany("$SYS.REQ.SERVER.PING.VARZ", "", asked)) {
      const { data } = answer.json<{ readonly data?: Varz }>();
      if (data !== undefined) found.push(data);
    }
  } catch (error) {
    throw new PortError("denied", `cannot ask the servers of NATS what they are, over their system account: ${errorText(error, 200)}`);
  } finally {
    await system.close();
  }
  return found;
}

async function askMonitors(
  monitors: readonly string[],
): Promise<{ readonly found: readonly Varz[]; readonly failures: readonly PortError[] }> {
  const found: Varz[] = [];
  const failures: PortError[] = [];
  const ask = async (monitor: string): Promise<void> => {
    try {
      const answer = await fetch(new URL("/varz", monitor), { signal: AbortSignal.timeout(ASK_MILLIS) });
      if (!answer.ok) throw new Error(`it answers ${answer.status}`);
      found.push((await answer.json()) as Varz);
    } catch (error) {
      failures.push(new PortError("denied", `cannot ask the monitoring of NATS at ${monitor}: ${errorText(error, 200)}`));
    }
  };
  await Promise.all(monitors.map(ask));
  return { found, failures };
}
