/** The flags that say which server a tool talks to, and as whom. No password is ever an argument: arguments are seen by every user. */
import { readFileSync } from "node:fs";
import { errorText } from "../../base/error.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import type { Flag, FlagValues } from "../../config/flag.ts";
import type { ToolIo } from "../tool.ts";
import { askPassword } from "./password.ts";
import { stdinLines } from "./stdin.ts";

/** See the file header. */
export const SERVER_FLAGS: readonly Flag[] = [
  { name: "url", short: "u", value: "<url>", help: "the server (default: http://127.0.0.1:4000)" },
  { name: "db", short: "d", value: "<name>", help: "the database (default: public)" },
  { name: "user", short: "U", value: "<name>", help: "the user; the password is in VARVE_PASSWORD, or asked for" },
  { name: "password-stdin", help: "read the password from the first line of standard input" },
  { name: "ca", value: "<file>", help: "certificates, as PEM, that the server's is signed by" },
  { name: "insecure", help: "believe any certificate of the server" },
];

/** A server, and who asks it. */
export interface ServerAddress {
  /** Without a slash at its end. */
  readonly url: string;
  readonly user: string | undefined;
  readonly password: string;
  readonly database: string;
  readonly tls: { readonly ca?: string; readonly rejectUnauthorized?: boolean } | undefined;
}

const URL_DEFAULT = "http://127.0.0.1:4000";
/** The database of those who name none. */
export const DATABASE_DEFAULT = "public";
const PASSWORD_VARIABLE = "VARVE_PASSWORD";

/** The server that flags name; asks for a password where one is missing. @throws ConfigError */
export async function serverOf({ values }: FlagValues, io: ToolIo): Promise<ServerAddress> {
  const url = urlOf(values.get("url") ?? URL_DEFAULT);
  const user = values.get("user");
  const isInsecure = values.has("insecure");
  const ca = values.get("ca");
  if ((isInsecure || ca !== undefined) && !url.startsWith("https:")) {
    throw new ConfigError(`--${isInsecure ? "insecure" : "ca"} has no effect: ${url} is not https`, EXIT_USAGE);
  }
  if (isInsecure && ca !== undefined) throw new ConfigError("--ca has no effect with --insecure", EXIT_USAGE);
  const tls = isInsecure ? { rejectUnauthorized: false } : ca === undefined ? undefined : { ca: fileText(ca) };
  return {
    url,
    user,
    password: await passwordOf(user, values.has("password-stdin"), io),
    database: values.get("db") ?? DATABASE_DEFAULT,
    tls,
  };
}

function urlOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ConfigError(`cannot use --url: want http://host:port or https://host:port`, EXIT_USAGE);
  }
  // Not quoted: it may hold a password.
  if (url.password !== "" || url.username !== "") throw new ConfigError("cannot use --url: name the user by --user", EXIT_USAGE);
  if (url.search !== "" || url.hash !== "") throw new ConfigError("cannot use --url: it has a query or a fragment", EXIT_USAGE);
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

async function passwordOf(user: string | undefined, isOnStdin: boolean, io: ToolIo): Promise<string> {
  if (user === undefined) {
    if (isOnStdin) throw new ConfigError("--password-stdin has no effect without --user", EXIT_USAGE);
    return "";
  }
  if (isOnStdin) return (await stdinLines(io).line()) ?? "";
  const given = io.env[PASSWORD_VARIABLE];
  if (given !== undefined) return given;
  if (io.isTerminal.stdin && io.isTerminal.stderr) return await askPassword(`Password of ${user}: `);
  throw new ConfigError(`there is no password for ${user}: set ${PASSWORD_VARIABLE}, or use --password-stdin`, EXIT_USAGE);
}

function fileText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    const why = errorText(thrown);
    throw new ConfigError(`cannot read --ca ${path}: ${why}`, EXIT_USAGE, { cause: thrown });
  }
}
