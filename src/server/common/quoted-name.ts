/** A name as SQL text that servers put together: always in quotes, so that it is itself whatever it is. */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
