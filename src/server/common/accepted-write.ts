/** What writes of every protocol ask before a row is read: who may write, to which database, with which hints. */
import type { IngestDb } from "../../db/db.ts";
import type { Session } from "../../db/session.ts";
import { type Hints, readHints } from "./hints.ts";
import { checkDatabase } from "./write-options.ts";

/** A request that may write. */
export interface AcceptedWrite {
  readonly session: Session;
  readonly hints: Hints;
}

/** Checks permission and database. @throws DbError PermissionDenied, DatabaseNotFound */
export function acceptedWrite(session: Session, headers: Headers, db: IngestDb): AcceptedWrite {
  db.authorize(session, "write");
  checkDatabase(session.database, db);
  return { session, hints: readHints(headers) };
}
