/** How many statements a database has answered within one turn of the thread. */
import type { LocalDb } from "../../src/db/local-db.ts";

/** Counts from now on. */
export function countAtOnce(db: LocalDb): () => number {
  let count = 0;
  const noted = <T>(found: T): T => {
    if (found !== undefined) count++;
    return found;
  };
  const ofText = db.sqlAtOnce.bind(db);
  const ofPrepared = db.executeAtOnce.bind(db);
  db.sqlAtOnce = (...given) => noted(ofText(...given));
  db.executeAtOnce = (...given) => noted(ofPrepared(...given));
  return () => count;
}
