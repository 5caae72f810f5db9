/** How operators' commands reach a cluster: the settings of a part of it, as a file, the environment or flags have them. */
import { readFileSync } from "node:fs";
import { systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { RootLog } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type ClusterLook, ClusterLooker } from "../../cluster/nats/cluster-look.ts";
import { type ClusterStatus, readStatus } from "../../cluster/ownership/status.ts";
import { systemTimers } from "../../cluster/ownership/timers.ts";
import type { ClusterSettings } from "../../config/cluster-settings.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, type FlagValues, readFlags } from "../../config/flag.ts";
import { loadClusterSettings } from "../../config/load.ts";
import { type InternalAccess, internalAccessOf, natsAccessOf } from "../../config/nats-access.ts";
import type { ToolIo } from "../tool.ts";
import { OPERATOR_FLAGS } from "./operator-flags.ts";

/** What a command line asks, and of which cluster. */
export interface Asked {
  readonly flags: FlagValues;
  readonly settings: ClusterSettings;
}

/** What is known of a cluster at one moment. */
export interface ClusterView extends ClusterStatus, ClusterLook {}

/** Reads a command line. @param check looks at its words, before the cluster is looked for @throws ConfigError */
export function readAsked(
  args: readonly string[],
  more: readonly Flag[],
  { env }: ToolIo,
  check: (words: readonly string[]) => void = () => undefined,
): Asked {
  const flags = readFlags(args, [...OPERATOR_FLAGS, ...more]);
  check(flags.words);
  const named = OPERATOR_FLAGS.flatMap(({ name }) => {
    const value = flags.values.get(name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  const argv = ["frontend", "start", ...named];
  const settings = loadClusterSettings({ argv, env, readFile: (path) => readFileSync(path) });
  if (settings.servers.length === 0) {
    throw new ConfigError("which cluster? name its settings with -c, or servers of NATS with --metasrv-addrs", EXIT_USAGE);
  }
  return { flags, settings };
}

/** A connection to a cluster that looks at it. */
export class Operator {
  private readonly looker: ClusterLooker;

  private constructor(looker: ClusterLooker) {
    this.looker = looker;
  }

  /** @throws ConfigError, PortError unavailable */
  static async open(settings: ClusterSettings): Promise<Operator> {
    const { servers, credentials, tls, callMillis } = natsAccessOf(settings, (path) => readFileSync(path));
    const log = new RootLog({ level: "error", targets: new Map() }); // What goes wrong is told by the command itself.
    const name = `operator-${process.pid}`;
    const world = { logger: log.logger("cluster"), clock: systemClock };
    return new Operator(await ClusterLooker.open({ servers, credentials, tls, callMillis, name }, world));
  }

  async close(): Promise<void> {
    await this.looker.close();
  }

  /** @throws DbError StorageUnavailable: nobody answers, or there is no cluster here; PortError */
  async view(): Promise<ClusterView> {
    const look = await this.looker.look();
    const shards = [...look.streams.keys()].filter((name) => name.startsWith("LOG")).length;
    if (shards === 0 || !look.streams.has("LEASE")) {
      const why = `NATS server ${look.server.name} has none of its streams; no frontend and no data node was started yet`;
      throw new DbError(StatusCode.StorageUnavailable, `there is no cluster here: ${why}`);
    }
    const log = new RootLog({ level: "error", targets: new Map() });
    const status = await readStatus({ leases: this.looker.leases }, shards, { timers: systemTimers, logger: log.logger("cluster") });
    return { ...look, ...status };
  }
}

/** How to talk to the nodes themselves. @throws ConfigError */
export function nodeAccessOf(settings: ClusterSettings): InternalAccess {
  return internalAccessOf(settings, (path) => readFileSync(path));
}
