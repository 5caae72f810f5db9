/** Names and passwords held against the user provider, by every protocol: failures are counted, and logged a few times a minute. */
import type { Counter } from "prom-client";
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { Seldom } from "../../base/process/seldom.ts";
import { StatusCode, statusNameOf } from "../../base/status-code.ts";
import type { User, UserProvider } from "../../db/auth/user.ts";
import { LOGIN_FAILURES_LOGGED_MAX, LOGIN_FAILURES_WINDOW_MILLIS } from "./limits.ts";

/** Characters of a name, and of a path, that the log repeats. */
const SHOWN_CHARACTERS_MAX = 64;
const SHOWN_PATH_MAX = 200;

/** What a client sent to say who it is. */
export interface Login {
  readonly name: string;
  readonly password: string;
}

/** See the file header. */
export class Logins {
  private readonly provider: UserProvider;
  private readonly logger: Logger;
  private readonly failures: Counter<"code">;
  private readonly lines: Seldom;

  constructor(provider: UserProvider, logger: Logger, clock: Clock, failures: Counter<"code">) {
    this.provider = provider;
    this.logger = logger;
    this.failures = failures;
    this.lines = new Seldom(clock, LOGIN_FAILURES_LOGGED_MAX, LOGIN_FAILURES_WINDOW_MILLIS);
  }

  /**
   * The user, or why it is refused. A failure of the provider itself is thrown, since it is no fault of the credentials.
   *
   * @param read what the client sent; an error that it throws refuses
   * @param path of HTTP its path; of others the protocol
   * @param client address of the client, for the log
   */
  async check(read: () => Login, path: string, client: () => string): Promise<User | DbError> {
    let name: string | undefined;
    try {
      const login = read();
      ({ name } = login);
      return await this.provider.authenticate(login.name, login.password);
    } catch (error) {
      if (!(error instanceof DbError) || error.code === StatusCode.Internal || error.code === StatusCode.Unknown) throw error;
      this.refused(error, name, path, client);
      return error;
    }
  }

  /** Counts and logs a login that was refused elsewhere. @param name that was sent */
  refused(error: DbError, name: string | undefined, path: string, client: () => string): void {
    this.failures.inc({ code: statusNameOf(error.code) });
    this.tell(error, name, path, client);
  }

  /** Who was refused: with the name that was sent, and nothing else that was. */
  private tell({ code }: DbError, name: string | undefined, path: string, client: () => string): void {
    const unsaid = this.lines.take();
    if (unsaid === undefined) return;
    const user = name === undefined ? {} : { user: name.slice(0, SHOWN_CHARACTERS_MAX).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?") };
    const others = unsaid === 0 ? {} : { unsaid };
    this.logger.warn(
      { client: client(), path: path.slice(0, SHOWN_PATH_MAX), code: statusNameOf(code), ...user, ...others },
      "a login failed",
    );
  }
}
