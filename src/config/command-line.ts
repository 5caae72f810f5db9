/** Which command a command line asks for. Source: contract http.md 7.1. */
import { nearestName } from "../base/text/nearest.ts";
import { ConfigError, EXIT_USAGE } from "./config-error.ts";
import { readFlags } from "./flag.ts";
import { type HashPasswordRequest, readHashPasswordCommand } from "./hash-password-command.ts";
import { type HelpLine, hashPasswordHelp, startHelp } from "./help.ts";
import type { RawSetting } from "./layer.ts";
import { START_FLAGS } from "./start-flags.ts";

/** What the command line asks for. */
export type Command =
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "version"; readonly isLong: boolean }
  | { readonly kind: "hash-password"; readonly request: HashPasswordRequest }
  | StartCommand;

/** Start a server. */
export interface StartCommand {
  readonly kind: "start";
  readonly configFile: string | undefined;
  readonly envPrefix: string | undefined;
  /** What flags set, by key. */
  readonly values: ReadonlyMap<string, RawSetting>;
  readonly warnings: readonly string[];
}

/** Commands of the contract that need more than one machine. */
const DISTRIBUTED: readonly string[] = ["frontend", "datanode", "metasrv", "flownode", "cli"];

/**
 * Reads a command line without the program's name.
 *
 * @param tools the commands beside the server, for the help and for words that come near
 * @throws ConfigError (exit 2)
 */
export function readCommandLine(argv: readonly string[], tools: readonly HelpLine[] = []): Command {
  if (argv[0] === "user") return readUserCommand(argv.slice(1));
  const { values, words, mayHoldSecrets } = readFlags(argv, START_FLAGS);
  if (values.has("help")) return { kind: "help", text: startHelp(tools) };
  const version = values.get("version");
  if (version !== undefined) return { kind: "version", isLong: version === "--version" };
  checkWords(words, mayHoldSecrets, tools);
  const settings = new Map<string, RawSetting>();
  const warnings: string[] = [];
  for (const flag of START_FLAGS) {
    const value = values.get(flag.name);
    if (value === undefined) continue;
    const source = `--${flag.name}`;
    if (flag.inert !== undefined) warnings.push(`${source} has no effect: ${flag.inert}`);
    if (flag.server !== undefined) settings.set(`${flag.server}.enable`, { source, form: "text", value: "true" });
    if (flag.key !== undefined) settings.set(flag.key, { source, form: "text", value: flag.value === undefined ? "true" : value });
  }
  warnings.push(...setTls(values, settings));
  const envPrefix = values.get("env-prefix");
  if (envPrefix !== undefined && !/^\w+$/.test(envPrefix)) {
    throw new ConfigError("cannot use --env-prefix: want letters, digits and underscores", EXIT_USAGE);
  }
  return { kind: "start", configFile: values.get("config-file"), envPrefix, values: settings, warnings };
}

/**
 * Sets the keys of TLS for each server whose address is given too, where there is something to encrypt with (contract http.md 7.1). What is
 * said in vain is told.
 */
function setTls(values: ReadonlyMap<string, string>, settings: Map<string, RawSetting>): readonly string[] {
  const flags = START_FLAGS.filter(({ name, tls }) => tls !== undefined && values.has(name));
  const [first] = flags;
  if (first === undefined || (values.get("tls-mode") ?? "disable") === "disable") return [];
  const servers = START_FLAGS.flatMap(({ name, server }) => (server !== undefined && values.has(name) ? [server] : []));
  const isWhole = (values.get("tls-cert-path") ?? "") !== "" && (values.get("tls-key-path") ?? "") !== "";
  if (servers.length === 0)
    return [`--${first.name} has no effect: it is for servers whose address is given by a flag, such as --postgres-addr`];
  if (!isWhole) return [`--${first.name} has no effect: TLS needs --tls-cert-path and --tls-key-path`];
  for (const server of servers) {
    for (const { name, tls, value } of flags) {
      settings.set(`${server}.${tls}`, { source: `--${name}`, form: "text", value: value === undefined ? "true" : values.get(name) });
    }
  }
  return [];
}

function readUserCommand(args: readonly string[]): Command {
  if (args[0] !== "hash-password") {
    if (args.includes("--help") || args.includes("-h")) return { kind: "help", text: hashPasswordHelp() };
    throw new ConfigError("`varve user` has one command: varve user hash-password", EXIT_USAGE);
  }
  const request = readHashPasswordCommand(args.slice(1));
  return request === "help" ? { kind: "help", text: hashPasswordHelp() } : { kind: "hash-password", request };
}

/** Accepts nothing, or `standalone start`. A stray word behind a password may be its second half and is not quoted. */
function checkWords(words: readonly string[], mayHoldSecrets: boolean, tools: readonly HelpLine[]): void {
  const [first, second, ...more] = words;
  if (first === undefined) return;
  if (first !== "standalone") {
    if (DISTRIBUTED.includes(first)) {
      throw new ConfigError(`\`${first}\` is not available in this version; use \`varve standalone start\``, EXIT_USAGE);
    }
    const nearest = nearestName(first, ["standalone", "user", ...tools.map(({ name }) => name)]);
    const hint = nearest === undefined ? "see --help" : `did you mean ${nearest}?`;
    throw new ConfigError(`unexpected argument${mayHoldSecrets ? "" : ` "${first}"`}: ${hint}`, EXIT_USAGE);
  }
  if (second !== "start") throw new ConfigError("`standalone` has one command: varve standalone start", EXIT_USAGE);
  if (more[0] !== undefined) {
    throw new ConfigError(`unexpected argument${mayHoldSecrets ? "" : ` "${more[0]}"`} after \`standalone start\`: see --help`, EXIT_USAGE);
  }
}
