/** Asks for a password on the terminal, without showing it. */

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const BACKSPACES: ReadonlySet<string> = new Set(["\b", "\u007f"]);

/** What typed characters make of a password: the next one, or that it is done. */
export function typed(password: string, key: string): { readonly password: string; readonly ended: "no" | "entered" | "left" } {
  if (key === "\r" || key === "\n") return { password, ended: "entered" };
  if (key === CTRL_C || key === CTRL_D) return { password, ended: "left" };
  if (key === CTRL_U) return { password: "", ended: "no" };
  if (BACKSPACES.has(key)) return { password: [...password].slice(0, -1).join(""), ended: "no" };
  return { password: key < " " ? password : password + key, ended: "no" };
}

/** Waits for a line on the terminal. Ctrl-C ends the process. */
export async function askPassword(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(prompt);
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.resume();
  try {
    return await new Promise<string>((resolve) => {
      let password = "";
      const onData = (text: string): void => {
        for (const key of text) {
          const next = typed(password, key);
          password = next.password;
          if (next.ended === "no") continue;
          stdin.off("data", onData);
          stderr.write("\n");
          if (next.ended === "left") process.exit(130);
          resolve(password);
          return;
        }
      };
      stdin.on("data", onData);
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
}
