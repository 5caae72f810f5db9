/** The tools of the command line, in the order of the help. A tool is loaded when it is asked for: others and the server pay nothing. */
import type { Tool } from "./tool.ts";

export const TOOLS: readonly Tool[] = [
  {
    name: "check",
    summary: "Read all of a data directory and say what is damaged",
    load: async () => (await import("./check/check-command.ts")).program,
  },
  {
    name: "backup",
    summary: "Copy the store of a running server, as it is at one moment, to a folder or S3",
    load: async () => (await import("./backup/backup-command.ts")).program,
  },
  {
    name: "restore",
    summary: "Make a data directory of a backup",
    load: async () => (await import("./backup/restore-command.ts")).program,
  },
];
