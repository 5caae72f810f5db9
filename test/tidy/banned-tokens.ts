/** Tokens that have a better form here, each with what to write instead. */
import { codeOf } from "./code-text.ts";
import { isTestOrBench, type SourceFile } from "./source-tree.ts";

/** One banned token. */
interface Ban {
  readonly token: RegExp;
  readonly instead: string;
  /** True where the token is fine. */
  readonly allowed: (file: SourceFile) => boolean;
  /** Whether comments and strings count too. */
  readonly anywhere: boolean;
}

const never = (): boolean => false;
/** Runs in a browser, whose clock, console and dates are its own. */
const isOfBrowser = (file: SourceFile): boolean => file.path.startsWith("src/dashboard/");
const isRealProcessTest = (file: SourceFile): boolean => /^(?:test|bench|bin)\//.test(file.path) || file.path.endsWith(".bench.ts");
const isClock = (file: SourceFile): boolean => file.path === "src/base/clock.ts" || isRealProcessTest(file) || isOfBrowser(file);

/** Written in pieces where this file would otherwise find itself. */
const UNFINISHED = new RegExp(`\\b(?:${["FIX" + "ME", "TO" + "DO", "XX" + "X"].join("|")})\\b`);

const BANS: readonly Ban[] = [
  { token: /\bDate\.now\s*\(/, instead: "take a Clock (base/clock.ts), so that tests can hold time", allowed: isClock, anywhere: false },
  { token: /\bnew Date\(\s*\)/, instead: "take a Clock (base/clock.ts), so that tests can hold time", allowed: isClock, anywhere: false },
  { token: /\bperformance\.now\s*\(/, instead: "clock.monotonicMillis (base/clock.ts)", allowed: isClock, anywhere: false },
  { token: /\bconsole\s*\./, instead: "a Logger (base/log.ts)", allowed: isRealProcessTest, anywhere: false },
  {
    token: /\bIntl\.DateTimeFormat\b/,
    instead: "base/text/time-zone.ts, so that a zone is the same to all",
    allowed: (file) => file.path === "src/base/text/time-zone.ts" || isTestOrBench(file) || isOfBrowser(file),
    anywhere: false,
  },
  {
    token: /\bDate\.(?:parse|UTC)\s*\(|\.(?:toISOString|[gs]et(?:UTC)?(?:FullYear|Month|Date|Hours|Minutes|Seconds))\s*\(/,
    instead: "value/civil.ts, value/parse-time.ts, value/format-time.ts, which know years of any size",
    // The signature is made of the clock's time.
    allowed: (file) => file.path === "src/storage/s3/signature.ts" || isTestOrBench(file) || isOfBrowser(file),
    anywhere: false,
  },
  { token: UNFINISHED, instead: "finish it, or say in a sentence what is not covered and why", allowed: never, anywhere: true },
  { token: /\b(?:test|it|describe)\.(?:only|todo)\b/, instead: "plain test: the others would not run", allowed: never, anywhere: false },
  {
    token: /\.catch\(\s*\(\s*\w*\s*\)\s*=>\s*(?:\{\s*\}|undefined|null|void 0)\s*\)/,
    instead: "handle the failure, or name the one that is expected and let the others pass",
    allowed: never,
    anywhere: false,
  },
  {
    token: /\bMath\.random\s*\(/,
    instead: "a seeded generator: a test that failed must fail again",
    allowed: (file) => !isTestOrBench(file),
    anywhere: false,
  },
  { token: /\/work\/(?:main|shared)\b|\/tmp\/brief\b/, instead: "a path inside the repository", allowed: never, anywhere: true },
];

/** Files that name the tokens because they are the rule and its examples. */
const RULE_FILES: ReadonlySet<string> = new Set(["test/tidy/banned-tokens.ts", "test/tidy.test.ts"]);

/** One line a banned token. */
export function bannedTokens(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  for (const file of files) {
    if (RULE_FILES.has(file.path)) continue;
    const isTypeScript = file.path.endsWith(".ts");
    const lines = file.text.split("\n");
    const codeLines = isTypeScript ? codeOf(file.text).split("\n") : [];
    for (const ban of BANS) {
      if (ban.allowed(file)) continue;
      for (const [index, line] of (ban.anywhere ? lines : codeLines).entries()) {
        const token = ban.token.exec(line)?.[0];
        if (token !== undefined) found.push(`${file.path}:${index + 1}: ${token} → ${ban.instead}`);
      }
    }
  }
  return found;
}
