/** Who asks: kept for this tab's session, sent as a header of each request, and never in an address or a log. */

const KEY = "varve.authorization";
let header: string | undefined = kept();
let ask: (() => Promise<void>) | undefined;
let asking: Promise<void> | undefined;

function kept(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined; // Forbidden: signed in until the page is left.
  }
}

/** The value of `Authorization`; undefined: none is known. */
export function authorization(): string | undefined {
  return header;
}

/** The name that is signed in; undefined: none. */
export function userName(): string | undefined {
  if (header === undefined) return undefined;
  const bytes = Uint8Array.from(atob(header.slice("Basic ".length)), (letter) => letter.charCodeAt(0));
  const text = new TextDecoder().decode(bytes);
  return text.slice(0, text.indexOf(":"));
}

/** Signs in by a name and a password; whether they are right the next request shows. */
export function signIn(name: string, password: string): void {
  const bytes = new TextEncoder().encode(`${name}:${password}`);
  keepHeader(`Basic ${btoa(String.fromCharCode(...bytes))}`);
}

/** Forgets them. */
export function signOut(): void {
  keepHeader(undefined);
}

function keepHeader(value: string | undefined): void {
  header = value;
  try {
    if (value === undefined) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, value);
  } catch {
    // Forbidden: it lives as long as the page.
  }
}

/** Says how a person is asked for credentials. */
export function onAsked(how: () => Promise<void>): void {
  ask = how;
}

/** Asks for credentials, one time however many requests want them. */
export async function askForCredentials(): Promise<void> {
  asking ??= (ask?.() ?? Promise.resolve()).finally(() => (asking = undefined));
  await asking;
}
