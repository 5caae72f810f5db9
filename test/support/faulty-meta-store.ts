/** A meta store whose commits fail as a test says, over any other store. */
import { DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import type { MetaStore } from "../../src/storage/meta-store/meta-store.ts";
import { Faults } from "./faults.ts";

/**
 * Calls that can fail. `commit` fails before anything is changed; `commit-unknown` changes everything and then says that it failed, as a
 * disk does that loses power while it syncs; `settled` fails after a commit that is in force here.
 */
export type MetaStoreCall = "get" | "list" | "commit" | "commit-unknown" | "settled" | "secure";

/** A store and what it does wrong. */
export interface FaultyMetaStore extends MetaStore {
  readonly faults: Faults<MetaStoreCall>;
}

/** Puts faults around the calls of `store`. */
export function faultyMetaStore(store: MetaStore): FaultyMetaStore {
  const faults = new Faults<MetaStoreCall>();
  const check = (call: MetaStoreCall, verb: string): void => {
    const why = faults.next(call);
    if (why !== undefined) throw new DbError(StatusCode.StorageUnavailable, `cannot ${verb} the meta store: ${why}`);
  };
  return {
    faults,
    get(key) {
      check("get", "read");
      return store.get(key);
    },
    list(prefix) {
      check("list", "read");
      return store.list(prefix);
    },
    commit(changes) {
      check("commit", "write");
      const answer = store.commit(changes);
      if (answer instanceof Promise) return answer.then(() => check("commit-unknown", "write"));
      return check("commit-unknown", "write");
    },
    async settled() {
      await faults.pass();
      check("settled", "write");
      await store.settled();
    },
    secure() {
      check("secure", "write");
      store.secure();
    },
    copyTo: (path) => store.copyTo(path),
    close: () => store.close(),
  };
}
