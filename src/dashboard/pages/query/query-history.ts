/** Queries that were asked, newest first. Statements that may hold passwords are not kept. */
import { keep, read } from "../../page/settings.ts";

/** One of them. */
export interface PastQuery {
  readonly language: Language;
  readonly text: string;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/** What a query is written in. */
export type Language = "sql" | "promql";

const KEY = "varve.history";
const QUERIES_MAX = 200;
const LETTERS_MAX = 20_000;
const SECRET = /\b(?:password|identified\s+by|secret|access_key|token)\b/i;

/** All that are kept. */
export function pastQueries(): readonly PastQuery[] {
  const kept = read(KEY);
  if (!Array.isArray(kept)) return [];
  return (kept as readonly Partial<PastQuery>[]).filter(
    (each): each is PastQuery => typeof each.text === "string" && (each.language === "sql" || each.language === "promql"),
  );
}

/** Keeps one, unless it may hold a secret; the same text is kept once. */
export function keepQuery(language: Language, text: string): void {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > LETTERS_MAX || SECRET.test(trimmed)) return;
  const others = pastQueries().filter((each) => each.text !== trimmed || each.language !== language);
  keep(KEY, [{ language, text: trimmed, at: Date.now() }, ...others].slice(0, QUERIES_MAX));
}

/** Forgets all. */
export function forgetQueries(): void {
  keep(KEY, []);
}
