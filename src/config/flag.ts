/**
 * Reads command lines against a list of flags: `--flag value`, `--flag=value`, `-f value`, `-fvalue`, `--` ends the flags.
 * Arguments are quoted in messages only while none of them can be a password.
 */
import { assert } from "../base/assert.ts";
import { nearestName } from "../base/text/nearest.ts";
import { ConfigError, EXIT_USAGE } from "./config-error.ts";

/** One flag of a command. */
export interface Flag {
  /** Long name without dashes. */
  readonly name: string;
  /** Other long names of the same flag. */
  readonly aliases?: readonly string[];
  /** One letter. */
  readonly short?: string;
  /** What its value is called in the help; absent: it takes none. */
  readonly value?: string;
  readonly help: string;
  /** True: its value may hold a password. */
  readonly secret?: boolean;
  /** True: the help does not list it. */
  readonly hidden?: boolean;
}

/** What a command line said. */
export interface FlagValues {
  /** Value of each flag that was given, by its main name; a flag that takes none has its written form (`-V` or `--version`). */
  readonly values: ReadonlyMap<string, string>;
  /** Arguments that are no flags, in order. */
  readonly words: readonly string[];
  /** True: a flag that may hold a password was given, so no other argument may be quoted. */
  readonly mayHoldSecrets: boolean;
}

interface Split {
  /** As written: `--http-addr` or `-c`. */
  readonly written: string;
  readonly flag: Flag | undefined;
  /** The value that is part of the same argument. */
  readonly attached: string | undefined;
}

/**
 * Reads `args`.
 *
 * @throws ConfigError (exit 2): unknown flag, missing value, a value where none belongs, a flag given twice
 */
export function readFlags(args: readonly string[], flags: readonly Flag[]): FlagValues {
  const values = new Map<string, string>();
  const words: string[] = [];
  let mayHoldSecrets = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    assert(arg !== undefined, `an argument is inside the list; got ${at}; want less than ${args.length}`);
    if (arg === "--") {
      words.push(...args.slice(at + 1));
      break;
    }
    if (!arg.startsWith("-") || arg === "-") {
      words.push(arg);
      continue;
    }
    const { written, flag, attached } = splitArgument(arg, flags);
    if (flag === undefined) throw unknownFlag(written, flags);
    if (values.has(flag.name)) throw new ConfigError(`--${flag.name} is given more than once`, EXIT_USAGE);
    mayHoldSecrets ||= flag.secret === true;
    if (flag.value === undefined) {
      if (attached !== undefined) throw new ConfigError(`${written} takes no value`, EXIT_USAGE);
      values.set(flag.name, written);
      continue;
    }
    const next = attached ?? args[at + 1];
    if (next === undefined || (attached === undefined && next.length > 1 && next.startsWith("-"))) {
      throw new ConfigError(`${written} needs a value: ${written} ${flag.value}`, EXIT_USAGE);
    }
    if (attached === undefined) at++;
    values.set(flag.name, next);
  }
  return { values, words, mayHoldSecrets };
}

function splitArgument(arg: string, flags: readonly Flag[]): Split {
  if (arg.startsWith("--")) {
    const equals = arg.indexOf("=");
    const written = equals < 0 ? arg : arg.slice(0, equals);
    const name = written.slice(2);
    const flag = flags.find((candidate) => candidate.name === name || candidate.aliases?.includes(name));
    return { written, flag, attached: equals < 0 ? undefined : arg.slice(equals + 1) };
  }
  const written = arg.slice(0, 2);
  const flag = flags.find((candidate) => candidate.short === arg[1]);
  const rest = arg.slice(2);
  return { written, flag, attached: rest === "" ? undefined : rest.replace(/^=/, "") };
}

function unknownFlag(written: string, flags: readonly Flag[]): ConfigError {
  const names = flags.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])]);
  const nearest = written.startsWith("--") ? nearestName(written.slice(2), names) : undefined;
  const hint = nearest === undefined ? "see --help for all flags" : `did you mean --${nearest}?`;
  return new ConfigError(`unknown flag ${written}: ${hint}`, EXIT_USAGE);
}
