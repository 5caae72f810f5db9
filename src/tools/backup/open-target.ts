import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { folderTarget } from "./folder-target.ts";
import { s3Target } from "./s3-target.ts";
import type { BackupTarget } from "./target.ts";

/** The target of a command line: a folder, or `s3://bucket/prefix`. @throws ConfigError (exit 2) */
export function targetOf(text: string, env: Readonly<Record<string, string | undefined>>): BackupTarget {
  if (text.startsWith("s3://")) return s3Target(text, env);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    throw new ConfigError(
      `cannot use ${text.slice(0, text.indexOf("://"))}:// as a target: want a folder or s3://bucket/prefix`,
      EXIT_USAGE,
    );
  }
  return folderTarget(text);
}
