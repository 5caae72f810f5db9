/** Flags of the commands that ask a running cluster, apart from their program: the help shows them without loading it. */
import type { Flag } from "../../config/flag.ts";

/** Flags of all of them. */
export const OPERATOR_FLAGS: readonly Flag[] = [
  {
    name: "config-file",
    short: "c",
    value: "<file>",
    help: "settings of a part of the cluster: its [cluster] is read; VARVE__CLUSTER__… do, too",
  },
  { name: "metasrv-addrs", aliases: ["servers"], value: "<nats://host:port,…>", help: "servers of NATS, where no settings name them" },
];

/** Flags of `status`. */
export const STATUS_FLAGS: readonly Flag[] = [{ name: "json", help: "status: as JSON, for programs" }];
