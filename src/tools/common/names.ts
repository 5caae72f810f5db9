/** Names and texts as SQL writes them. */

/** A name in quotes, whatever it holds. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text in quotes. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
