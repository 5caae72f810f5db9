/** What stands where a password was. */
const MASK = "***";

/** Providers whose value is a path. */
const FILE_PROVIDERS: readonly string[] = ["static_user_provider:file:", "watch_file_user_provider:"];
const CMD_PROVIDER = "static_user_provider:cmd:";

/**
 * A user provider string that is safe to show: paths stay, and every account on the command line becomes `name=***`.
 * Of a string in no known form only the provider's name stays, since the rest may be a password. Source: contract README 10.
 */
export function maskUserProvider(spec: string): string {
  if (FILE_PROVIDERS.some((prefix) => spec.startsWith(prefix))) return spec;
  if (spec.startsWith(CMD_PROVIDER)) {
    const entries = spec.slice(CMD_PROVIDER.length).split(",");
    return CMD_PROVIDER + entries.map(maskCredential).join(",");
  }
  const provider = /^[a-z_]+:/.exec(spec)?.[0];
  return provider === undefined ? MASK : provider + MASK;
}

/** A credential entry that is safe to show: `alice:ro=secret` → `alice:ro=***`; without a `=` nothing of it is shown. */
export function maskCredential(entry: string): string {
  const equals = entry.indexOf("=");
  return equals < 0 ? MASK : `${entry.slice(0, equals)}=${MASK}`;
}
