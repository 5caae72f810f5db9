/** Which command a command line asks for. Source: contract http.md 7.1. */
import { nearestName } from "../base/text/nearest.ts";
import { ConfigError, EXIT_USAGE } from "./config-error.ts";
import { readFlags } from "./flag.ts";
import { type HashPasswordRequest, readHashPasswordCommand } from "./hash-password-command.ts";
import { type HelpLine, hashPasswordHelp, roleHelp, startHelp } from "./help.ts";
import type { RawSetting } from "./layer.ts";
import type { Role } from "./role.ts";
import { FLAGS_OF, type StartFlag } from "./start-flags.ts";

/** What the command line asks for. */
export type Command =
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "version"; readonly isLong: boolean }
  | { readonly kind: "hash-password"; readonly request: HashPasswordRequest }
  | StartCommand;

/** Start a server. */
export interface StartCommand {
  readonly kind: "start";
  readonly role: Role;
  readonly configFile: string | undefined;
  readonly envPrefix: string | undefined;
  /** What flags set, by key. */
  readonly values: ReadonlyMap<string, RawSetting>;
  readonly warnings: readonly string[];
}

/** Parts of a cluster, which have commands of their own. */
const PARTS = ["frontend", "datanode"] as const;
/** Commands of the contract that are not here, and why. */
const ABSENT: Readonly<Record<string, string>> = {
  metasrv:
    "there is no metasrv: the machines of a cluster agree by NATS, whose servers `--metasrv-addrs` or `cluster.servers` name, such as " +
    "nats://127.0.0.1:4222",
  flownode: "`flownode` is not available in this version",
  cli: "`cli` is not available in this version; see --help for the tools",
};

/**
 * Reads a command line without the program's name.
 *
 * @param tools the commands beside the server, for the help and for words that come near
 * @throws ConfigError (exit 2)
 */
export function readCommandLine(argv: readonly string[], tools: readonly HelpLine[] = []): Command {
  if (argv[0] === "user") return readUserCommand(argv.slice(1));
  const part = PARTS.find((name) => name === argv[0]);
  const role = part ?? "standalone";
  const flags = FLAGS_OF[role];
  const absent = ABSENT[argv[0] ?? ""];
  if (absent !== undefined) throw new ConfigError(absent, EXIT_USAGE); // Before its flags, which are not ours.
  const { values, words, mayHoldSecrets } = readFlags(argv, flags);
  if (values.has("help")) return { kind: "help", text: part === undefined ? startHelp(tools) : roleHelp(part) };
  const version = values.get("version");
  if (version !== undefined) return { kind: "version", isLong: version === "--version" };
  checkWords(words, role, mayHoldSecrets, tools);
  const settings = new Map<string, RawSetting>();
  const warnings: string[] = [];
  for (const flag of flags) {
    const value = values.get(flag.name);
    if (value === undefined) continue;
    const source = `--${flag.name}`;
    if (flag.inert !== undefined) warnings.push(`${source} has no effect: ${flag.inert}`);
    if (flag.server !== undefined) settings.set(`${flag.server}.enable`, { source, form: "text", value: "true" });
    const text = flag.value === undefined ? "true" : `${value}${flag.unit ?? ""}`;
    if (flag.key !== undefined) settings.set(flag.key, { source, form: "text", value: text });
  }
  warnings.push(...setTls(values, flags, settings));
  const envPrefix = values.get("env-prefix");
  if (envPrefix !== undefined && !/^\w+$/.test(envPrefix)) {
    throw new ConfigError("cannot use --env-prefix: want letters, digits and underscores", EXIT_USAGE);
  }
  return { kind: "start", role, configFile: values.get("config-file"), envPrefix, values: settings, warnings };
}

/**
 * Sets the keys of TLS for each server whose address is given too, where there is something to encrypt with (contract http.md 7.1). What is
 * said in vain is told.
 */
function setTls(values: ReadonlyMap<string, string>, all: readonly StartFlag[], settings: Map<string, RawSetting>): readonly string[] {
  const flags = all.filter(({ name, tls }) => tls !== undefined && values.has(name));
  const [first] = flags;
  if (first === undefined || (values.get("tls-mode") ?? "disable") === "disable") return [];
  const servers = all.flatMap(({ name, server }) => (server !== undefined && values.has(name) ? [server] : []));
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

/** Accepts nothing, or a role's `start`. A stray word behind a password may be its second half and is not quoted. */
function checkWords(words: readonly string[], role: Role, mayHoldSecrets: boolean, tools: readonly HelpLine[]): void {
  const [first, second, ...more] = words;
  if (first === undefined) return;
  const quoted = (word: string): string => (mayHoldSecrets ? "" : ` "${word}"`);
  if (first !== role) {
    const command = [...PARTS, ...tools.map(({ name }) => name)].find((name) => name === first);
    if (command !== undefined)
      throw new ConfigError(`unexpected argument${quoted(first)}: its name comes first, \`varve ${command} …\``, EXIT_USAGE);
    const absent = ABSENT[first];
    if (absent !== undefined) throw new ConfigError(absent, EXIT_USAGE);
    const nearest = nearestName(first, ["standalone", "user", ...PARTS, ...tools.map(({ name }) => name)]);
    const hint = nearest === undefined ? "see --help" : `did you mean ${nearest}?`;
    throw new ConfigError(`unexpected argument${quoted(first)}: ${hint}`, EXIT_USAGE);
  }
  if (second !== "start") throw new ConfigError(`\`${role}\` has one command: varve ${role} start`, EXIT_USAGE);
  if (more[0] !== undefined) {
    throw new ConfigError(`unexpected argument${quoted(more[0])} after \`${role} start\`: see --help`, EXIT_USAGE);
  }
}
