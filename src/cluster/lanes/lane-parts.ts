/** What a lane is made of, and what it counts. */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import type { LaneMemory } from "./lane-memory.ts";

/** Bytes of messages that lanes keep once they are acknowledged. */
export interface KeptBytes {
  bytes: number;
}

/** What a lane works with. */
export interface ShardLaneParts {
  readonly shard: number;
  readonly port: Pick<ClusterPort, "log" | "messageBytesMax">;
  readonly clock: Clock;
  readonly sleep: (millis: number) => Promise<void>;
  readonly logger: Logger;
  /** How far the catalogue has come that records are made by. */
  readonly catalogVersion: () => number;
  /** Of all lanes of the process. */
  readonly memory: LaneMemory;
  /** Why writers should wait for the shard's owner; undefined: they need not. */
  readonly lag: () => string | undefined;
  /** How long `admit` waits. */
  readonly stallMillis: number;
  /** How long records are sent again. Default: `WAIT_MILLIS`. */
  readonly waitMillis?: number;
  /** Most bytes of its records. Default: `LANE_BYTES_MAX`. */
  readonly bytesMax?: number;
  /** Most bytes of messages that are kept once they are acknowledged. Default: `LANE_KEPT_BYTES_MAX`. */
  readonly keptBytesMax?: number;
  /** Counts these bytes of all lanes. */
  readonly kept?: KeptBytes;
}

/** What a lane has done since it began. */
export interface LaneCounts {
  /** Acknowledged. */
  records: number;
  /** Bytes of records that were acknowledged, as they were appended. */
  bytes: number;
  /** Messages that were stored, parts too, and answered in time. */
  messages: number;
  /** Records that were sent again. */
  resends: number;
  /** Acknowledged records that were sent again, since the log had lost some. */
  restored: number;
  /** Records that were given up. */
  failures: number;
  /** Writers that had to wait. */
  waits: number;
}
