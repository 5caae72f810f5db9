/** The cluster of a data node's configuration, for its backups: to be read while it runs, or to be made where there is none yet. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { RootLog } from "../../../base/log.ts";
import { ClusterLooker } from "../../../cluster/nats/cluster-look.ts";
import type { LinkWorld } from "../../../cluster/nats/nats-link.ts";
import type { NatsOptions } from "../../../cluster/nats/nats-options.ts";
import { openNewNatsCluster } from "../../../cluster/nats/new-nats-cluster.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { loadPartSettings } from "../../../config/load.ts";
import { natsAccessOf } from "../../../config/nats-access.ts";
import type { Settings } from "../../../config/settings.ts";
import type { FileStore } from "../../../storage/file-store/file-store.ts";
import { localFileStore } from "../../../storage/file-store/local-file-store.ts";
import { openS3Files } from "../../../storage/file-store/s3/open-s3-files.ts";
import { eachAtOnce } from "../copy-file.ts";
import type { ClusterPlace } from "./restore-cluster.ts";
import { shardFolder } from "./paths.ts";
import type { ClusterSource } from "./take-cluster-backup.ts";

/** What of a configuration says which cluster, and where its files are. */
export type PartSettings = Pick<Settings, "cluster" | "storage">;

/** Folders of an S3 store that are asked for at once. */
const LISTS_AT_ONCE = 16;

/** The settings of a file and the environment, as a data node reads them; undefined: they name no cluster. @throws ConfigError */
export function partSettingsOf(
  configFile: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): PartSettings | undefined {
  const argv = ["datanode", "start", ...(configFile === undefined ? [] : ["--config-file", configFile])];
  const settings = loadPartSettings({ argv, env, readFile: (path) => readFileSync(path) });
  return settings.cluster.servers.length === 0 ? undefined : settings;
}

/** A running cluster; makes nothing. @throws ConfigError; PortError; Error: there is none */
export async function openClusterSource(settings: PartSettings): Promise<{ readonly source: ClusterSource; close(): Promise<void> }> {
  const files = openFiles(settings, "back up");
  const { servers, credentials, tls, callMillis } = natsOptionsOf(settings);
  const looker = await ClusterLooker.open({ servers, credentials, tls, callMillis, name: identity() }, world());
  const close = async (): Promise<void> => {
    await looker.close();
    files.close();
  };
  try {
    const { streams, server } = await looker.look();
    const shards = [...streams.keys()].filter((name) => name.startsWith("LOG")).length;
    if (shards === 0 || !streams.has("MANIFEST") || !streams.has("CATALOG")) {
      throw new Error(`there is no cluster here: NATS server ${server.name} has none of its streams`);
    }
    const sleep = (millis: number): Promise<void> => Bun.sleep(millis);
    const source = { port: looker.kept, shards, files: files.store, folder: settings.cluster.sharedDir, clock: systemClock, sleep };
    return { source, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where a cluster is to be made. @throws ConfigError; PortError */
export async function openClusterPlace(settings: PartSettings): Promise<{ readonly place: ClusterPlace; close(): Promise<void> }> {
  const files = openFiles(settings, "restore to");
  const cluster = await openNewNatsCluster(natsOptionsOf(settings), world());
  const { store: filesStore, text: filesText, someFile } = files;
  const sleep = (millis: number): Promise<void> => Bun.sleep(millis);
  return {
    place: { cluster, shards: settings.cluster.shards, files: filesStore, filesText, someFile, sleep },
    close: async () => {
      await cluster.close();
      files.close();
    },
  };
}

interface OpenFiles extends Pick<ClusterPlace, "someFile"> {
  readonly store: FileStore;
  readonly text: string;
  close(): void;
}

/** @throws ConfigError: the settings do not say where data files are */
function openFiles({ cluster, storage }: PartSettings, what: string): OpenFiles {
  const { sharedDir } = cluster;
  if (sharedDir !== undefined) {
    const someFile = async (): Promise<string | undefined> => someShardFolder(sharedDir);
    return { store: localFileStore(sharedDir), text: sharedDir, someFile, close: () => undefined };
  }
  if (storage.type !== "S3") {
    throw new ConfigError(
      `cannot ${what} a cluster by a configuration that does not say where its data files are: name that of a data node, ` +
        'with `cluster.shared_dir`, or `storage.type` "S3" and its keys',
    );
  }
  const scratch = mkdtempSync(join(tmpdir(), "varve-tool-"));
  const store = openS3Files(storage, scratch);
  const someFile = async (shards: number): Promise<string | undefined> => {
    let found: string | undefined;
    await eachAtOnce(
      Array.from({ length: shards }, (_, shard) => shardFolder(shard)),
      LISTS_AT_ONCE,
      async (folder) => {
        found ??= (await store.lengths(folder)).keys().next().value;
      },
    );
    return found;
  };
  const text = `s3://${storage.bucket ?? ""}/${storage.root ?? ""}`;
  return { store, text, someFile, close: () => rmSync(scratch, { recursive: true, force: true }) };
}

/** A shard's folder in a folder of data files; undefined: there is none. @throws Error */
export function someShardFolder(folder: string): string | undefined {
  try {
    return readdirSync(folder).find((name) => /^shard-\d{4}$/.test(name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function natsOptionsOf({ cluster }: PartSettings): NatsOptions {
  return { ...natsAccessOf(cluster, (path) => readFileSync(path)), identity: identity() };
}

function identity(): string {
  return `backup-${process.pid}`;
}

function world(): LinkWorld {
  const log = new RootLog({ level: "error", targets: new Map() }); // What goes wrong is told by the command itself.
  return { logger: log.logger("cluster"), clock: systemClock };
}
