/** The meta store with its failures noted: a full or failing disk shows, and clients are told when to come back. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type Commits, NOTHING_TO_TAKE } from "../schema/commits.ts";
import type { Troubles } from "../../base/process/troubles.ts";
import { Fenced, type MetaStore } from "../../storage/meta-store/meta-store.ts";

/** After how many seconds a refused client should come back. */
const RETRY_AFTER_SECONDS = 5;
/** Entry that `probe` writes and takes away. */
const PROBE_KEY = "probe";

/** Wraps a store: what it throws is what the store throws, with the time to come back. */
export function watchedMetaStore(meta: MetaStore, troubles: Troubles): MetaStore {
  const noted = (error: unknown): unknown => {
    if (!(error instanceof DbError) || error.code !== StatusCode.StorageUnavailable || error instanceof Fenced) return error;
    troubles.failed("metadata", error.message);
    const { code, details, message } = error;
    return new DbError(code, message, { cause: error, retryAfterSeconds: error.retryAfterSeconds ?? RETRY_AFTER_SECONDS, details });
  };
  const later = async (answer: Promise<void>): Promise<void> => {
    try {
      await answer;
    } catch (error) {
      throw noted(error);
    }
    troubles.works("metadata");
  };
  return {
    get: (key) => meta.get(key),
    list: (prefix) => meta.list(prefix),
    commit(changes) {
      let answer: void | Promise<void>;
      try {
        answer = meta.commit(changes);
      } catch (error) {
        throw noted(error);
      }
      if (answer instanceof Promise) return later(answer);
      troubles.works("metadata");
      return undefined;
    },
    async settled() {
      try {
        await meta.settled();
      } catch (error) {
        throw noted(error);
      }
    },
    secure() {
      try {
        meta.secure();
      } catch (error) {
        throw noted(error);
      }
    },
    copyTo: (path) => meta.copyTo(path),
    close: () => meta.close(),
  };
}

/** Writes to a store that failed, so that its trouble ends although nobody else commits. Never throws. */
export async function probeMetaStore(commits: Commits): Promise<void> {
  try {
    await commits.make(() => [{ key: PROBE_KEY, value: true }], NOTHING_TO_TAKE);
    await commits.make(() => [{ key: PROBE_KEY, value: undefined }], NOTHING_TO_TAKE);
  } catch (error) {
    if (!(error instanceof DbError)) throw error; // Its trouble goes on, and was noted.
  }
}
