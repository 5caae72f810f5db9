/**
 * Who a request comes from (contract http.md 5.3–5.5).
 */
import type { Counter } from "prom-client";
import { DbError } from "../../base/error.ts";
import { StatusCode, statusNameOf } from "../../base/status-code.ts";
import { DEFAULT_USER, type User, type UserProvider } from "../../db/auth/user.ts";
import { needsCredentials, readCredentials } from "./credentials.ts";

/** Outcome of a check. */
export type Verdict = { readonly kind: "admitted"; readonly user: User } | { readonly kind: "refused"; readonly error: DbError };

const EVERYONE: Verdict = { kind: "admitted", user: DEFAULT_USER };

export class Authenticator {
  private readonly provider: UserProvider | undefined;
  private readonly publicAdmin: boolean;
  private readonly failures: Counter<"code">;

  constructor(provider: UserProvider | undefined, publicAdmin: boolean, failures: Counter<"code">) {
    this.provider = provider;
    this.publicAdmin = publicAdmin;
    this.failures = failures;
  }

  /** The user of a request. A failure of the provider itself is thrown, since it is no fault of the credentials. */
  async authenticate(path: string, rawQuery: string, headers: Headers): Promise<Verdict> {
    if (this.provider === undefined || !this.applies(path)) return EVERYONE;
    try {
      const { name, password } = readCredentials(path, rawQuery, headers);
      return { kind: "admitted", user: await this.provider.authenticate(name, password) };
    } catch (error) {
      if (!(error instanceof DbError) || error.code === StatusCode.Internal || error.code === StatusCode.Unknown) throw error;
      this.failures.inc({ code: statusNameOf(error.code) });
      return { kind: "refused", error };
    }
  }

  private applies(path: string): boolean {
    return needsCredentials(path, this.publicAdmin);
  }
}
