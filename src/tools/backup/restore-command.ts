/** `varve restore TARGET --data-home D`, and of clusters `--config-file F`, `--demo D`. */
import { join } from "node:path";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, type FlagValues, readFlags } from "../../config/flag.ts";
import { byteText } from "../common/byte-progress.ts";
import type { ToolIo, ToolProgram } from "../tool.ts";
import { helpText } from "../common/help.ts";
import { openClusterPlace, type PartSettings, partSettingsOf } from "./cluster/open-cluster.ts";
import { restoreCluster } from "./cluster/restore-cluster.ts";
import { restoreDemo } from "./cluster/restore-demo.ts";
import type { Manifest } from "./manifest.ts";
import { momentText, parseMoment } from "./moment.ts";
import { targetOf } from "./open-target.ts";
import { pickBackup, restoreBackup, verifyBackup } from "./restore-backup.ts";
import type { BackupTarget } from "./target.ts";

const FLAGS: readonly Flag[] = [
  { name: "data-home", value: "<path>", help: "the data directory to make: it must not exist, or be empty" },
  { name: "wal-dir", value: "<path>", help: "where the server has wal.dir (default: <data-home>/wal)" },
  { name: "at", value: "<moment>", help: "restore the latest backup at or before it, e.g. 2026-01-31T10:20:30Z (UTC without a zone)" },
  { name: "backup", value: "<id>", help: "restore this one (varve backup --list TARGET)" },
  {
    name: "config-file",
    short: "c",
    value: "<file>",
    help: "of a cluster's backup: the configuration of a data node of the cluster to make",
  },
  { name: "demo", value: "<folder>", help: "of a cluster's backup: make what `varve cluster demo --data-home <folder>` then starts with" },
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
backups cannot be had.

The backup of a cluster makes a cluster: with NATS, and a place for files, where none is yet, and none of its parts running. Data nodes are
started with empty data homes afterwards.`,
      usage: [
        "varve restore TARGET --data-home <path> [flags]",
        "varve restore TARGET --config-file <file> [flags]    a cluster",
        "varve restore TARGET --demo <folder> [flags]         a cluster, for varve cluster demo",
        "varve restore TARGET --verify [flags]",
      ],
      examples: [
        "varve restore /backups/varve --data-home /var/lib/varve",
        "varve restore /backups/varve --data-home /var/lib/varve --at 2026-01-31T10:20:30Z",
        "varve restore s3://bucket/varve --data-home /var/lib/varve --backup 20260131T102030123Z-1a2b3c4d",
        "varve restore /backups/cluster --config-file datanode.toml",
        "varve restore /backups/cluster --demo ./restored",
        "varve restore /backups/varve --verify",
      ],
      flags: FLAGS,
      notes: ["Exit status: 0 done, 1 refused or failed (nothing is left where it would have been), 2 for a wrong command line."],
    }),
  async run(args, io) {
    const { values, words } = readFlags(args, FLAGS);
    const [text] = words;
    if (text === undefined || words.length > 1)
      throw new ConfigError("`restore` takes one TARGET: a folder or s3://bucket/prefix", EXIT_USAGE);
    const [id, at] = [values.get("backup"), values.get("at")];
    const onlyVerifies = values.has("verify");
    const place = onlyVerifies ? undefined : placeOf(values, io);
    if (id !== undefined && at !== undefined) throw new ConfigError("give either --at or --backup", EXIT_USAGE);
    const target = targetOf(text, io.env);
    const manifest = await pickBackup(target, { id, at: at === undefined ? undefined : parseMoment(at) });
    if (place === undefined) await verifyBackup(target, manifest, io);
    else await restored(target, manifest, place, io);
    const bytes = manifest.files.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const moment = momentText(manifest.moment);
    if (values.has("json")) {
      const of = manifest.kind === "server" ? { sequence: manifest.sequence } : { shards: manifest.shards };
      const done = { id: manifest.id, moment, ...of, files: manifest.files.length, bytes, restored: !onlyVerifies };
      await io.out(`${JSON.stringify(done)}\n`);
      return 0;
    }
    const what = onlyVerifies ? "is whole" : `is restored to ${place?.text}`;
    await io.out(`backup ${manifest.id} of ${moment} ${what}: ${manifest.files.length} files, ${byteText(bytes)}\n`);
    return 0;
  },
};

/** Where a backup goes. */
type Place = { readonly text: string } & (
  | { readonly kind: "directory"; readonly home: string; readonly logFolder: string }
  | { readonly kind: "cluster"; readonly settings: PartSettings }
  | { readonly kind: "demo"; readonly folder: string }
);

/** @throws ConfigError */
function placeOf(values: FlagValues["values"], { env }: ToolIo): Place {
  const [home, folder, configFile] = [values.get("data-home"), values.get("demo"), values.get("config-file")];
  if ([home, folder, configFile].filter((one) => one !== undefined).length > 1) {
    throw new ConfigError("give one of --data-home, --config-file and --demo: each is a place to restore to", EXIT_USAGE);
  }
  if (home !== undefined) return { kind: "directory", home, logFolder: values.get("wal-dir") ?? join(home, "wal"), text: home };
  if (folder !== undefined) return { kind: "demo", folder, text: `${folder}; start it with varve cluster demo --data-home ${folder}` };
  const settings = partSettingsOf(configFile, env);
  if (settings !== undefined) return { kind: "cluster", settings, text: `the cluster at ${settings.cluster.servers.join(", ")}` };
  const why = configFile === undefined ? "" : `; ${configFile} names no servers of NATS`;
  throw new ConfigError(
    `\`restore\` needs --data-home: the data directory to make; or, for the backup of a cluster, --config-file or --demo${why}`,
    EXIT_USAGE,
  );
}

/** @throws Error: nothing is restored */
async function restored(target: BackupTarget, manifest: Manifest, place: Place, io: ToolIo): Promise<void> {
  if (place.kind === "directory") {
    if (manifest.kind === "server") return await restoreBackup(target, manifest, place, io);
    throw new Error(
      `cannot restore ${manifest.id} to ${place.home}: it is of a cluster; give --config-file or --demo instead of --data-home`,
    );
  }
  if (manifest.kind === "server") {
    throw new Error(`cannot restore ${manifest.id} to ${place.text}: it is of a server, and makes a data directory: give --data-home`);
  }
  if (place.kind === "demo") return await restoreDemo(target, manifest, place.folder, io);
  const opened = await openClusterPlace(place.settings);
  try {
    await restoreCluster(target, manifest, opened.place, io);
  } finally {
    await opened.close();
  }
}
