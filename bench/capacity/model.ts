/** What a cluster of a size needs: plain arithmetic over what things cost. What waits for what is `lanes.ts`. */
import type { Figures } from "./costs.ts";

/** What is asked. */
export interface Load {
  readonly nodes: number;
  readonly rowsPerSecond: number;
}

/** How a cluster is laid out. */
export interface Layout {
  /** Most shards, whatever the nodes. */
  readonly shardsMax: number;
  /** Shards of a table: those that a request has rows for, at most. */
  readonly spread: number;
  /** How long a lane gathers records before it sends a message; 0: it sends at once while it may. */
  readonly gatherMillis: number;
}

/** What a cluster needs for a load. */
export interface Needs extends Load {
  readonly shards: number;
  readonly frontends: number;
  readonly frontendCores: number;
  readonly datanodeCores: number;
  /** Whether the data nodes keep up, with room for queries. */
  readonly isEnough: boolean;
  /** Shards that a request has rows for. */
  readonly spread: number;
  /** Of rows, before copies, in MiB/s. */
  readonly logMiB: number;
  readonly shardMiB: number;
  /** Messages of all lanes, when each sends one for every gathering time. */
  readonly messagesPerSecond: number;
  readonly messageBytes: number;
  readonly logCores: number;
  readonly logServers: number;
  /** Why that many. */
  readonly logLimit: "copies" | "cores" | "disk";
  readonly diskMiB: number;
  readonly putsPerDay: number;
  readonly putDollarsPerDay: number;
  readonly storedTB: number;
  readonly storeDollarsPerMonth: number;
}

const MIB: number = 1024 * 1024;
const DAY_SECONDS = 86_400;

/** What a load needs in a layout. */
export function needsOf({ nodes, rowsPerSecond }: Load, { shardsMax, spread: spreadMax, gatherMillis }: Layout, figures: Figures): Needs {
  const shards = Math.min(1024, shardsMax, Math.max(4, Math.round(nodes * figures.shardsANode)));
  const spread = Math.min(shards, spreadMax);
  const millions = rowsPerSecond / 1e6;
  const frontends = Math.max(2, Math.ceil(rowsPerSecond / figures.frontendRows));
  const logBytes = rowsPerSecond * figures.rowLogBytes;
  const logMiB = logBytes / MIB;
  // A lane sends when it gathered for so long, or a request at a time where requests are rarer; a full message goes at once.
  const requests = rowsPerSecond / figures.requestRows;
  const byTime = gatherMillis === 0 ? Number.POSITIVE_INFINITY : (frontends * shards * 1000) / gatherMillis;
  const messagesPerSecond = Math.max(Math.min(requests * spread, byTime), logBytes / figures.messageBytes);
  const logCores = logMiB * figures.logSeconds + messagesPerSecond * figures.messageSeconds;
  const servers = {
    copies: figures.copies,
    cores: Math.ceil(logCores / (figures.logServerCores * figures.logServerLoad)),
    disk: serversForDisks(logMiB, messagesPerSecond, figures),
  };
  const logServers = Math.max(...Object.values(servers));
  const datanodeCores = millions * figures.datanodeSeconds;
  const fileBytes = rowsPerSecond * figures.rowFileBytes;
  const flushes = (shards * DAY_SECONDS) / figures.flushSeconds;
  const parts = (fileBytes * DAY_SECONDS * (1 + figures.merges)) / figures.partBytes;
  const putsPerDay = flushes * figures.filesAFlush + parts;
  const storedTB = (fileBytes * DAY_SECONDS * figures.keptDays) / 1e12;
  return {
    nodes,
    rowsPerSecond,
    shards,
    spread,
    frontends,
    frontendCores: millions * figures.frontendSeconds,
    datanodeCores,
    isEnough: datanodeCores <= nodes * figures.datanodeCores * figures.datanodeLoad && logMiB / shards <= figures.streamBytes,
    logMiB,
    shardMiB: logMiB / shards,
    messagesPerSecond,
    messageBytes: logBytes / messagesPerSecond,
    logCores,
    logServers,
    logLimit: (["copies", "cores", "disk"] as const).find((name) => servers[name] === logServers) ?? "copies",
    diskMiB: (logMiB * figures.copies * figures.diskFactor) / logServers,
    putsPerDay,
    putDollarsPerDay: (putsPerDay / 1e6) * figures.putPrice,
    storedTB,
    storeDollarsPerMonth: storedTB * 1000 * figures.storePrice,
  };
}

/**
 * How many servers there must be for their disks to be busy for `diskLoad` of the time at most, when as many messages as may share a sync
 * do: a disk that is busier shares more of them, which costs time of answers and no servers (`lanes.ts`).
 */
function serversForDisks(logMiB: number, messagesPerSecond: number, figures: Figures): number {
  const { copies, diskFactor, diskBytes, syncMillis, messagesASync, diskLoad } = figures;
  const writing = (logMiB * diskFactor) / diskBytes;
  const syncing = ((messagesPerSecond / messagesASync) * syncMillis) / 1000;
  return Math.ceil(((writing + syncing) * copies) / diskLoad);
}
