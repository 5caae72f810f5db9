/**
 * Who a request comes from (contract http.md 5.3–5.5).
 */
import type { Counter } from "prom-client";
import type { Clock } from "../../../base/clock.ts";
import { DbError } from "../../../base/error.ts";
import type { Logger } from "../../../base/log.ts";
import { Seldom } from "../../../base/seldom.ts";
import { StatusCode, statusNameOf } from "../../../base/status-code.ts";
import { DEFAULT_USER, type User, type UserProvider } from "../../../db/auth/user.ts";
import { needsCredentials, readCredentials } from "./credentials.ts";
import { LOGIN_FAILURES_LOGGED_MAX, LOGIN_FAILURES_WINDOW_MILLIS } from "../limits.ts";

/** Outcome of a check. */
export type Verdict =
  /** `isTrusted`: it may be told of the server's own files and folders. */
  { readonly kind: "admitted"; readonly user: User; readonly isTrusted: boolean } | { readonly kind: "refused"; readonly error: DbError };

const EVERYONE: Verdict = { kind: "admitted", user: DEFAULT_USER, isTrusted: true };
const STRANGER: Verdict = { kind: "admitted", user: DEFAULT_USER, isTrusted: false };

/** Characters of a name that the log repeats. */
const SHOWN_CHARACTERS_MAX = 64;

/** What the check goes by. */
export interface AuthenticatorOptions {
  readonly provider: UserProvider | undefined;
  readonly publicAdmin: boolean;
  readonly logger: Logger;
  readonly clock: Clock;
}

export class Authenticator {
  private readonly options: AuthenticatorOptions;
  private readonly failures: Counter<"code">;
  private readonly lines: Seldom;

  constructor(options: AuthenticatorOptions, failures: Counter<"code">) {
    this.options = options;
    this.failures = failures;
    this.lines = new Seldom(options.clock, LOGIN_FAILURES_LOGGED_MAX, LOGIN_FAILURES_WINDOW_MILLIS);
  }

  /**
   * The user of a request. A failure of the provider itself is thrown, since it is no fault of the credentials. Where none are needed,
   * those that are sent all the same make a request trusted, and wrong ones do not refuse it.
   *
   * @param client address of the client, for the log
   */
  async authenticate(path: string, rawQuery: string, headers: Headers, client: () => string): Promise<Verdict> {
    const { provider, publicAdmin } = this.options;
    if (provider === undefined) return EVERYONE;
    const isNeeded = needsCredentials(path, publicAdmin);
    if (!isNeeded && publicAdmin) return EVERYONE;
    if (!isNeeded && headers.get("authorization") === null && headers.get("x-greptime-auth") === null) return STRANGER;
    let name: string | undefined;
    try {
      const credentials = readCredentials(path, rawQuery, headers);
      ({ name } = credentials);
      return { kind: "admitted", user: await provider.authenticate(name, credentials.password), isTrusted: true };
    } catch (error) {
      if (!(error instanceof DbError) || error.code === StatusCode.Internal || error.code === StatusCode.Unknown) throw error;
      this.failures.inc({ code: statusNameOf(error.code) });
      this.tell(error, name, path, client);
      return isNeeded ? { kind: "refused", error } : STRANGER;
    }
  }

  /** Who was refused, a few times a minute: with the name that was sent, and nothing else that was. */
  private tell({ code }: DbError, name: string | undefined, path: string, client: () => string): void {
    const unsaid = this.lines.take();
    if (unsaid === undefined) return;
    const user = name === undefined ? {} : { user: name.slice(0, SHOWN_CHARACTERS_MAX).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?") };
    const others = unsaid === 0 ? {} : { unsaid };
    this.options.logger.warn(
      { client: client(), path: path.slice(0, 200), code: statusNameOf(code), ...user, ...others },
      "a login failed",
    );
  }
}
