/** The files that COPY and external tables reach: local ones below a folder, and objects of stores, told apart by the location's scheme. */
import type { FileAccess } from "../../table/file-access.ts";
import { localFiles } from "./local-files.ts";
import { s3Files, schemeOf } from "./s3-files.ts";
import { StoreNetwork } from "./store-network.ts";

/** Which files those are. */
export interface ExternalFileOptions {
  /** The folder that local paths are confined to. */
  readonly copyRoot: string;
  /** Entries of `storage.copy_endpoints`; none: no store is reached. */
  readonly copyEndpoints: readonly string[];
}

/** Files outside the database. */
export function externalFiles({ copyRoot, copyEndpoints }: ExternalFileOptions): FileAccess {
  return either(localFiles(copyRoot), s3Files(new StoreNetwork(copyEndpoints)));
}

function either(local: FileAccess, store: FileAccess): FileAccess {
  const homeOf = (location: string): FileAccess => {
    const scheme = schemeOf(location);
    return scheme === undefined || scheme === "file" ? local : store;
  };
  return {
    list: (location, connection) => homeOf(location).list(location, connection),
    open: (location, connection) => homeOf(location).open(location, connection),
    create: (location, connection) => homeOf(location).create(location, connection),
    until: (signal) => either(local.until(signal), store.until(signal)),
  };
}
