/** What the page remembers on this machine: theme, zone, database, history. Nothing secret: credentials live in the tab's session alone. */
import type { Zone } from "./format.ts";

/** Colours: as the system has them, or one of both. */
export type Theme = "system" | "light" | "dark";

/** All that is remembered. */
export interface Settings {
  theme: Theme;
  zone: Zone;
  database: string;
}

const KEY = "varve.settings";
const DEFAULTS: Settings = { theme: "system", zone: "UTC", database: "public" };
const listeners = new Set<() => void>();

/** The settings in force; change them by `change`. */
export const settings: Settings = { ...DEFAULTS, ...(read(KEY) as Partial<Settings> | undefined) };

/** Changes settings, keeps them, tells whoever listens. */
export function change(patch: Partial<Settings>): void {
  Object.assign(settings, patch);
  keep(KEY, settings);
  applyTheme();
  for (const listener of listeners) listener();
}

/** Calls `listener` after each change. Returns what ends that. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Shows the theme in force. */
export function applyTheme(): void {
  if (settings.theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = settings.theme;
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  return settings.theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : settings.theme === "dark";
}

/** Reads what was kept under a name; undefined where nothing (readable) is. */
export function read(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Storage is forbidden or was written by something else: the page works without.
  }
}

/** Keeps a value; without storage it lives as long as the page. */
export function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Full or forbidden: what is in memory counts.
  }
}
