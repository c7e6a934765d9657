/**
 * Reads the answer of a gateway at `/health/ready`. The gateway runs in this process or as a
 * program.
 */
export type Readiness = {
  readonly code: number;
  readonly status: string;
  readonly missing: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
  readonly why?: string;
};

export async function readReadiness(url: string): Promise<Readiness> {
  const answer = await fetch(`${url}/health/ready`);
  return { code: answer.status, ...((await answer.json()) as Omit<Readiness, "code">) };
}

/** A condition for `until`: a program may not listen yet. */
export async function isReady(url: string): Promise<true | undefined> {
  const readiness = await readReadiness(url).catch(() => undefined);
  return readiness !== undefined && Object.keys(readiness.missing).length === 0 ? true : undefined;
}
