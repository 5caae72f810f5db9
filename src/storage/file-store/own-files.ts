/** A file store of which nothing is deleted once it may be another's: what is there is for the new owner to judge. */
import type { FileStore } from "./file-store.ts";

/** Wraps a store. @param isOwn whether it is still ours; once it is not, deletions do nothing, without an error: nobody is to try again */
export function ownFiles(store: FileStore, isOwn: () => boolean): FileStore {
  return {
    ...store,
    delete: async (name) => {
      if (isOwn()) await store.delete(name);
    },
    deleteFolder: async (folder) => {
      if (isOwn()) await store.deleteFolder(folder);
    },
  };
}
