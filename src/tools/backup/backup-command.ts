/** `varve backup TARGET`, `varve backup --list TARGET`. */
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, readFlags } from "../../config/flag.ts";
import { byteText } from "../common/byte-progress.ts";
import { DATA_STORE_FLAG, dataStoreOf } from "../common/data-store.ts";
import type { ToolIo, ToolProgram } from "../tool.ts";
import { helpText } from "../common/help.ts";
import { SERVER_FLAGS, serverOf } from "../common/server-flags.ts";
import { type FoundBackup, findBackups, type Manifest } from "./manifest.ts";
import { momentText } from "./moment.ts";
import { targetOf } from "./open-target.ts";
import { serverClient } from "./server-client.ts";
import { takeBackup } from "./take-backup.ts";
import type { BackupTarget } from "./target.ts";

const FLAGS: readonly Flag[] = [
  { name: "list", help: "list the backups in TARGET instead of taking one" },
  { name: "json", help: "print one JSON object a backup" },
  DATA_STORE_FLAG,
  ...SERVER_FLAGS.filter(({ name }) => name !== "db"), // A backup is of all databases.
];

/** The program. */
export const program: ToolProgram = {
  flags: FLAGS,
  help: () =>
    helpText({
      about: `Copies the whole store of a running server, as it is at one moment, while writes go on.

The backup has every write that was acknowledged before it began and none that was sent after it ended; it says its moment. A second backup
into the same target copies only files that the newest one there does not have. Run it on the server's machine, as the server's user: files
are read where the server has them, and the server keeps them in place meanwhile. Data files that lie in an S3 store are read from there.`,
      usage: ["varve backup TARGET [flags]", "varve backup --list TARGET [--json]"],
      examples: [
        "varve backup /backups/varve",
        "AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_REGION=eu-central-1 varve backup s3://bucket/varve",
        "VARVE_PASSWORD=… varve backup /backups/varve --user admin --url https://127.0.0.1:4000",
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
    const server = serverClient(await serverOf(read, io));
    const { manifest, copiedFiles, copiedBytes } = await takeBackup(target, server, io, dataStoreOf(values.get("config-file"), io.env));
    if (isJson) {
      await io.out(`${JSON.stringify({ ...summaryOf(manifest), copiedFiles, copiedBytes })}\n`);
      return 0;
    }
    await io.out(`backup ${manifest.id} in ${target.text}
moment   ${momentText(manifest.moment)} (log sequence ${manifest.sequence})
files    ${manifest.files.length}, ${byteText(sizeOf(manifest))}; copied ${copiedFiles}, ${byteText(copiedBytes)}\n`);
    return 0;
  },
};

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
  const { id, moment, files } = found.manifest;
  return `${id}  ${momentText(moment)}  ${files.length} files, ${byteText(sizeOf(found.manifest))}`;
}

function summaryOf(manifest: Manifest): object {
  const { id, moment, sequence, files } = manifest;
  return { id, moment: momentText(moment), sequence, files: files.length, bytes: sizeOf(manifest) };
}

function sizeOf({ files }: Manifest): number {
  return files.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
