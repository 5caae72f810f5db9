/**
 * Who a request comes from (contract http.md 5.3–5.5).
 */
import type { Counter } from "prom-client";
import type { Clock } from "../../../base/clock.ts";
import { DbError } from "../../../base/error.ts";
import type { Logger } from "../../../base/log.ts";
import { DEFAULT_USER, type User, type UserProvider } from "../../../db/auth/user.ts";
import { Logins } from "../../common/logins.ts";
import { needsCredentials, readCredentials } from "./credentials.ts";

/** Outcome of a check. */
export type Verdict =
  /** `isTrusted`: it may be told of the server's own files and folders. */
  { readonly kind: "admitted"; readonly user: User; readonly isTrusted: boolean } | { readonly kind: "refused"; readonly error: DbError };

const EVERYONE: Verdict = { kind: "admitted", user: DEFAULT_USER, isTrusted: true };
const STRANGER: Verdict = { kind: "admitted", user: DEFAULT_USER, isTrusted: false };

/** What the check goes by. */
export interface AuthenticatorOptions {
  readonly provider: UserProvider | undefined;
  readonly publicAdmin: boolean;
  readonly logger: Logger;
  readonly clock: Clock;
}

export class Authenticator {
  private readonly publicAdmin: boolean;
  private readonly logins: Logins | undefined;

  constructor({ provider, publicAdmin, logger, clock }: AuthenticatorOptions, failures: Counter<"code">) {
    this.publicAdmin = publicAdmin;
    this.logins = provider === undefined ? undefined : new Logins(provider, logger, clock, failures);
  }

  /**
   * The user of a request. A failure of the provider itself is thrown, since it is no fault of the credentials. Where none are needed,
   * those that are sent all the same make a request trusted, and wrong ones do not refuse it.
   *
   * @param client address of the client, for the log
   */
  async authenticate(path: string, rawQuery: string, headers: Headers, client: () => string): Promise<Verdict> {
    const { publicAdmin, logins } = this;
    if (logins === undefined) return EVERYONE;
    const isNeeded = needsCredentials(path, publicAdmin);
    if (!isNeeded && publicAdmin) return EVERYONE;
    if (!isNeeded && headers.get("authorization") === null && headers.get("x-greptime-auth") === null) return STRANGER;
    const found = await logins.check(() => readCredentials(path, rawQuery, headers), path, client);
    if (!(found instanceof DbError)) return { kind: "admitted", user: found, isTrusted: true };
    return isNeeded ? { kind: "refused", error: found } : STRANGER;
  }
}
