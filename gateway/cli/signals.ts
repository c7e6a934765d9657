/**
 * Waits for SIGINT or SIGTERM. A second one ends the process at once, but not one that follows
 * immediately: Ctrl-C reaches a process both from the terminal and through whoever started it.
 */
const sameMs = 1_000;

export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let toldAt: number | undefined;
    const onSignal = () => {
      if (toldAt !== undefined && performance.now() - toldAt > sameMs) process.exit(130);
      toldAt ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  });
}
