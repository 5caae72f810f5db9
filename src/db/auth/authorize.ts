import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Session } from "../session.ts";
import type { Action } from "./user.ts";

/** Lets pass what the user of a session may do. @throws DbError PermissionDenied */
export function authorize({ user: { mode } }: Session, action: Action): void {
  if (mode === "rw" || (mode === "ro" && action === "read") || (mode === "wo" && action === "write")) return;
  throw new DbError(StatusCode.PermissionDenied, "User is not authorized to perform this action");
}
