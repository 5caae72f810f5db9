import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import type { StatementNeeds } from "../query/statement-needs.ts";
import type { Session } from "./session.ts";
import type { Action, User } from "./auth/user.ts";

/** Whether an account may do something. */
export function may({ mode }: User, action: Action): boolean {
  return mode === "rw" || (mode === "ro" && action === "read") || (mode === "wo" && action === "write");
}

/** Lets pass what the user of a session may do. @throws DbError PermissionDenied */
export function authorize({ user }: Session, action: Action): void {
  if (!may(user, action)) throw new DbError(StatusCode.PermissionDenied, "User is not authorized to perform this action");
}

/** Lets pass a statement all of whose needs the user may do; they are computed only where it matters. @throws DbError PermissionDenied */
export function authorizeStatement(session: Session, needs: () => StatementNeeds): void {
  if (session.user.mode === "rw") return;
  const { reads, writes } = needs();
  if (reads) authorize(session, "read");
  if (writes) authorize(session, "write");
}
