/** Single checks of `gw doctor`, on an installation with some changes. */
import assert from "node:assert/strict";
import { checks, lookAt } from "@tollgate/gateway/doctor";
import type { Installation } from "@tollgate/gateway/installation";

export type Session = Parameters<(typeof checks)[number][2]>[0];
export type Changes = Omit<Partial<Session>, "config"> & {
  readonly config?: Partial<Session["config"]> | undefined;
};

/** Lists the checks, each with its row in the documentation. */
export function listChecks() {
  return checks.map(([name, looksAt]) => ({ name, row: `| ${name} | ${looksAt} |` }));
}

/**
 * Returns a function that runs one check, and prints what it found, then each problem and warning
 * on a line of its own.
 */
export function makeLook(installation: Installation) {
  return async (name: string, { config, ...changes }: Changes = {}): Promise<string> => {
    const check = checks.find(([each]) => each === name);
    assert.ok(check !== undefined, name);
    const session = {
      ...installation,
      ...changes,
      json: false,
      config: { ...installation.config, ...config },
    };
    // No check changes anything, so no administration is needed.
    const { what, troubles, warnings } = await lookAt(check, session as unknown as Session);
    const said = [
      ...troubles.map((each) => `trouble ${each}`),
      ...warnings.map((each) => `warning ${each}`),
    ];
    return [what, ...said].join("\n");
  };
}
