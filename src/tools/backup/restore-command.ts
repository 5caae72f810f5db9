/** `varve restore TARGET --data-home D`. */
import { join } from "node:path";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, readFlags } from "../../config/flag.ts";
import { byteText } from "../common/byte-progress.ts";
import type { ToolProgram } from "../tool.ts";
import { helpText } from "../common/help.ts";
import { momentText, parseMoment } from "./moment.ts";
import { targetOf } from "./open-target.ts";
import { pickBackup, restoreBackup, verifyBackup } from "./restore-backup.ts";

const FLAGS: readonly Flag[] = [
  { name: "data-home", value: "<path>", help: "the data directory to make: it must not exist, or be empty" },
  { name: "wal-dir", value: "<path>", help: "where the server has wal.dir (default: <data-home>/wal)" },
  { name: "at", value: "<moment>", help: "restore the latest backup at or before it, e.g. 2026-01-31T10:20:30Z (UTC without a zone)" },
  { name: "backup", value: "<id>", help: "restore this one (varve backup --list TARGET)" },
  { name: "verify", help: "read all of the backup and restore nothing" },
  { name: "json", help: "print one JSON object" },
];

/** The program. */
export const program: ToolProgram = {
  flags: FLAGS,
  help: () =>
    helpText({
      about: `Makes a data directory of a backup that \`varve backup\` took.

All of the backup is read first and held against its checksums: a damaged or unfinished one is refused before anything is written. The
default is the latest backup. Backups are restored to their own moments: --at picks the latest one that is not younger, moments between two
backups cannot be had.`,
      usage: ["varve restore TARGET --data-home <path> [flags]", "varve restore TARGET --verify [flags]"],
      examples: [
        "varve restore /backups/varve --data-home /var/lib/varve",
        "varve restore /backups/varve --data-home /var/lib/varve --at 2026-01-31T10:20:30Z",
        "varve restore s3://bucket/varve --data-home /var/lib/varve --backup 20260131T102030123Z-1a2b3c4d",
        "varve restore /backups/varve --verify",
      ],
      flags: FLAGS,
      notes: ["Exit status: 0 done, 1 refused or failed (nothing is left at the data directory), 2 for a wrong command line."],
    }),
  async run(args, io) {
    const { values, words } = readFlags(args, FLAGS);
    const [text] = words;
    if (text === undefined || words.length > 1)
      throw new ConfigError("`restore` takes one TARGET: a folder or s3://bucket/prefix", EXIT_USAGE);
    const [home, id, at] = [values.get("data-home"), values.get("backup"), values.get("at")];
    const onlyVerifies = values.has("verify");
    if (home === undefined && !onlyVerifies) throw new ConfigError("`restore` needs --data-home: the data directory to make", EXIT_USAGE);
    if (id !== undefined && at !== undefined) throw new ConfigError("give either --at or --backup", EXIT_USAGE);
    const target = targetOf(text, io.env);
    const manifest = await pickBackup(target, { id, at: at === undefined ? undefined : parseMoment(at) });
    if (onlyVerifies || home === undefined) await verifyBackup(target, manifest, io);
    else await restoreBackup(target, manifest, { home, logFolder: values.get("wal-dir") ?? join(home, "wal") }, io);
    const bytes = manifest.files.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const moment = momentText(manifest.moment);
    if (values.has("json")) {
      const done = { id: manifest.id, moment, sequence: manifest.sequence, files: manifest.files.length, bytes, restored: !onlyVerifies };
      await io.out(`${JSON.stringify(done)}\n`);
      return 0;
    }
    const what = onlyVerifies ? "is whole" : `is restored to ${home}`;
    await io.out(`backup ${manifest.id} of ${moment} ${what}: ${manifest.files.length} files, ${byteText(bytes)}\n`);
    return 0;
  },
};
