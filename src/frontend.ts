/**
 * A frontend of a cluster, wired from its settings: everything that clients talk to, and no rows.
 *
 *   NATS ─► catalogue, owners of shards ─► engine without rows ─► facade ─► servers ─► other frontends
 *
 * `stop` goes the other way, as does a start that fails.
 */
import { availableParallelism } from "node:os";
import { systemClock } from "./base/clock.ts";
import { errorText } from "./base/error.ts";
import type { Logger, RootLog } from "./base/log.ts";
import { machineMemoryBytes } from "./base/memory/machine-memory.ts";
import { residentBytes } from "./base/memory/process-memory.ts";
import { openAccounts, serveClients } from "./clients.ts";
import { Frontend } from "./cluster/frontend/frontend.ts";
import { registerLaneMetrics } from "./cluster/lanes/lane-metrics.ts";
import { clusterFactsOf } from "./cluster/ownership/cluster-facts.ts";
import { begun, FollowedDirectory } from "./cluster/ownership/followed-directory.ts";
import { registerClusterMetrics } from "./cluster/ownership/ownership-metrics.ts";
import { statusOf } from "./cluster/ownership/status.ts";
import { systemTimers } from "./cluster/ownership/timers.ts";
import type { ClusterPort } from "./cluster/port/cluster-port.ts";
import { AskedFrontends } from "./cluster/statements/asked-frontends.ts";
import { HttpTransport } from "./cluster/wire/http-transport.ts";
import { NodeShardClient } from "./cluster/wire/node-shard-client.ts";
import type { RereadCertificates } from "./cluster/serve/reread-certificates.ts";
import { credentialsOf, openClusterParts } from "./cluster-parts.ts";
import type { InternalAccess } from "./config/nats-access.ts";
import type { Settings } from "./config/settings.ts";
import { FreshDb } from "./db/fresh-db.ts";
import { type Foundation, layFoundation, useTimeZone } from "./foundation.ts";
import { joinFrontends } from "./frontend-peers.ts";
import type { ClusterFacts, ClusterNode } from "./query/system-facts.ts";
import type { RunningServer } from "./running-server.ts";
import { probeAddresses } from "./servers.ts";
import { openStatements } from "./statements.ts";
import { VERSION } from "./version.ts";

/** Age from which on a table that is being filled counts as left behind. */
const UNFINISHED_MILLIS: number = 24 * 3600 * 1000;

/**
 * Starts a frontend and resolves when it is ready.
 *
 * @param onBug called when a broken invariant was met: the process should end
 * @throws DbError with one line for the operator
 */
export async function startFrontend(settings: Settings, log: RootLog, onBug: (error: Error) => void): Promise<RunningServer> {
  await using opened = new AsyncDisposableStack();
  const started = systemClock.monotonicMillis();
  const logger = log.logger("main");
  useTimeZone(settings);
  const accounts = openAccounts(settings, log, opened);
  probeAddresses(settings);
  const foundation = layFoundation(settings, log, opened);
  const over = Promise.withResolvers<string>();
  const openedFrontend = await openFrontend(settings, log, { ...foundation, onBug, onOver: over.resolve }, opened);
  const { frontend, directory, shards, nodeName, others } = openedFrontend;
  const self = selfOf(nodeName);
  const { engine, workers } = frontend;
  registerLaneMetrics(foundation.metrics, () => frontend.laneFigures);
  registerClusterMetrics(foundation.metrics, () => statusOf(directory, shards));
  let address = "";
  const cluster = (): ClusterFacts => clusterFactsOf(statusOf(directory, shards), { ...self, address, memoryBytes: residentBytes() });
  const local = await openStatements(settings, log, engine, { ...foundation, workers, cluster, others }, opened);
  const db = new FreshDb(local, (signal) => frontend.refresh(signal));
  const clients = { ...foundation, ...accounts, role: "frontend" as const, db, ingestThreads: 0, onBug };
  const { http, addresses } = await serveClients(settings, log, clients, opened);
  const told = { ...openedFrontend, startedAtMillis: self.startMillis, statements: local.statements, metrics: foundation.metrics };
  const peers = await joinFrontends(settings.cluster, log, http, { ...told, onOver: over.resolve }, opened);
  address = peers.httpAddress;
  const { certificates } = openedFrontend;
  if (certificates !== undefined) accounts.reloads.add("certificate of the cluster", () => certificates.reload());
  const millis = Math.round(systemClock.monotonicMillis() - started);
  logger.info(
    { address: http.url, ...addresses, internal: peers.address, shards: settings.cluster.shards, version: VERSION, millis },
    "ready",
  );
  const running = opened.move();
  return {
    url: http.url,
    over: over.promise,
    reload: () => accounts.reloads.run(),
    stop: async () => {
      await running.disposeAsync();
      logger.info({}, "stopped");
    },
  };
}

/** What a frontend is told beside its settings. */
type Given = Pick<Foundation, "memory" | "scheduler" | "metrics"> & {
  readonly onBug: (error: Error) => void;
  /** Called with why when it cannot go on. */
  readonly onOver: (why: string) => void;
};

/** A frontend, and what it knows of its cluster. */
interface OpenFrontend {
  readonly frontend: Frontend;
  readonly directory: FollowedDirectory;
  readonly shards: number;
  readonly nodeName: string;
  readonly port: ClusterPort;
  readonly internal: InternalAccess;
  readonly certificates: RereadCertificates | undefined;
  /** Asked about their statements. */
  readonly others: AskedFrontends;
}

/** This process, for `information_schema.cluster_info`; where it listens is known later. */
function selfOf(id: string): Omit<ClusterNode, "address"> {
  return {
    id,
    role: "frontend",
    version: VERSION,
    startMillis: systemClock.nowMillis(),
    isDraining: false,
    cpuMillicores: availableParallelism() * 1000,
    totalMemoryBytes: machineMemoryBytes(),
  };
}

async function openFrontend(settings: Settings, log: RootLog, given: Given, opened: AsyncDisposableStack): Promise<OpenFrontend> {
  const { memory, scheduler, onBug, onOver } = given;
  const { port, internal, certificates, mirror, nodeName } = await openClusterParts(settings, "frontend", log, opened, onOver);
  const { shards } = mirror;
  const logger = log.logger("cluster");
  const directory = FollowedDirectory.follow({ leases: port.leases, timers: systemTimers, logger });
  opened.defer(() => directory.close());
  await begun(directory, systemTimers);
  const transport = new HttpTransport(credentialsOf(internal));
  opened.defer(() => transport.close());
  certificates?.use((tls) => transport.renew(credentialsOf({ ...internal, tls })));
  const opening: { frontend?: Frontend } = {}; // It is made of the client.
  const client = new NodeShardClient({
    shards,
    owners: directory,
    transport,
    log: port.log,
    clock: systemClock,
    onWentBack: (shard, why) => opening.frontend?.wentBack(shard, why),
  });
  const frontend = await Frontend.open({
    port,
    mirror,
    client,
    directory,
    consistency: settings.cluster.consistency,
    memory,
    clock: systemClock,
    sleep: (millis) => Bun.sleep(millis),
    scheduler,
    logger,
    stallMillis: settings.write.stallTimeoutMs,
    onBug,
  });
  opening.frontend = frontend;
  opened.defer(() => frontend.close());
  dropUnfinished(frontend, log.logger("main"));
  const others = new AskedFrontends({ self: nodeName, directory, transport, logger });
  return { frontend, directory, shards, nodeName, port, internal, certificates, others };
}

/** Begins to drop tables that a CREATE TABLE AS left half-way: by whom it was asked is gone long since. */
function dropUnfinished({ engine }: Frontend, logger: Logger): void {
  engine.dropUnfinished(systemClock.nowMillis() - UNFINISHED_MILLIS).catch((error: unknown) => {
    logger.warn({ error: errorText(error) }, "cannot drop tables that were left unfinished; tried again at the next start");
  });
}
