/** Says what is going on. Nothing is said unless a person looks: results are for files, progress is for terminals. */
export type Progress = (text: string) => void;

/** Progress lines on stderr when that is a terminal, else nowhere. */
export function terminalProgress(): Progress {
  if (!process.stderr.isTTY) return () => undefined;
  const started = performance.now();
  return (text) => {
    process.stderr.write(`[${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s] ${text}\n`);
  };
}
