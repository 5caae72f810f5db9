import type { Kind } from "./kind.ts";
import type { StorageSettings } from "./settings.ts";

/** One key of the configuration. */
export interface Knob<T> {
  /** Dotted path in TOML, e.g. "http.addr". */
  readonly key: string;
  readonly kind: Kind<T>;
  readonly default: T;
  /** The default when it follows another setting; `default` is then what it comes to by default. */
  readonly derive?: (storage: StorageSettings) => T;
  /** A value to show where the default is that the key is not set. */
  readonly example?: NonNullable<T>;
  /** What the key does, and why its default is what it is. */
  readonly reason: string;
  /**
   * Set on a key that is accepted and shown but does nothing: why, and the value that asks for what the server does anyway; `isInForce`:
   * that one is shown whatever was set.
   */
  readonly inert?: { readonly why: string; readonly neutral?: T; readonly isInForce?: true };
  /** True: the value may hold a password, so it is never quoted. */
  readonly secret?: boolean;
}
