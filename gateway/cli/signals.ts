/** Waits for SIGINT or SIGTERM; a second one of either ends the process at once. */
export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    const onSignal = () => {
      if (told) process.exit(130);
      told = true;
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  });
}
