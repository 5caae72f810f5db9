/** `varve backup TARGET`, `varve backup --list TARGET`. */
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, type FlagValues, readFlags } from "../../config/flag.ts";
import { byteText } from "../common/byte-progress.ts";
import { DATA_STORE_FLAG, dataStoreOf } from "../common/data-store.ts";
import type { ToolIo, ToolProgram } from "../tool.ts";
import { helpText } from "../common/help.ts";
import { counted } from "../common/shown.ts";
import { SERVER_FLAGS, serverOf } from "../common/server-flags.ts";
import { openClusterSource, partSettingsOf } from "./cluster/open-cluster.ts";
import { takeClusterBackup } from "./cluster/take-cluster-backup.ts";
import { type FoundBackup, findBackups, type Manifest } from "./manifest.ts";
import { momentText } from "./moment.ts";
import type { TakenBackup } from "./new-backup.ts";
import { targetOf } from "./open-target.ts";
import { serverClient } from "./server-client.ts";
import { takeBackup } from "./take-backup.ts";
import type { BackupTarget } from "./target.ts";

const FLAGS: readonly Flag[] = [
  { name: "list", help: "list the backups in TARGET instead of taking one" },
  { name: "json", help: "print one JSON object a backup" },
  {
    ...DATA_STORE_FLAG,
    help: 'the configuration of one of a cluster\'s data nodes, or of a server that says storage.type = "S3"; variables do, too',
  },
  ...SERVER_FLAGS.filter(({ name }) => name !== "db"), // A backup is of all databases.
];

/** The program. */
export const program: ToolProgram = {
  flags: FLAGS,
  help: () =>
    helpText({
      about: `Copies the whole store of a running server or cluster, as it is at one moment, while writes go on.

The backup has every write that was acknowledged before it began and none that was sent after it ended; it says its moment. A second backup
into the same target copies only files that the newest one there does not have. Run it on the server's machine, as the server's user: files
are read where the server has them, and the server keeps them in place meanwhile. Data files that lie in an S3 store are read from there.

Of a cluster: name the configuration of one of its data nodes (or have its variables), which says how to reach NATS and the files; no part
of the cluster is asked. The backup has every row that was acknowledged before its moment, and each shard as of a message of its log.`,
      usage: ["varve backup TARGET [flags]", "varve backup --list TARGET [--json]"],
      examples: [
        "varve backup /backups/varve",
        "AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_REGION=eu-central-1 varve backup s3://bucket/varve",
        "VARVE_PASSWORD=… varve backup /backups/varve --user admin --url https://127.0.0.1:4000",
        "varve backup /backups/cluster --config-file datanode.toml",
        "varve backup --list /backups/varve",
      ],
      flags: FLAGS,
      notes: [
        "TARGET is a folder, or s3://bucket/prefix: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and",
        "AWS_ENDPOINT_URL say how to reach it. The account needs mode rw. A backup can be restored to its moment, not to moments between",
        "two: take them as often as that matters. See varve restore.",
        "",
        "Exit status: 0 done, 1 failed (what was copied is deleted again, earlier backups are whole), 2 for a wrong command line.",
      ],
    }),
  async run(args, io) {
    const read = readFlags(args, FLAGS);
    const { values, words } = read;
    const [text] = words;
    if (text === undefined || words.length > 1)
      throw new ConfigError("`backup` takes one TARGET: a folder or s3://bucket/prefix", EXIT_USAGE);
    const target = targetOf(text, io.env);
    const isJson = values.has("json");
    if (values.has("list")) return await list(target, isJson, io);
    const { manifest, copiedFiles, copiedBytes } = await taken(read, target, io);
    if (isJson) {
      await io.out(`${JSON.stringify({ ...summaryOf(manifest), copiedFiles, copiedBytes })}\n`);
      return 0;
    }
    await io.out(`backup ${manifest.id} in ${target.text}
moment   ${momentText(manifest.moment)} (${ofText(manifest)})
files    ${manifest.files.length}, ${byteText(sizeOf(manifest))}; copied ${copiedFiles}, ${byteText(copiedBytes)}\n`);
    return 0;
  },
};

async function taken(read: FlagValues, target: BackupTarget, io: ToolIo): Promise<TakenBackup> {
  const configFile = read.values.get("config-file");
  const part = partSettingsOf(configFile, io.env);
  if (part === undefined) {
    return await takeBackup(target, serverClient(await serverOf(read, io)), io, dataStoreOf(configFile, io.env));
  }
  const named = SERVER_FLAGS.find(({ name }) => read.values.has(name));
  if (named !== undefined) {
    throw new ConfigError(`cannot use --${named.name}: the configuration is that of a cluster, none of whose parts is asked`, EXIT_USAGE);
  }
  const opened = await openClusterSource(part);
  try {
    return await takeClusterBackup(target, opened.source, io);
  } finally {
    await opened.close();
  }
}

async function list(target: BackupTarget, isJson: boolean, io: ToolIo): Promise<number> {
  const all = await findBackups(target);
  if (!isJson && all.length === 0) await io.out(`no backups in ${target.text}\n`);
  for (const found of all) await io.out(`${isJson ? JSON.stringify(rowOf(found)) : lineOf(found)}\n`);
  return 0;
}

function rowOf(found: FoundBackup): object {
  if (found.kind === "whole") return { ...summaryOf(found.manifest), state: found.kind };
  return found.kind === "damaged" ? { id: found.id, state: found.kind, why: found.why } : { id: found.id, state: found.kind };
}

function lineOf(found: FoundBackup): string {
  if (found.kind === "unfinished") return `${found.id}  not finished: delete it, unless a backup is being taken now`;
  if (found.kind === "damaged") return `${found.id}  damaged: ${found.why}`;
  const { id, moment, files, kind } = found.manifest;
  const what = kind === "cluster" ? `, a cluster of ${counted(found.manifest.shards, "shard")}` : "";
  return `${id}  ${momentText(moment)}  ${files.length} files, ${byteText(sizeOf(found.manifest))}${what}`;
}

function summaryOf(manifest: Manifest): object {
  const { id, moment, files } = manifest;
  const of = manifest.kind === "server" ? { sequence: manifest.sequence } : { until: momentText(manifest.until), shards: manifest.shards };
  return { id, moment: momentText(moment), ...of, files: files.length, bytes: sizeOf(manifest) };
}

/** What a manifest says beside its moment. */
function ofText(manifest: Manifest): string {
  if (manifest.kind === "server") return `log sequence ${manifest.sequence}`;
  return `a cluster of ${counted(manifest.shards, "shard")}; nothing in it is of after ${momentText(manifest.until)}`;
}

function sizeOf({ files }: Manifest): number {
  return files.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
