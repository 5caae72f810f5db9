/**
 * One data directory owns a place in a bucket: its meta store alone knows which files are needed; another server there would delete them.
 *
 *   <home>/store-id: a random name ─► object varve-owner, which must be new or the same
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { localFileStore } from "../local-file-store.ts";
import type { RemoteFileStore } from "../remote-file-store.ts";

/** The file of a data directory whose data files lie elsewhere. */
export const STORE_ID_NAME = "store-id";
const OWNER_NAME = "varve-owner";

/** Takes the place for a data directory, or finds that it has it. @throws DbError StorageUnavailable: another has it, or no answer */
export async function claimPlace(store: RemoteFileStore, home: string): Promise<void> {
  const path = join(home, STORE_ID_NAME);
  if (!existsSync(path)) {
    const writer = await localFileStore(home).create(STORE_ID_NAME);
    writer.write(new TextEncoder().encode(crypto.randomUUID()));
    await writer.finish();
  }
  await store.putFile(OWNER_NAME, path, statSync(path).size);
}

/** Lets pass a data directory all of whose files are its own. @throws DbError StorageUnavailable */
export function mustBeLocal(home: string): void {
  if (!existsSync(join(home, STORE_ID_NAME))) return;
  const why = `its data files lie in an S3 store: set storage.type to "S3"; if all of them are below data/, remove ${STORE_ID_NAME}`;
  throw new DbError(StatusCode.StorageUnavailable, `cannot open the data in ${home}: ${why}`);
}
