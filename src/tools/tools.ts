/** The tools of the command line, in the order of the help. A tool is loaded when it is asked for: others and the server pay nothing. */
import type { Tool } from "./tool.ts";

export const TOOLS: readonly Tool[] = [
  {
    name: "sql",
    summary: "asks a running server: a prompt on a terminal, statements from a pipe",
    load: async () => (await import("./sql/sql.ts")).sql,
  },
  {
    name: "export",
    summary: "writes tables, queries or whole databases of a running server into files",
    load: async () => (await import("./export/export.ts")).exportTool,
  },
  {
    name: "import",
    summary: "reads files or another server into a running server",
    load: async () => (await import("./import/import.ts")).importTool,
  },
  {
    name: "check",
    summary: "reads all of a data directory and says what is damaged",
    load: async () => (await import("./check/check-command.ts")).program,
  },
  {
    name: "backup",
    summary: "copies the store of a running server or cluster, as it is at one moment, to a folder or S3",
    load: async () => (await import("./backup/backup-command.ts")).program,
  },
  {
    name: "restore",
    summary: "makes a data directory, or a cluster, of a backup",
    load: async () => (await import("./backup/restore-command.ts")).program,
  },
  {
    name: "cluster",
    summary: "starts a cluster to try out; looks at one that runs, drains its nodes",
    load: async () => (await import("./cluster/cluster-command.ts")).cluster,
  },
  {
    name: "bench",
    summary: "measures this machine with a server of its own, for half a minute",
    load: async () => (await import("./bench/bench.ts")).bench,
  },
];
