/** What the server knows of itself and of the statements that run: for `information_schema`, SHOW PROCESSLIST and KILL. */

/** A statement that runs. */
export interface RunningStatement {
  /** Unique in the life of the process; of a cluster's frontend its name, "/" and a number. */
  readonly id: string;
  /** Name of the frontend that it runs on; empty in a process that is no part of a cluster. */
  readonly frontend: string;
  readonly database: string;
  /** Text of the request it came in, cut. */
  readonly query: string;
  /** Who sent it; empty when nobody says. */
  readonly client: string;
  /** Milliseconds since the epoch. */
  readonly startMillis: number;
}

/** A machine of a cluster, as the frontend that is asked knows it. */
export interface ClusterNode {
  /** Among those of its role. */
  readonly id: string;
  readonly role: "frontend" | "datanode";
  /** Where the cluster, or clients, reach it: "host:port". */
  readonly address: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startMillis: number;
  /** A data node that gives its shards away. */
  readonly isDraining: boolean;
  /** What the process takes, where it is known. */
  readonly memoryBytes?: number | undefined;
  /** Of the machine, where it is known. */
  readonly cpuMillicores?: number | undefined;
  readonly totalMemoryBytes?: number | undefined;
}

/** A shard of a cluster. */
export interface ClusterShard {
  readonly shard: number;
  /** The data node that has it; undefined: none has. */
  readonly nodeId: string | undefined;
  /** False: queries that need it wait. */
  readonly isServed: boolean;
}

/** What a frontend knows of its cluster at the moment. */
export interface ClusterFacts {
  readonly nodes: readonly ClusterNode[];
  /** All of them, by number in order. */
  readonly shards: readonly ClusterShard[];
}

/** See the file header. */
export interface SystemFacts {
  readonly version: string;
  /** Empty when the build does not know. */
  readonly commit: string;
  readonly branch: string;
  /** When the process started serving, milliseconds since the epoch. */
  readonly startMillis: number;
  /** Absent: this process is no part of a cluster. */
  readonly cluster?: () => ClusterFacts;
  /** Statements that run now and that the user may see, oldest first; in a cluster, of all frontends that answer. */
  statements(): readonly RunningStatement[] | Promise<readonly RunningStatement[]>;
  /**
   * Ends a statement, wherever it runs; false when there is none of that id.
   *
   * @throws DbError PermissionDenied for one that the user may not end; in a cluster InvalidArguments where no frontend of that name lives,
   *   StorageUnavailable where it does not answer
   */
  kill(id: string): boolean | Promise<boolean>;
}

/** The facts of a server that knows none: for tests and tools. */
export const NO_FACTS: SystemFacts = {
  version: "0.0.0",
  commit: "",
  branch: "",
  startMillis: 0,
  statements: () => [],
  kill: () => false,
};
