/** What an account may do. */
export type AccessMode = "rw" | "ro" | "wo";

/** Who is asking. */
export interface User {
  readonly name: string;
  readonly mode: AccessMode;
}

/** The user of every request while no user provider is set. */
export const DEFAULT_USER: User = { name: "greptime", mode: "rw" };

/** The two classes of action that permissions know. */
export type Action = "read" | "write";

/** What a challenge of SCRAM-SHA-256 needs of an account (RFC 5802). One that does not exist has one as well, which nothing answers. */
export interface ScramSecret {
  readonly iterations: number;
  readonly salt: Uint8Array;
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
  /** Absent: there is no such account. */
  readonly user: User | undefined;
}

/** Checks names and passwords. */
export interface UserProvider {
  /**
   * The account, if name and password match.
   *
   * @throws DbError UserPasswordMismatch (unknown name or wrong password), InvalidArguments (blank name or password)
   */
  authenticate(name: string, password: string): Promise<User>;
  /** The provider string with every password masked: `static_user_provider:cmd:alice=***`. */
  describe(): string;
  close(): void;
}

/** Checks accounts by challenges of the wire protocols as well, which send no password. */
export interface AccountProvider extends UserProvider {
  /** Reads its file again; false: it cannot be used, and the accounts stay as they are, which the log says. True where there is no file. */
  reload(): Promise<boolean>;
  /** Whether all accounts can be checked by SCRAM: their passwords are stored plain or for it. */
  readonly offersScram: boolean;
  /**
   * What a challenge for a name needs: the same each time, after the same work, whether there is such an account or not.
   *
   * @throws DbError RateLimited when too many logins wait
   */
  scramSecret(name: string): Promise<ScramSecret>;
  /**
   * The account, if `answer` is PostgreSQL's MD5 of name, password and salt: `md5` and 32 hex digits.
   *
   * @throws DbError UserPasswordMismatch (also for a password that is not stored plain)
   */
  authenticateMd5(name: string, salt: Uint8Array, answer: string): Promise<User>;
  /** Whether all accounts can be checked by mysql_native_password: their passwords are stored plain or for it. */
  readonly offersMysqlNative: boolean;
  /** Whether all accounts can be checked by caching_sha2_password, which comes down to the password: none is stored for the other one. */
  readonly offersMysqlSha2: boolean;
  /**
   * The account, if `proof` is that of mysql_native_password for the scramble.
   *
   * @throws DbError UserPasswordMismatch
   */
  authenticateMysqlNative(name: string, scramble: Uint8Array, proof: Uint8Array): Promise<User>;
  /** The account, if `proof` is that of caching_sha2_password and its password is stored plain; undefined does not say that it is wrong. */
  mysqlSha2User(name: string, scramble: Uint8Array, proof: Uint8Array): Promise<User | undefined>;
}
