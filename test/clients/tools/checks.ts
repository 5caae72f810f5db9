/** Lines of checks as the runner counts them: `ok NAME`, `FAIL NAME: why`, `skip NAME: why`. */

/** Longest time of a check, milliseconds. */
const CHECK_MS_MAX = 30_000;

/** Prints how a check went. */
export async function check(name: string, work: () => Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no end after ${CHECK_MS_MAX / 1000} s`)), CHECK_MS_MAX);
  try {
    await Promise.race([work(), late.promise]);
    console.log(`ok ${name}`);
  } catch (thrown) {
    console.log(`FAIL ${name}: ${String(thrown).replace(/\s+/g, " ").slice(0, 400)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** A setting that the runner gives. */
export function env(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

/** Fails unless the text holds the part. */
export function expectIn(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`${JSON.stringify(part)} is not in ${text.slice(0, 600)}`);
}

/** The program of one of these names that is there. */
export function programOf(...names: readonly string[]): string | undefined {
  return names.map((name) => Bun.which(name)).find((path) => path !== null) ?? undefined;
}
