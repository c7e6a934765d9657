/** Single checks of `gw doctor`, on an installation with some changes. */
import assert from "node:assert/strict";
import { checks, lookAt } from "@tollgate/gateway/doctor";
import type { Installation } from "@tollgate/gateway/installation";

export type Session = Parameters<(typeof checks)[number][2]>[0];
export type Changes = Omit<Partial<Session>, "config"> & {
  readonly config?: Partial<Session["config"]> | undefined;
};

/** With the row that the documentation has of each. */
export function listChecks() {
  return checks.map(([name, looksAt]) => ({ name, row: `| ${name} | ${looksAt} |` }));
}

/** What one check says: what it found, then each trouble and warning on a line of its own. */
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
    // No check changes anything, so there is nothing to administer.
    const { what, troubles, warnings } = await lookAt(check, session as unknown as Session);
    const said = [
      ...troubles.map((each) => `trouble ${each}`),
      ...warnings.map((each) => `warning ${each}`),
    ];
    return [what, ...said].join("\n");
  };
}
