/** Where the data files of a server are that keeps them in a store: tools read its configuration for that. */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import type { Flag } from "../../config/flag.ts";
import { loadSettings } from "../../config/load.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import type { RemoteFileStore } from "../../storage/file-store/remote-file-store.ts";
import { openS3Files } from "../../storage/file-store/s3/open-s3-files.ts";

/** Names the server's configuration. */
export const DATA_STORE_FLAG: Flag = {
  name: "config-file",
  short: "c",
  value: "<file>",
  help: 'the server\'s configuration, where it says storage.type = "S3" (or VARVE__STORAGE__… variables do)',
};

/** Bytes that are read at once. */
const PIECE_BYTES: number = 4 * 1024 * 1024;

/** The store; undefined where files lie in the data directory. Nothing is written to it. @throws ConfigError */
export function dataStoreOf(
  configFile: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): RemoteFileStore | undefined {
  const argv = ["standalone", "start", ...(configFile === undefined ? [] : ["--config-file", configFile])];
  const startup = loadSettings({ argv, env, readFile: (path) => readFileSync(path) });
  if (startup.kind !== "start") throw new ConfigError("cannot read the server's configuration", EXIT_USAGE);
  const { storage } = startup.settings;
  return storage.type === "S3" ? openS3Files(storage, join(tmpdir(), "varve-tool")) : undefined;
}

/** The bytes of a file of a store. @throws DbError StorageUnavailable */
export async function* storePieces(store: FileStore, name: string): AsyncGenerator<Uint8Array> {
  const reader = await store.open(name);
  try {
    for (let at = 0; at < reader.byteLength; at += PIECE_BYTES) yield await reader.read(at, Math.min(PIECE_BYTES, reader.byteLength - at));
  } finally {
    reader.close();
  }
}
