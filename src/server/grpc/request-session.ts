/** Whoever a message of the native interface is from, and where it goes: by its RequestHeader, else by the metadata. */
import type { AuthHeader, RequestHeader } from "../../../proto/gen/greptime/v1/common_pb.js";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { User } from "../../db/auth/user.ts";
import type { Session } from "../../db/session.ts";
import type { Call } from "./call.ts";

/** The session of whoever a request's header names, else the metadata. @throws DbError of a login that fails */
export async function sessionOf(header: RequestHeader | undefined, call: Call): Promise<Session> {
  const scheme = header?.authorization?.authScheme;
  const user = await userOf(scheme, call);
  if (header === undefined) return call.session(user);
  return call.session(user, call.databaseOf(header), header.timezone);
}

function userOf(scheme: AuthHeader["authScheme"] | undefined, call: Call): Promise<User> {
  if (scheme?.case === "basic") return call.login(scheme.value.username, scheme.value.password);
  if (scheme?.case !== "token") return call.user();
  return call.checked(() => {
    throw new DbError(StatusCode.InvalidAuthHeader, "Unsupported http auth scheme, name: Token AuthScheme");
  });
}
