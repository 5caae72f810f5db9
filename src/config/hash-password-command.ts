/** The command line of `varve user hash-password`. Source: contract http.md 5.2. */
import { PASSWORD_ITERATIONS_MAX, PASSWORD_SALT_BYTES_MAX } from "../base/limits.ts";
import { ConfigError, EXIT_USAGE } from "./config-error.ts";
import { type Flag, readFlags } from "./flag.ts";
import { choice, int, type Kind, text } from "./kind.ts";

/** How a password is stored. */
export type HashFormat = "pbkdf2_sha256" | "mysql_native_password" | "pg_scram_sha256";

/** What to hash and how. */
export interface HashPasswordRequest {
  /** Undefined: the first line of standard input. */
  readonly password: string | undefined;
  readonly format: HashFormat;
  /** 1..1,000,000; not used by mysql_native_password. */
  readonly iterations: number;
  /** The salt in hex, or how many random bytes to make one of. */
  readonly salt: { readonly hex: string } | { readonly byteLength: number };
}

const SALT_BYTES_DEFAULT = 16;
const ITERATIONS_DEFAULT = 4096;

const hexSalt: Kind<string> = text(`1 to ${PASSWORD_SALT_BYTES_MAX} bytes in hex`, (value) => {
  if (!/^(?:[0-9a-fA-F]{2})+$/.test(value)) return "it is not hex";
  return value.length > 2 * PASSWORD_SALT_BYTES_MAX ? "it is too long" : undefined;
});

/** The flags, in the order of the help. */
export const HASH_FLAGS: readonly Flag[] = [
  { name: "password", value: "<password>", secret: true, help: "The password (other users of the machine can see it: prefer the next)" },
  { name: "password-stdin", help: "Read the password from the first line of standard input" },
  { name: "format", value: "<format>", help: "pbkdf2_sha256 (default), pg_scram_sha256 or mysql_native_password" },
  { name: "iterations", value: "<n>", help: `1 to ${PASSWORD_ITERATIONS_MAX} (default: ${ITERATIONS_DEFAULT})` },
  { name: "salt-len", value: "<bytes>", help: `Length of the random salt (default: ${SALT_BYTES_DEFAULT})` },
  { name: "salt-hex", value: "<hex>", help: "Use this salt instead of a random one" },
  { name: "help", short: "h", help: "Print this text" },
];

/**
 * Reads what follows `user hash-password`; "help" when help was asked for.
 *
 * @throws ConfigError (exit 2)
 */
export function readHashPasswordCommand(args: readonly string[]): HashPasswordRequest | "help" {
  const { values, words } = readFlags(args, HASH_FLAGS);
  if (values.has("help")) return "help";
  if (words.length > 0) throw new ConfigError("`user hash-password` takes no other arguments; quote a password with blanks", EXIT_USAGE);
  const password = values.get("password");
  if ((password !== undefined) === values.has("password-stdin")) {
    throw new ConfigError("give either --password or --password-stdin", EXIT_USAGE);
  }
  if (password === "") throw new ConfigError("password must not be empty", EXIT_USAGE);
  const format = read("format", choice("pbkdf2_sha256", "mysql_native_password", "pg_scram_sha256"), values) ?? "pbkdf2_sha256";
  const unusable = ["iterations", "salt-len", "salt-hex"].find((name) => values.has(name));
  if (format === "mysql_native_password" && unusable !== undefined) {
    throw new ConfigError(`--${unusable} has no meaning for mysql_native_password, which has no salt and no iterations`, EXIT_USAGE);
  }
  if (values.has("salt-len") && values.has("salt-hex")) throw new ConfigError("give either --salt-len or --salt-hex", EXIT_USAGE);
  const hex = read("salt-hex", hexSalt, values);
  return {
    password,
    format,
    iterations: read("iterations", int(1, PASSWORD_ITERATIONS_MAX), values) ?? ITERATIONS_DEFAULT,
    salt:
      hex === undefined
        ? { byteLength: read("salt-len", int(1, PASSWORD_SALT_BYTES_MAX), values) ?? SALT_BYTES_DEFAULT }
        : { hex: hex.toLowerCase() },
  };
}

function read<T>(name: string, kind: Kind<T>, values: ReadonlyMap<string, string>): T | undefined {
  const value = values.get(name);
  if (value === undefined) return undefined;
  const result = kind.fromText(value);
  if (!result.ok) throw new ConfigError(`cannot use --${name}: ${result.reason}; want ${kind.want}`, EXIT_USAGE);
  return result.value;
}
