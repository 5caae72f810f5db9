/**
 * The catalogue of a cluster that is made anew out of a copy. Records in the logs name its versions, so it keeps the version V of the copy:
 *
 *   snapshot of version V - 1 with all entries, at number V - 1 ─► the change of version V, at number V: from then on there is a cluster
 *
 * The stream of changes has to begin with number V. The change says again how many shards there are, which the snapshot says, too.
 */
import { SHARDS_KEY } from "../../storage/meta-store/meta-store.ts";
import type { ListsPort } from "../meta-log/meta-log.ts";
import { putEntry } from "../meta-log/put-entry.ts";
import { type CatalogSnapshot, encodeEntry, encodeSnapshot } from "./catalog-entry.ts";
import { SNAPSHOTS } from "./catalog-snapshots.ts";

/** What it is made of. */
export interface CopiedCatalogue extends Pick<CatalogSnapshot, "catalogVersion" | "entries"> {
  readonly shards: number;
  /** Names the attempt: the same for each that may be gone on with. At most 64 characters. */
  readonly id: string;
}

/** Writes the snapshot: there is no cluster yet. @throws DbError as `putEntry` */
export async function putSnapshot(
  port: ListsPort,
  { catalogVersion, entries }: CopiedCatalogue,
  sleep: (millis: number) => Promise<void>,
): Promise<void> {
  const before = catalogVersion - 1;
  await putEntry(port, SNAPSHOTS, encodeSnapshot({ catalogVersion: before, number: before, entries }), 0, sleep);
}

/** Makes the last change: from then on there is a cluster. @throws DbError as `putEntry` */
export async function putLastChange(
  port: ListsPort,
  { catalogVersion: version, shards, id }: CopiedCatalogue,
  sleep: (millis: number) => Promise<void>,
): Promise<void> {
  await putEntry(port, "catalog", encodeEntry({ version, id, changes: [{ key: SHARDS_KEY, value: shards }] }), version - 1, sleep);
}
