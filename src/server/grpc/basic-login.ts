/** Who calls, as the metadata says it (contract query.md 5.5): Basic, or its base64 alone. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { decodeBasic, readBasic, refuseBearer } from "../common/basic-credentials.ts";
import type { Login } from "../common/logins.ts";

/** The login of a call's metadata. @throws DbError AuthHeaderNotFound, InvalidAuthHeader, UserPasswordMismatch (bearer) */
export function basicLoginOf(headers: Headers): Login {
  const header = headers.get("x-greptime-auth") ?? headers.get("authorization");
  if (header === null) throw new DbError(StatusCode.AuthHeaderNotFound, "Not found http or grpc authorization header");
  refuseBearer(header);
  return header.includes(" ") ? readBasic(header) : decodeBasic(header);
}
