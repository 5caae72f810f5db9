/**
 * Where changes of the catalogue are agreed on: one order of changes, each made on the version before it. On one machine that is the meta
 * store, which takes them at once; where others change the catalogue as well, it takes its time, and somebody else's change may be first.
 */
import type { MetaChange, MetaStore } from "../../storage/meta-store/meta-store.ts";
import { physicalTableOf } from "../../table/metric.ts";
import { fileKey, flushedKey, tableKey, uncleanKey } from "./meta-codec.ts";
import type { Commits } from "./commits.ts";
import type { Shards } from "./shards.ts";
import type { SchemaStore } from "./schema-store.ts";

/** "outdated": nothing was changed, since the version was not the newest any more. */
export type CatalogAnswer = "taken" | "outdated";

/** See the file header. */
export interface CatalogPort {
  /**
   * Changes entries (`database/`, `table/`, `view/`, `next/table`), all or none, if `version` changes and no more were taken before. When
   * it has answered, the follower has been told of all changes up to there, this one among them if it was taken. Answered at once where
   * it can be: then nothing waits.
   *
   * @throws DbError StorageUnavailable, at once or as a rejection; whether it was taken shows by what is followed
   */
  commit(changes: readonly MetaChange[], version: number): CatalogAnswer | Promise<CatalogAnswer>;
  /** Sets who is told of each change that was taken, in order, whoever made it. */
  listen(follow: (changes: readonly MetaChange[]) => void): void;
  /** Ends: nobody is told of anything any more, and what is under way is answered with StorageUnavailable. */
  close(): Promise<void>;
}

/** A catalogue that other processes have, too: an engine's meta store then holds only what storage keeps. */
export interface CatalogueElsewhere {
  /** As they are at `version`. Read in the turn in which the port is listened to, so that no change comes between. */
  readonly entries: Pick<MetaStore, "get" | "list">;
  /** How many changes have made the entries: the same number in all processes, and one more with each that is told of. */
  readonly version: number;
  /** One engine's. */
  readonly port: CatalogPort;
}

/** The catalogue in a meta store that nobody else changes. What storage keeps of a table in the same store goes with it, in one commit. */
export function localCatalog(meta: MetaStore, commits: Commits, schemas: SchemaStore, shards: Shards): CatalogPort {
  let tell: (changes: readonly MetaChange[]) => void = () => undefined;
  return {
    commit(changes, version) {
      const made = commits.make(
        () => (version === schemas.version ? changes.flatMap((change) => withStorage(change, meta, schemas, shards)) : undefined),
        () => {
          tell(changes);
          return "taken" as const;
        },
      );
      return made instanceof Promise ? made.then((answer) => answer ?? "outdated") : (made ?? "outdated");
    },
    listen(follow) {
      tell = follow;
    },
    close: () => Promise.resolve(),
  };
}

/** A change, and what it is to the entries of the table's storage. */
function withStorage(change: MetaChange, meta: MetaStore, schemas: SchemaStore, shards: Shards): readonly MetaChange[] {
  const schema = change.value === undefined ? schemas.schemaOfKey(change.key) : undefined;
  if (schema === undefined || change.key !== tableKey(schema.id)) return [change];
  const physical = physicalTableOf(schema);
  if (physical !== undefined) {
    const carrier = schemas.schema(schema.database, physical);
    const regions = carrier === undefined ? [] : shards.regionsOf(carrier.id);
    return [change, ...regions.map((id): MetaChange => ({ key: uncleanKey(id), value: true }))];
  }
  const keys = shards
    .regionsOf(schema.id)
    .flatMap((id) => [flushedKey(id), uncleanKey(id), ...meta.list(fileKey(id)).map(({ key }) => key)]);
  return [change, ...keys.map((key): MetaChange => ({ key, value: undefined }))];
}
