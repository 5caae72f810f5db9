/** User providers from their string. Source: contract http.md 5.1; specification 5.1. */
import type { Logger } from "../../base/log.ts";
import { maskCredential, maskUserProvider } from "../../base/text/mask-user-provider.ts";
import { AccountSet } from "./account-set.ts";
import { type Account, parseCredentialLine } from "./credential-line.ts";
import type { AccountProvider } from "./user.ts";
import { invalidProvider } from "./user-file.ts";
import { AccountFile } from "./account-file.ts";

const STATIC = "static_user_provider";
const WATCH = "watch_file_user_provider";

/**
 * Makes the provider that `spec` describes: `static_user_provider:cmd:<user>=<password>[,...]`, `static_user_provider:file:<path>` or
 * `watch_file_user_provider:<path>`. Files are read before it returns.
 *
 * @throws DbError InvalidArguments with the contract's text; passwords in it are masked
 */
export function createUserProvider(spec: string, log: Logger): AccountProvider {
  const [name, value] = splitOnce(spec);
  if (value === undefined) throw invalidProvider(maskLoneWord(spec), "UserProviderOption must be in format `<option>:<value>`");
  if (name === WATCH) return AccountFile.open(value, log);
  if (name !== STATIC) throw invalidProvider(maskWord(name), "Invalid UserProviderOption");
  const [mode, content] = splitOnce(value);
  if (content === undefined) throw invalidProvider(maskLoneWord(value), "StaticUserProviderOption must be in format `<option>:<value>`");
  switch (mode) {
    case "file":
      return AccountFile.open(content, log, { isWatched: false });
    case "cmd":
      return fixedProvider(content.split(",").map(parseEntry), spec);
    default:
      throw invalidProvider(maskWord(mode), "StaticUserProviderOption must be in format `file:<path>` or `cmd:<values>`");
  }
}

function fixedProvider(accounts: readonly Account[], spec: string): AccountProvider {
  const set = new AccountSet(accounts);
  return {
    authenticate: (name, password) => set.authenticate(name, password),
    offersScram: set.offersScram,
    scramSecret: (name) => set.scramSecret(name),
    authenticateMd5: async (name, salt, answer) => set.authenticateMd5(name, salt, answer),
    offersMysqlNative: set.offersMysqlNative,
    offersMysqlSha2: set.offersMysqlSha2,
    authenticateMysqlNative: async (name, scramble, proof) => set.authenticateMysqlNative(name, scramble, proof),
    mysqlSha2User: async (name, scramble, proof) => set.mysqlSha2User(name, scramble, proof),
    describe: () => maskUserProvider(spec),
    reload: async () => true,
    close: () => undefined,
  };
}

function parseEntry(entry: string): Account {
  const account = parseCredentialLine(entry);
  if (account === undefined) {
    throw invalidProvider(maskCredential(entry), "StaticUserProviderOption cmd values must be in format `user=pwd[,user=pwd]`");
  }
  return account;
}

/** Splits at the first colon; the second half is undefined when there is none. */
function splitOnce(text: string): readonly [string, string | undefined] {
  const colon = text.indexOf(":");
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}

/** A word where an option should stand, safe to show: what is before a `=`, or the whole when there is none. */
function maskWord(word: string): string {
  return word.includes("=") ? maskCredential(word) : word;
}

/** A word without any option before it may be a bare password: only names of options are shown. */
function maskLoneWord(word: string): string {
  return word.includes("=") || ![STATIC, WATCH, "file", "cmd"].includes(word) ? maskCredential(word) : word;
}
