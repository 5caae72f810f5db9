/** What the server knows of itself and of the statements that run: for `information_schema`, SHOW PROCESSLIST and KILL. */

/** A statement that runs. */
export interface RunningStatement {
  /** Unique in the life of the process. */
  readonly id: string;
  readonly database: string;
  /** Text of the request it came in, cut. */
  readonly query: string;
  /** Who sent it; empty when nobody says. */
  readonly client: string;
  /** Milliseconds since the epoch. */
  readonly startMillis: number;
}

/** See the file header. */
export interface SystemFacts {
  readonly version: string;
  /** Empty when the build does not know. */
  readonly commit: string;
  readonly branch: string;
  /** When the process started serving, milliseconds since the epoch. */
  readonly startMillis: number;
  /** Statements that run now and that the user may see, oldest first. */
  statements(): readonly RunningStatement[];
  /** Ends a statement; false when there is none of that id. @throws DbError PermissionDenied for one that the user may not end */
  kill(id: string): boolean;
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
