/**
 * A file store whose deletions are done sooner or later: one that fails is noted and tried again, since nothing waits for it. Files are
 * deleted when nobody names them any more, so one that stays does no harm, and the next start deletes it as well.
 */
import { errorText } from "../../base/error.ts";
import type { FileStore } from "./file-store.ts";

/** Most names that are remembered. Reason: memory; the next start finds the rest. */
const NAMES_MAX = 65_536;

/** What was left behind. */
export interface Leftovers {
  /** Files and folders that could not be deleted yet. */
  readonly count: number;
  /** Tries again; returns why the first one still fails, or undefined when nothing is left. Never rejects. */
  retry(): Promise<string | undefined>;
}

/** A store and what it could not delete. */
export interface LastingDeletes {
  readonly store: FileStore;
  readonly leftovers: Leftovers;
}

/** Wraps a store. `onFailure` hears of each deletion that has to be tried again. */
export function lastingDeletes(store: FileStore, onFailure: (reason: string) => void): LastingDeletes {
  /** Name → how to delete it. */
  const left = new Map<string, () => Promise<void>>();
  const attempt = async (name: string, work: () => Promise<void>): Promise<string | undefined> => {
    try {
      await work();
      left.delete(name);
      return undefined;
    } catch (error) {
      if (left.size < NAMES_MAX) left.set(name, work);
      return errorText(error);
    }
  };
  const surely = async (name: string, work: () => Promise<void>): Promise<void> => {
    const reason = await attempt(name, work);
    if (reason !== undefined) onFailure(reason);
  };
  return {
    store: {
      ...store,
      delete: (name) => surely(name, () => store.delete(name)),
      deleteFolder: (folder) => surely(`${folder}/`, () => store.deleteFolder(folder)),
    },
    leftovers: {
      get count() {
        return left.size;
      },
      async retry() {
        // One failure is enough to know that the disk is not well yet.
        for (const [name, work] of left) {
          const reason = await attempt(name, work);
          if (reason !== undefined) return reason;
        }
        return undefined;
      },
    },
  };
}
