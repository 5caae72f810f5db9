/** Texts of statements without their secrets: for lists of running statements, logs, and errors that quote the text. */

/** What the keys of secret options hold, in lower case. */
const SECRET_KEY = "secret|token|passw(?:or)?d|passphrase|credential|account_key|access_key|api_key|private_key|shared_key|sas_key";

/** Whether an option's value is secret. */
export function isSecretKey(key: string): boolean {
  return new RegExp(SECRET_KEY, "i").test(key);
}

/** Blanks and comments between a key, its `=` and the value. */
const GAP = "(?:\\s|/\\*[^*]*\\*/|--[^\\n]*\\n)*";
/** Options that hold secrets, such as those of CONNECTION; the text may end within one. */
const OPTIONS = new RegExp(`((?:${SECRET_KEY})\\w*['"\`]?${GAP}=${GAP})(?:[A-Za-z]?'(?:[^']|'')*'?|"(?:[^"]|"")*"?|[^\\s'",)]+)`, "gi");
/** What stands for a password where accounts are made, as other servers write it. */
const IDENTIFIED = /(\b(?:identified\s+by|password)\s+)(?:'(?:[^']|'')*'?|"(?:[^"]|"")*"?)/gi;
/** A name and a password in an address. */
const IN_ADDRESS = /(:\/\/)[^\s'"/@]+@/g;

/** A text with its secrets masked. */
export function maskSecrets(text: string): string {
  return text.replace(OPTIONS, "$1'***'").replace(IDENTIFIED, "$1'***'").replace(IN_ADDRESS, "$1***@");
}

/** What an error of a text quotes of it, with all up to the last thing quoted. */
const QUOTED = /'.*'/s;

/** Characters of a text that are looked at at once: about three milliseconds. */
const CHARACTERS_AT_ONCE = 128 * 1024;
/** Characters of the longest word that tells of secrets. */
const WORD_CHARACTERS = 16;

/**
 * What a syntax error says, without what it quotes where the text has secrets: the quoted word may be one. Undefined where it may say it
 * all. Yields where others may have a turn.
 */
export function* maskSyntaxError(said: string, text: string): Generator<undefined, string | undefined> {
  for (let from = 0; from < text.length; from += CHARACTERS_AT_ONCE) {
    const part = text.slice(from, from + CHARACTERS_AT_ONCE + WORD_CHARACTERS);
    if (isSecretKey(part) || /\bidentified\b/i.test(part)) return said.replace(QUOTED, "'***'");
    yield;
  }
  return undefined;
}
