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
