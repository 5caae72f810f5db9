/** The files that COPY and external tables reach: local ones below a folder, and objects of stores, told apart by the location's scheme. */
import type { FileAccess } from "../../table/file-access.ts";
import { localFiles } from "./local-files.ts";
import { s3Files, schemeOf } from "./s3-files.ts";

/** Files outside the database. @param copyRoot the folder that local paths are confined to */
export function externalFiles(copyRoot: string): FileAccess {
  const local = localFiles(copyRoot);
  const store = s3Files();
  const homeOf = (location: string): FileAccess => {
    const scheme = schemeOf(location);
    return scheme === undefined || scheme === "file" ? local : store;
  };
  return {
    list: (location, connection) => homeOf(location).list(location, connection),
    open: (location, connection) => homeOf(location).open(location, connection),
    create: (location, connection) => homeOf(location).create(location, connection),
  };
}
