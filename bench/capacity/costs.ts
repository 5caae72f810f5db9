/** What things cost: measured where it says so, with the place; the rest is named as an assumption, to be replaced by what a user has. */

/** A figure and where it is from. */
export interface Cost {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  readonly source: string;
}

const CLUSTER = "design of the cluster, measured on 2 busy cores with one disk for all servers: a lower bound";
const ASSUMED = "assumed: have your own";

/** Their names. */
export type CostName =
  | "frontendSeconds"
  | "frontendRows"
  | "rowLogBytes"
  | "rowFileBytes"
  | "datanodeSeconds"
  | "datanodeLoad"
  | "datanodeCores"
  | "shardsANode"
  | "logSeconds"
  | "messageSeconds"
  | "logServerCores"
  | "logServerLoad"
  | "copies"
  | "diskFactor"
  | "diskBytes"
  | "diskLoad"
  | "syncMillis"
  | "messagesASync"
  | "networkMillis"
  | "streamBytes"
  | "requestRows"
  | "laneMessages"
  | "messageBytes"
  | "partBytes"
  | "merges"
  | "flushSeconds"
  | "filesAFlush"
  | "putPrice"
  | "storePrice"
  | "keptDays";

/** All of them. */
export const COSTS: Readonly<Record<CostName, Cost>> = {
  frontendSeconds: {
    value: 1.0,
    unit: "core·s a million rows",
    what: "a frontend decodes, splits by shard, encodes",
    source: "bench ingest",
  },
  frontendRows: { value: 700_000, unit: "rows/s", what: "a frontend takes, on one thread with room for peaks", source: "0.7 of the above" },
  rowLogBytes: { value: 13.1, unit: "B", what: "a row of 10 numbers and 10 tags in the log", source: "bench ingest" },
  rowFileBytes: { value: 3.3, unit: "B", what: "the same in files, merged", source: "bench ingest" },
  datanodeSeconds: { value: 0.5, unit: "core·s a million rows", what: "a data node takes, flushes, merges", source: "bench ingest" },
  datanodeLoad: { value: 0.25, unit: "of its cores", what: "that part of a data node; the rest is for queries", source: ASSUMED },
  datanodeCores: { value: 8, unit: "cores", what: "a data node has", source: ASSUMED },
  shardsANode: { value: 4, unit: "shards", what: "a data node owns", source: "default" },
  logSeconds: { value: 0.022, unit: "core·s a MiB", what: "three servers of NATS, three copies, large messages", source: CLUSTER },
  messageSeconds: { value: 0.0003, unit: "core·s", what: "the same, a message whatever its size", source: CLUSTER },
  logServerCores: { value: 4, unit: "cores", what: "a server of NATS has", source: ASSUMED },
  logServerLoad: { value: 0.5, unit: "of its cores", what: "so that elections and catching up find room", source: ASSUMED },
  copies: { value: 3, unit: "", what: "copies of each stream", source: "default" },
  diskFactor: { value: 1.26, unit: "B", what: "written to a disk for a byte of the log", source: CLUSTER },
  diskBytes: { value: 256, unit: "MiB/s", what: "a disk of the log writes with syncs", source: ASSUMED },
  diskLoad: { value: 0.7, unit: "of the time", what: "such a disk is busy, at most", source: ASSUMED },
  syncMillis: { value: 0.2, unit: "ms", what: "a sync of such a disk", source: "0.14 to 0.24 in bench/results" },
  messagesASync: { value: 7, unit: "messages", what: "of one stream share a sync, at most", source: CLUSTER },
  networkMillis: { value: 0.5, unit: "ms", what: "there and back between two machines", source: ASSUMED },
  streamBytes: { value: 46, unit: "MiB/s", what: "one stream takes, at least", source: CLUSTER },
  requestRows: { value: 10_000, unit: "rows", what: "a request of a client", source: "bench ingest" },
  laneMessages: { value: 4, unit: "messages", what: "of a frontend to a shard under way", source: "cluster/lanes" },
  messageBytes: { value: 1_048_576, unit: "B", what: "a message, at most", source: "cluster/lanes" },
  partBytes: { value: 8_388_608, unit: "B", what: "a part of an upload", source: "default" },
  merges: { value: 2, unit: "times", what: "a byte is written again by merges", source: "bench ingest" },
  flushSeconds: { value: 60, unit: "s", what: "between two flushes of a shard, or sooner when its memory is full", source: ASSUMED },
  filesAFlush: { value: 3, unit: "puts", what: "a flush, besides parts", source: ASSUMED },
  putPrice: { value: 5, unit: "$ a million", what: "puts of an S3 store", source: ASSUMED },
  storePrice: { value: 0.023, unit: "$ a GB and month", what: "its room", source: ASSUMED },
  keptDays: { value: 30, unit: "days", what: "rows are kept", source: ASSUMED },
};

/** Their figures alone. */
export type Figures = Readonly<Record<CostName, number>>;

/** The figures of the table, of the same names. */
export const FIGURES: Figures = Object.fromEntries(Object.entries(COSTS).map(([name, { value }]) => [name, value])) as Figures;
